import type { Change } from '../../versions/changes.ts'
import type { Actor } from '../operate.ts'

/** How an operation answers differently in another version. */
export type VersionChange = {
  operationId: string
  method: string
  path: string
  /** What the history says about it. */
  changes: Change[]
}

/** What changes between two versions, for each operation of the API that changes. */
export type CompareVersions = (before: string, after: string) => VersionChange[]

/** A field of an answer that differs. A path is null if that version does not have the field. */
export type FieldChange = {
  formerPath: string | null
  path: string | null
  /** Null for what only moves, and for what is not there. */
  before: Value
  after: Value
  change: Change | null
}
type Value = string | number | boolean | null

/** The same answer in two versions, as it is sent. */
type Bodies = { before: string; after: string }

/** What a version change means for an operation that a company uses. */
export type UsedChange = VersionChange & {
  lastUsedAt: Date
  /** A recent record of the company, without personal data. */
  answer: (Bodies & { fields: FieldChange[] }) | null
  /** Why there is no answer. */
  missing: string | null
  /** An error of this operation. */
  error: Bodies & { code: string }
}

/** Shows each operation that a company has used lately in two versions. */
export type DiffVersions = (actor: Actor, before: string, after: string) => Promise<UsedChange[]>

const HIDDEN = '***'
const OUR_ID = /^[a-z]{2,6}_[0-9a-z]{26}$/
const UUID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/
const MOMENT = /^\d{4}-\d\d-\d\d(?:T[\d:.]+Z)?$/
const FORMS = [OUR_ID, UUID, MOMENT]

/**
 * Hides every text but the words of the API, ids of records and moments: what a client or a payer
 * has written may be personal, and a code can be paid. Of a list the first entry is kept.
 */
export function maskRecord(value: unknown, words: ReadonlySet<string>, name = ''): unknown {
  if (Array.isArray(value)) return value.slice(0, 1).map((one) => maskRecord(one, words, name))
  if (typeof value === 'string') return isShown(value, name, words) ? value : HIDDEN
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(
    Object.entries(value).map(([field, inside]) => [field, maskRecord(inside, words, field)]),
  )
}

/** A random Pix key has the form of an id, and can be paid. */
function isShown(text: string, name: string, words: ReadonlySet<string>): boolean {
  if (words.has(text)) return true
  return !/pixKey|destination/i.test(name) && FORMS.some((form) => form.test(text))
}

/** Where the resource is in the body of an answer: in a field, or the body is the resource. */
type Placed = { body: unknown; at: string | null }

/** The fields that differ between two bodies. */
export function fieldChanges(before: Placed, after: Placed, changes: Change[]): FieldChange[] {
  const ofFrame = changes.find((change) => change.in === 'frame') ?? null
  const moved: FieldChange[] =
    before.at === after.at
      ? []
      : [{ ...placesOf(before, after), before: null, after: null, change: ofFrame }]
  const around = differences(frameOf(before), frameOf(after)).map(([path, was, is]) => ({
    formerPath: was === undefined ? null : path,
    path: is === undefined ? null : path,
    before: was ?? null,
    after: is ?? null,
    change: ofFrame,
  }))
  const inside = differences(resourceOf(before), resourceOf(after)).map(([path, was, is]) => ({
    formerPath: was === undefined ? null : join(before.at, path),
    path: is === undefined ? null : join(after.at, path),
    before: was ?? null,
    after: is ?? null,
    change: changes.find(({ in: seen }) => isOf(seen, path)) ?? null,
  }))
  return [...moved, ...around, ...inside]
}

const placesOf = (before: Placed, after: Placed) => ({
  formerPath: before.at ?? '$',
  path: after.at ?? '$',
})

const join = (start: string | null, path: string): string =>
  start === null ? path : path.startsWith('[') ? `${start}${path}` : `${start}.${path}`

const isOf = (seen: Change['in'], path: string): boolean =>
  typeof seen === 'object' &&
  seen.field ===
    path
      .split('.')
      .at(-1)!
      .replace(/\[\d+\]$/, '')

const resourceOf = ({ body, at }: Placed): unknown =>
  at === null ? body : (body as Record<string, unknown>)[at]

function frameOf({ body, at }: Placed): unknown {
  if (at === null) return {}
  const { [at]: _resource, ...frame } = body as Record<string, unknown>
  return frame
}

function differences(before: unknown, after: unknown) {
  const [was, is] = [leavesOf(before), leavesOf(after)]
  return [...new Set([...was.keys(), ...is.keys()])]
    .filter((path) => was.get(path) !== is.get(path))
    .map((path) => [path, was.get(path), is.get(path)] as const)
}

/** Every value that has none inside, by its path. */
function leavesOf(value: unknown, path = '', leaves = new Map<string, Value>()) {
  const inside = typeof value === 'object' && value !== null ? Object.entries(value) : []
  const isList = Array.isArray(value)
  for (const [name, one] of inside) {
    leavesOf(one, isList ? `${path}[${name}]` : path === '' ? name : `${path}.${name}`, leaves)
  }
  if (inside.length === 0 && path !== '') {
    leaves.set(
      path,
      typeof value === 'object' && value !== null ? JSON.stringify(value) : (value as Value),
    )
  }
  return leaves
}
