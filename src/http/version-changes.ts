import type { CompareVersions, VersionChange } from '../core/version-changes.ts'
import { findVersion, type Version } from '../versions/history.ts'
import type { Schema } from '../versions/shapes.ts'
import { problemsOf } from './openapi/answers.ts'
import { createComponents } from './openapi/components.ts'
import { NAMES } from './openapi/names.ts'
import type { Route } from './route.ts'
import { ROUTES } from './routes/all.ts'

const compared = new Map<string, VersionChange[]>()

/** Compares two versions by what their shapes say, operation by operation. */
export const compareVersions: CompareVersions = (before, after) => {
  const [from, to] = [findVersion(before), findVersion(after)]
  if (!from || !to || from === to) return []
  const known = compared.get(`${before} ${after}`)
  if (known) return known
  const changes = changesOf(from, to)
  compared.set(`${before} ${after}`, changes)
  return changes
}

function changesOf(from: Version, to: Version): VersionChange[] {
  const [before, after] = [schemasOf(from), schemasOf(to)]
  const changes = ROUTES.map((route): VersionChange => {
    const frame = ({ shapes }: Version) => shapes.success(route.status, {})
    const errors = ({ shapes }: Version) => [shapes.failure(problemsOf(route)), shapes.components]
    return {
      operationId: route.operationId,
      method: route.method,
      path: route.path,
      hasOtherFrame: !isSame(frame(from), frame(to)),
      hasOtherErrors: !isSame(errors(from), errors(to)),
      values: valuesOf(before.answers.get(route)!, before.named, after.named),
    }
  })
  return changes.filter(
    ({ hasOtherFrame, hasOtherErrors, values }) =>
      hasOtherFrame || hasOtherErrors || values.length > 0,
  )
}

const isSame = (one: unknown, other: unknown): boolean =>
  JSON.stringify(one) === JSON.stringify(other)

type Named = Record<string, Schema>

/** What each operation answers in a version, and the named schemas that answers refer to. */
function schemasOf({ shapes }: Version): { answers: Map<Route, Schema>; named: Named } {
  const components = createComponents(NAMES, shapes.change)
  const answers = new Map(ROUTES.map((route) => [route, components.show(route.data)]))
  return { answers, named: components.used() }
}

/** The values of lists of values that differ, of all named schemas that an answer refers to. */
function valuesOf(answer: Schema, before: Named, after: Named): VersionChange['values'] {
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
    return was.flatMap((value, i) =>
      value === is[i] ? [] : [{ before: String(value), after: String(is[i]) }],
    )
  })
}
