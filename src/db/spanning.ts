import { assert } from '../lib/assert.ts'
import { problem } from '../lib/problems.ts'
import type { ControlDatabase, ControlTx, Database, Tx } from './database.ts'

/** What a place is not by itself: the control database, and the databases of companies. */
export type Others = { control: Database; at(companyId: string): Promise<Database> }

/**
 * The database of one of several places. Statements go to this place. In a transaction the others
 * commit first and this one last: if the process is killed in between, what is missing is here.
 */
export function spanPlaces(own: Database, others: Others): ControlDatabase {
  const { control, at } = others
  const db: ControlDatabase = {
    ...own,
    at,
    leaveOut: () => true,
    transaction(act) {
      // Once another place may have committed, it is not run again, because it would write twice.
      const progress = { isCommitting: false }
      return own.transaction((tx) => {
        if (progress.isCommitting) throw problem('service_unavailable')
        return spanTransaction(own, tx, others, act, progress)
      })
    },
    of: (id) => spanPlaces(own.of(id), { control: control.of(id), at }),
    get tasks() {
      return spanPlaces(own.tasks, { control: control.tasks, at })
    },
    get control() {
      return own.pools === control.pools ? db : spanPlaces(control, others)
    },
  }
  return db
}

async function spanTransaction<R>(
  own: Database,
  tx: Tx,
  { control, at }: Others,
  act: (tx: ControlTx, control: ControlTx) => Promise<R>,
  progress: { isCommitting: boolean },
): Promise<R> {
  const begun = new Map<Database['pools'], Begun>()
  let isOver = false
  /** The transaction at another place, which begins when it is first needed. */
  const inPlace = (db: Database): Promise<Tx> => {
    if (db.pools === own.pools) return Promise.resolve(tx)
    const known = begun.get(db.pools)
    if (known) return known.tx
    // One of several things that were done together may have failed, and the others go on. Nobody
    // would end what begins now.
    assert(!isOver, 'a transaction at another place begins before its own ends')
    const made = begin(db)
    begun.set(db.pools, made)
    // What could not begin is not committed, if whoever needed it goes on without.
    made.tx.catch(() => begun.delete(db.pools))
    return made.tx
  }
  const reach: Pick<ControlTx, 'at' | 'leaveOut'> = {
    at: async (companyId) => inPlace(await at(companyId)),
    leaveOut(place) {
      const other = [...begun].find(([, one]) => one.opened === place)
      if (!other || other[0] === control.pools) return false
      begun.delete(other[0])
      other[1].undo(problem('service_unavailable'))
      return true
    },
  }
  const isControl = control.pools === own.pools
  const atControl = { ...(isControl ? tx : opensLater(() => inPlace(control))), ...reach }
  try {
    const result = await act(isControl ? atControl : { ...tx, ...reach }, atControl)
    // What can still fail is done before another place commits.
    await tx.flush()
    isOver = true
    for (const { commit } of begun.values()) {
      progress.isCommitting = true
      await commit()
    }
    return result
  } catch (error) {
    isOver = true
    await Promise.all([...begun.values()].map(({ undo }) => undo(error)))
    throw error
  }
}

/** A transaction that begins with its first statement. */
const opensLater = (open: () => Promise<Tx>): Tx => ({
  query: async (query) => (await open()).query(query),
  beforeCommit: async (write, items) => (await open()).beforeCommit(write, items),
  flush: async () => (await open()).flush(),
  // Whoever wakes or notifies has written before. What fails has told them then.
  wake: (task) => void open().then((tx) => tx.wake(task), ignore),
  afterCommit: (act) => void open().then((tx) => tx.afterCommit(act), ignore),
  notify: (...notification) => void open().then((tx) => tx.notify(...notification), ignore),
})
const ignore = () => {}

type Begun = {
  tx: Promise<Tx>
  /** Undefined until it has begun. */
  readonly opened: Tx | undefined
  commit(): Promise<void>
  undo(error: unknown): Promise<void>
}

/** A transaction that stays open until it is to end. */
function begin(db: Database): Begun {
  const beginning = Promise.withResolvers<Tx>()
  const end = Promise.withResolvers<void>()
  let opened: Tx | undefined
  const done = db.transaction(async (tx) => {
    // Its statements are those of another transaction, which is run again as a whole.
    if (opened) throw problem('service_unavailable')
    opened = tx
    beginning.resolve(tx)
    await end.promise
  })
  done.catch(beginning.reject)
  beginning.promise.catch(() => {})
  return {
    tx: beginning.promise,
    get opened() {
      return opened
    },
    commit() {
      end.resolve()
      return done
    },
    undo(error) {
      end.reject(error)
      return done.catch(() => {})
    },
  }
}
