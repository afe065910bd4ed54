import { forCompany } from '../core/companies/clock.ts'
import type { FullApp } from '../core/full-app.ts'
import type { Operate, Operation } from '../core/operate.ts'
import { type ErrorItem, Problem } from '../lib/problems.ts'
import { requireScope } from './auth.ts'
import { canonical } from './body.ts'
import { makeCall, readerOf } from './call.ts'
import { createIdempotency, type Idempotency, isStorable } from './idempotency.ts'
import type { Call, Route } from './route.ts'
import { ROUTES } from './routes/all.ts'

/** All operations, for pages that name them. */
export const OPERATIONS: Operation[] = ROUTES.map(({ operationId, method, path }) => ({
  operationId,
  method,
  path,
}))

/** Names what people do in pages, where API clients name a version. */
const PAGES = 'pages'

/**
 * Carries out operations of the API for a person instead of an API key: with the same validation,
 * commands and scopes. A form that is sent twice acts once.
 */
export function createOperate(anyApp: FullApp): Operate {
  const operations = new Map(
    ROUTES.map((route) => [route.operationId, { route, read: readerOf(anyApp, route) }]),
  )
  return async (operationId, { company, scopes, author }, given = {}) => {
    const { params = {}, query = {}, body, once } = given
    const { route, read } = operations.get(operationId)!
    const session = { company, scopes: new Set(scopes), keyId: company.id, author }
    requireScope(session, route.scope)
    const input = read({ query, body: body && { value: body, faults: [] }, session })
    const app = forCompany(anyApp, company)
    const path = pathOf(route, params)
    const fingerprint = app.vault.fingerprint([route.method, path, PAGES, canonical(input.sent)])
    const guard = { companyId: company.id, key: `${PAGES}:${once}`, fingerprint }
    const idempotency = once ? createIdempotency(app, guard, rendered) : null
    const asked = { route, path, params, company, author, scopes: session.scopes }
    const call = makeCall(app, asked, input, idempotency)
    try {
      const data = idempotency ? await actOnce(route, call, idempotency) : await route.handle(call)
      return { data: data as never, next: nextOf(call.headers.Link) }
    } finally {
      call.longPage.end()
    }
  }
}

const rendered = (data: unknown) => ({ status: 200, body: JSON.stringify({ data }) })

/** What the form has done, now or when it was sent before. */
async function actOnce(route: Route, call: Call, idempotency: Idempotency): Promise<unknown> {
  const { body } = await idempotency.run(async () => {
    try {
      const data = await route.handle(call)
      const made = idempotency.stored()
      return { ...(made ?? rendered(data)), headers: {}, stored: made !== null }
    } catch (error) {
      if (!isStorable(error)) throw error
      const { status, items } = error
      return { status, body: JSON.stringify({ items }), headers: {}, stored: false }
    }
  })
  const answer = JSON.parse(body) as { data?: unknown; items?: [ErrorItem, ...ErrorItem[]] }
  if (answer.items) throw new Problem(answer.items)
  return answer.data
}

const pathOf = ({ path }: Route, params: Record<string, string>): string =>
  path.replaceAll(/\{(\w+)\}/g, (_whole, name: string) => encodeURIComponent(params[name] ?? ''))

/** The cursor of the next page of a list, from the header that API clients get. */
function nextOf(link: string | undefined): string | null {
  const url = /^<([^>]+)>/.exec(link ?? '')?.[1]
  return url ? new URL(url).searchParams.get('after') : null
}
