import type { Failure } from '../lib/problems.ts'
import * as v20250101 from './2025-01-01.ts'
import { CHANGES_2026_08_16, type Change } from './changes.ts'
import { envelope, type Query, type Shapes } from './shapes.ts'

/**
 * The whole version history on one page. The core knows only the newest version. Each older version
 * is a file that changes answers into its own form.
 */
export type Version = {
  name: string
  /** What it does otherwise than the version before it. */
  changes: Change[]
  /** The body of a success, given the route's answer already serialized. */
  success(
    status: number,
    message: string,
    serialize: (data: unknown) => string,
    data: unknown,
  ): string
  /** Spells serialized data as this version does. `success` does it too. */
  respell?(json: string): string
  failure(failure: Failure): unknown
  /** Changes the query of a client of this version into the form of the newest version. */
  upgradeQuery?(query: Query): void
  shapes: Shapes
}

const head: Version = {
  name: '2026-08-16',
  changes: CHANGES_2026_08_16,
  // Messages are constants without special characters, so they need no escaping.
  success: (status, message, serialize, data) =>
    `{"status":${status},"message":"${message}","data":${serialize(data)},"errors":[]}`,
  failure: ({ status, message, items }) => ({ status, message, data: null, errors: items }),
  shapes: envelope,
}

/** Oldest first. New companies are pinned to the last. */
export const VERSIONS: readonly Version[] = [
  { name: '2025-01-01', changes: [], ...v20250101 },
  head,
]
export const LATEST = head

const BY_NAME = new Map(VERSIONS.map((version) => [version.name, version]))

export const findVersion = (name: string): Version | null => BY_NAME.get(name) ?? null
export const VERSION_NAMES = VERSIONS.map(({ name }) => name)

/**
 * What changes for a client that goes from one version to another. If it goes back, the same
 * changes are undone.
 */
export function changesBetween(from: string, to: string): Change[] {
  const [first, last] = [VERSION_NAMES.indexOf(from), VERSION_NAMES.indexOf(to)].sort(
    (a, b) => a - b,
  )
  return VERSIONS.slice(first! + 1, last! + 1).flatMap(({ changes }) => changes)
}
