import { forCompany } from '../core/companies/clock.ts'
import type { FullApp } from '../core/full-app.ts'
import type { ActOnce, Operate, Operation } from '../core/operate.ts'
import { type ErrorItem, Problem } from '../lib/problems.ts'
import { requireScope } from './auth.ts'
import { canonical } from './body.ts'
import { makeCall, readerOf } from './call.ts'
import { createIdempotency, type Idempotency, isStorable, REPLAYED } from './idempotency.ts'
import type { Result, Route } from './route.ts'
import { ROUTES } from './routes/all.ts'

/** All operations, for pages that name them. */
export const OPERATIONS: Operation[] = ROUTES.map(({ operationId, method, path, changes }) => ({
  operationId,
  method,
  path,
  changes,
}))

/** Names who asks, where API clients name a version. */
type Via = 'pages' | 'mcp'

/**
 * Carries out operations of the API for people and agents: with the same validation, commands and
 * scopes. What is sent twice acts once.
 */
export function createOperate(anyApp: FullApp, via: Via): Operate {
  const operations = new Map(
    ROUTES.map((route) => [route.operationId, { route, read: readerOf(anyApp, route) }]),
  )
  return async (operationId, { app: placed, company, scopes, author }, given = {}) => {
    const { params = {}, query = {}, body, once } = given
    const { route, read } = operations.get(operationId)!
    const session = {
      app: placed as FullApp,
      company,
      scopes: new Set(scopes),
      keyId: company.id,
      author,
    }
    requireScope(session, route.scope)
    const input = read({ query, body: body && { value: body, faults: [] }, session })
    const app = forCompany(placed as FullApp, company)
    const path = pathOf(route, params)
    const fingerprint = app.vault.fingerprint([route.method, path, via, canonical(input.sent)])
    const guard = { companyId: company.id, key: `${via}:${once}`, fingerprint }
    const idempotency = once ? createIdempotency(app, guard, rendered) : null
    const asked = { route, path, params, company, author, scopes: session.scopes }
    const call = makeCall(app, asked, input, idempotency)
    const act = () => route.handle(call)
    if (idempotency) {
      const { data, isRepeated } = await runOnce(act, idempotency)
      return { data: data as never, next: null, isRepeated }
    }
    const { data, next = null } = await act()
    return { data: data as never, next: next === null ? null : String(next), isRepeated: false }
  }
}

const rendered = (data: unknown) => ({
  status: 200,
  body: JSON.stringify({ data }),
  warnings: null,
})

/** Does once, for each key, what is no operation of the API. */
export function createActOnce(via: Via): ActOnce {
  return async (placed, company, { name, input, once }, act) => {
    const app = forCompany(placed as FullApp, company)
    const fingerprint = app.vault.fingerprint([name, via, canonical(input)])
    const guard = { companyId: company.id, key: `${via}:${once}`, fingerprint }
    const asResult = async () => ({ data: await act() })
    return (await runOnce(asResult, createIdempotency(app, guard, rendered))).data as never
  }
}

/** What was done, now or when it was asked for before. */
async function runOnce(act: () => Promise<Result>, idempotency: Idempotency) {
  const { body, headers } = await idempotency.run(async () => {
    try {
      return { ...(await idempotency.answerTo(await act())), headers: {} }
    } catch (error) {
      if (!isStorable(error)) throw error
      const { status, items } = error
      const body = JSON.stringify({ items })
      return { status, body, warnings: null, headers: {}, stored: false }
    }
  })
  const answer = JSON.parse(body) as { data?: unknown; items?: [ErrorItem, ...ErrorItem[]] }
  if (answer.items) throw new Problem(answer.items)
  return { data: answer.data, isRepeated: REPLAYED in headers }
}

const pathOf = ({ path }: Route, params: Record<string, string>): string =>
  path.replaceAll(/\{(\w+)\}/g, (_whole, name: string) => encodeURIComponent(params[name] ?? ''))
