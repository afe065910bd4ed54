import { problem } from '../lib/problems.ts'
import type { Database, Tx } from './database.ts'

/** Where a place finds the tables of people, and those of companies of other places. */
export type Others = { people: Database; at(companyId: string): Promise<Database> }

/**
 * The database of one of several places. Statements go to this place. What `people` and `at` are
 * asked goes to the place of people, or of a company. In a transaction the other places commit
 * first and this one last: if the process is killed in between, what is missing is here.
 */
export function spanPlaces(own: Database, others: Others): Database {
  const { people, at } = others
  return {
    ...own,
    people,
    at,
    transaction(act) {
      // Once another place may have committed, it is not run again, because it would write twice.
      const progress = { isCommitting: false }
      return own.transaction((tx) => {
        if (progress.isCommitting) throw problem('service_unavailable')
        return spanTransaction(own, tx, others, act, progress)
      })
    },
    of: (id) => spanPlaces(own.of(id), { people: people.of(id), at }),
    get tasks() {
      return spanPlaces(own.tasks, { people: people.tasks, at })
    },
  }
}

async function spanTransaction<R>(
  own: Database,
  tx: Tx,
  { people, at }: Others,
  act: (tx: Tx) => Promise<R>,
  progress: { isCommitting: boolean },
): Promise<R> {
  const begun = new Map<Database['pools'], Begun & { spanned: Promise<Tx> }>()
  const span = async ({ pools }: Database, { tx: opened, undo }: Begun): Promise<Tx> => ({
    ...(await opened),
    people: spanned.people,
    at: spanned.at,
    leaveOut:
      pools === people.pools
        ? null
        : () => {
            begun.delete(pools)
            undo(problem('service_unavailable'))
          },
  })
  /** The transaction at another place, which begins when it is first needed. */
  const inPlace = (db: Database): Promise<Tx> => {
    if (db.pools === own.pools) return Promise.resolve(spanned)
    const known = begun.get(db.pools)
    if (known) return known.spanned
    const made = begin(db)
    const whole = { ...made, spanned: span(db, made) }
    begun.set(db.pools, whole)
    // What could not begin is not committed, if whoever needed it goes on without.
    whole.spanned.catch(() => begun.delete(db.pools))
    return whole.spanned
  }
  const atPeople: Tx = {
    ...tx,
    query: async (query) => (await inPlace(people)).query(query),
    beforeCommit: async (write, items) => (await inPlace(people)).beforeCommit(write, items),
    flush: async () => (await inPlace(people)).flush(),
    get people() {
      return atPeople
    },
    at: (companyId) => spanned.at(companyId),
  }
  const spanned: Tx = {
    ...tx,
    get people() {
      return people.pools === own.pools ? spanned : atPeople
    },
    at: async (companyId) => inPlace(await at(companyId)),
  }
  try {
    const result = await act(spanned)
    // What can still fail is done before another place commits.
    await tx.flush()
    for (const { commit } of begun.values()) {
      progress.isCommitting = true
      await commit()
    }
    return result
  } catch (error) {
    await Promise.all([...begun.values()].map(({ undo }) => undo(error)))
    throw error
  }
}

type Begun = { tx: Promise<Tx>; commit(): Promise<void>; undo(error: unknown): Promise<void> }

/** A transaction that stays open until it is to end. */
function begin(db: Database): Begun {
  const opened = Promise.withResolvers<Tx>()
  const end = Promise.withResolvers<void>()
  let isFirst = true
  const done = db.transaction(async (tx) => {
    // Its statements are those of another transaction, which is run again as a whole.
    if (!isFirst) throw problem('service_unavailable')
    isFirst = false
    opened.resolve(tx)
    await end.promise
  })
  done.catch(opened.reject)
  opened.promise.catch(() => {})
  return {
    tx: opened.promise,
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
