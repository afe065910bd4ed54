import pg from 'pg'

/** A row that a transaction has read without a lock and then written. */
export type Unlocked = { table: string; read: string; written: string }

// biome-ignore lint/suspicious/noExplicitAny: the driver has a dozen forms of this call
type AnyQuery = (...given: any[]) => any
type Statement = { text: string; ids: Set<string> }

const READ = /\bfrom ([\w.]+)/
const WRITTEN = /^\s*update ([\w.]+)/
const LOCK = /\bfor (?:no key )?update\b/

/** The records that a statement names by its parameters, in one form. */
function idsOf(text: string, values: unknown[]): Set<string> {
  const named = /\b(?:company_id|account_id) = \$1\b/.test(text) ? values.slice(1) : values
  const texts = named.flat().filter((value) => typeof value === 'string' && value.length > 20)
  const plain = texts.map((text) => `${text}`.replaceAll('-', ''))
  return new Set([...plain, ...named.filter((value) => Buffer.isBuffer(value)).flatMap(idsIn)])
}

const [HEAD_BYTES, ID_BYTES] = [20, 16]

/** The ids in an array as it is sent to the database: each with its length before it. */
function idsIn(array: Buffer): string[] {
  const ids: string[] = []
  for (let at = HEAD_BYTES; at + 4 + ID_BYTES <= array.length; at += 4 + ID_BYTES) {
    if (array.readInt32BE(at) !== ID_BYTES) return []
    ids.push(array.toString('hex', at + 4, at + 4 + ID_BYTES))
  }
  return ids
}

/** A write that looks at the state again by itself. */
const DECIDES_ITSELF = /and paused_until is not null$/

/**
 * Watches all transactions of this process: who reads a row in order to change it has locked it, or
 * two at once decide by the same state and both write what they decided.
 */
export function watchTransactions() {
  const original = pg.Client.prototype.query as AnyQuery
  const open = new WeakMap<pg.Client, Statement[]>()
  const unlocked: Unlocked[] = []
  const writes = new Set<string>()

  function look(statements: Statement[]): void {
    for (const [i, { text: written, ids }] of statements.entries()) {
      const table = WRITTEN.exec(written)?.[1]
      if (!table || DECIDES_ITSELF.test(written)) continue
      const isOfTable = ({ text }: Statement) =>
        [READ, WRITTEN].some((used) => used.exec(text)?.[1] === table)
      const first = statements
        .slice(0, i)
        .find((other) => isOfTable(other) && !other.ids.isDisjointFrom(ids))
      if (!first) continue
      writes.add(table)
      const isLocked = LOCK.test(first.text) || WRITTEN.test(first.text)
      if (!isLocked) unlocked.push({ table, read: first.text, written })
    }
  }

  pg.Client.prototype.query = function query(this: pg.Client, ...given: unknown[]) {
    const [first] = given
    const { text = '', values = [] } =
      typeof first === 'string' ? { text: first } : (first as { text: string; values?: unknown[] })
    if (text === 'begin') open.set(this, [])
    else if (text === 'commit') look(open.get(this) ?? [])
    else open.get(this)?.push({ text, ids: idsOf(text, values) })
    if (text === 'commit' || text === 'rollback') open.delete(this)
    return original.apply(this, given)
  } as typeof pg.Client.prototype.query

  return {
    unlocked,
    /** The tables whose rows were read and then written. */
    writes,
    stop() {
      pg.Client.prototype.query = original as typeof pg.Client.prototype.query
    },
  }
}
