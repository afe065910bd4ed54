import { listEntries } from '../core/activity/store.ts'
import { forCompany, withCompanyClock } from '../core/companies/clock.ts'
import type { Scope } from '../core/companies/rules.ts'
import type { FullApp } from '../core/full-app.ts'
import type { Actor } from '../core/operate.ts'
import { listUsedOperations } from '../core/request-log/store.ts'
import {
  fieldChanges,
  maskRecord,
  type UsedChange,
  type VersionChange,
} from '../core/version-changes/rules.ts'
import { Problem, problem } from '../lib/problems.ts'
import { takeTurn } from '../lib/turns.ts'
import { changesBetween, findVersion, type Version } from '../versions/history.ts'
import type { Schema } from '../versions/shapes.ts'
import { makeCall } from './call.ts'
import { problemsOf } from './openapi/answers.ts'
import { createComponents } from './openapi/components.ts'
import { NAMES } from './openapi/names.ts'
import { EVENT_COMPONENTS } from './openapi/webhooks.ts'
import type { Route } from './route.ts'
import type { Reader } from './samples.ts'
import { serializerOf } from './serializer.ts'

type Routes = readonly Route[]

const compared = new Map<string, VersionChange[]>()

/** Compares two versions by what their shapes say, operation by operation. */
export function compareVersions(routes: Routes, before: string, after: string): VersionChange[] {
  const [from, to] = [findVersion(before), findVersion(after)]
  if (!from || !to || from === to) return []
  const known = compared.get(`${before} ${after}`)
  if (known) return known
  const changes = changesOf(routes, from, to)
  compared.set(`${before} ${after}`, changes)
  return changes
}

function changesOf(routes: Routes, from: Version, to: Version): VersionChange[] {
  const [before, after] = [schemasOf(routes, from), schemasOf(routes, to)]
  const history = changesBetween(from.name, to.name)
  const changes = routes.map((route): VersionChange => {
    const frame = ({ shapes }: Version) => shapes.success(route.status, {})
    const errors = ({ shapes }: Version) => [shapes.failure(problemsOf(route)), shapes.components]
    const hasOtherFrame = !isSame(frame(from), frame(to))
    const hasOtherErrors = !isSame(errors(from), errors(to))
    const values = valuesOf(before.answers.get(route)!, before.named, after.named)
    return {
      operationId: route.operationId,
      method: route.method,
      path: route.path,
      changes: history.filter(({ in: seen }) => {
        if (seen === 'frame') return hasOtherFrame
        if (seen === 'errors') return hasOtherErrors
        return values.includes(seen.before) || values.includes(seen.after)
      }),
    }
  })
  return changes.filter((change) => change.changes.length > 0)
}

const isSame = (one: unknown, other: unknown): boolean =>
  JSON.stringify(one) === JSON.stringify(other)

type Named = Record<string, Schema>

/** What each operation answers in a version, and the named schemas that answers refer to. */
function schemasOf(routes: Routes, { shapes }: Version) {
  const components = createComponents(NAMES, shapes.change)
  const answers = new Map(routes.map((route) => [route, components.show(route.data)]))
  return { answers, named: components.used() as Named }
}

/** The values of lists of values that differ, of all named schemas that an answer refers to. */
function valuesOf(answer: Schema, before: Named, after: Named): string[] {
  const names = new Set<string>()
  const collect = (schema: Schema | undefined) => {
    for (const [, name] of JSON.stringify(schema ?? {}).matchAll(
      /"#\/components\/schemas\/(\w+)"/g,
    )) {
      if (names.has(name!)) continue
      names.add(name!)
      collect(before[name!])
    }
  }
  collect(answer)
  return [...names].flatMap((name) => {
    const [was, is] = [before[name]?.enum, after[name]?.enum] as (string[] | undefined)[]
    if (!was || !is) return []
    return was.flatMap((value, i) => (value === is[i] ? [] : [String(value), String(is[i])]))
  })
}

const LATELY_MS = 7 * 24 * 3600 * 1000

/** Since when the use of operations counts. */
export const usedSince = ({ systemClock }: FullApp): Date =>
  new Date(systemClock.now().getTime() - LATELY_MS)

/**
 * Shows each operation that a company has used lately in two versions, with a recent record of its
 * own. It reads one record for each operation of the API at most, one after another.
 */
export async function diffVersions(
  routes: Routes,
  actor: Actor,
  before: string,
  after: string,
): Promise<UsedChange[]> {
  const placed = actor.app as FullApp
  const app = withCompanyClock(forCompany(placed, actor.company), actor.company)
  const used = await listUsedOperations(app.db, actor.company.id, usedSince(app))
  const compared = new Map(
    compareVersions(routes, before, after).map((change) => [change.operationId, change]),
  )
  const values = changesBetween(before, after).flatMap(({ in: seen }) =>
    typeof seen === 'object' ? [seen.after] : [],
  )
  const reader = createReader(app, actor, routes, values)
  const [from, to] = [findVersion(before)!, findVersion(after)!]
  const diffs: UsedChange[] = []
  for (const { operation, lastAt } of used) {
    const route = routes.find(({ operationId }) => operationId === operation)
    // The log may have an operation of a former release.
    if (!route) continue
    await takeTurn(actor.company.id)
    const { operationId, method, path } = route
    const change = compared.get(operation) ?? { operationId, method, path, changes: [] }
    const scope = route.scope.replace(':write', ':read') as Scope
    const mayRead = actor.scopes.includes(scope)
    const data = mayRead && route.sample ? await route.sample(reader, operationId) : null
    const missing = mayRead
      ? 'The company has no recent record of this operation.'
      : `To show a record, a key needs the scope ${scope}.`
    diffs.push({
      ...change,
      lastUsedAt: lastAt,
      answer:
        data === null ? null : answerIn(route, from, to, change, maskRecord(data, wordsOf(routes))),
      missing: data === null ? missing : null,
      error: errorIn(route, from, to),
    })
  }
  return diffs
}

function answerIn(route: Route, from: Version, to: Version, change: VersionChange, data: unknown) {
  const serialize = serializerOf(route.data)
  const render = ({ success }: Version) => success(route.status, route.message, serialize, data)
  const [before, after] = [render(from), render(to)]
  const fields = fieldChanges(
    { body: JSON.parse(before), at: fieldOf(route, from) },
    { body: JSON.parse(after), at: fieldOf(route, to) },
    change.changes,
  )
  return { before, after, fields }
}

/** In which field of a success a version has the resource. Null: it has nothing around it. */
function fieldOf({ status, message }: Route, { success }: Version): string | null {
  const mark = 'the resource'
  const frame: unknown = JSON.parse(success(status, message, () => JSON.stringify(mark), null))
  if (frame === mark) return null
  return Object.entries(frame as object).find(([, value]) => value === mark)![0]
}

/** An error of the operation itself, otherwise one that every operation has. */
function errorIn(route: Route, from: Version, to: Version) {
  const fault = problem(route.problems[0] ?? 'invalid_value')
  const render = ({ failure }: Version) => JSON.stringify(failure(fault))
  return { code: fault.code, before: render(from), after: render(to) }
}

const words = new WeakMap<Routes, ReadonlySet<string>>()

/** Every word that answers and events use as a value, such as PAID. */
function wordsOf(routes: Routes): ReadonlySet<string> {
  const known = words.get(routes)
  if (known) return known
  const found = new Set<string>()
  const collect = (schema: unknown): void => {
    if (typeof schema !== 'object' || schema === null) return
    const { enum: values = [], const: only, ...others } = schema as Schema & { enum?: unknown[] }
    for (const value of [...values, only]) if (typeof value === 'string') found.add(value)
    for (const inside of Object.values(others)) collect(inside)
  }
  for (const { data } of routes) collect(data)
  collect(EVENT_COMPONENTS)
  words.set(routes, found)
  return found
}

/**
 * @param values the payment statuses that another version spells otherwise
 */
function createReader(
  app: FullApp,
  { company, author, scopes }: Actor,
  routes: readonly Route[],
  values: string[],
): Reader {
  const read: Reader['read'] = async (operationId, { params = {}, query = {} } = {}) => {
    const route = routes.find((one) => one.operationId === operationId)!
    const asked = { route, path: route.path, params, company, author, scopes: new Set(scopes) }
    const call = makeCall(app, asked, { query, body: undefined, sent: undefined }, null)
    try {
      return (await route.handle(call)).data
    } catch (error) {
      // It was deleted meanwhile.
      if (error instanceof Problem && error.status === 404) return null
      throw error
    }
  }
  const first: Reader['first'] = async (operationId, asked = {}) => {
    const list = await read(operationId, { ...asked, query: { ...asked.query, limit: 1 } })
    return list?.[0] ?? null
  }
  return {
    app,
    companyId: company.id,
    read,
    first,
    async last(operationId) {
      const filter = { author: null, action: operationId, from: null, before: null }
      const [entry] = await listEntries(app.db, company.id, filter, 1)
      return entry?.record ? { id: entry.record.id, details: entry.details } : null
    },
    async charge() {
      for (const paymentStatus of values) {
        const found = await first('listCharges', { query: { paymentStatus, include: 'qr' } })
        if (found) return found
      }
      return first('listCharges', { query: { include: 'qr' } })
    },
  }
}
