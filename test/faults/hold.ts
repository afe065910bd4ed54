import pg from 'pg'
import type { TestApi } from '../support/api.ts'
import { until } from '../support/until.ts'

/** Stops whoever writes to a table of a database, so that they can be killed there. */
export type Holding = {
  /** Holds a table, so that whoever writes to it waits. Gives what lets them go on. */
  hold(table: string): Promise<() => Promise<void>>
  /** How many wait for something that is held. */
  waiting(): Promise<number>
}

export const holdingOf = ({ databaseUrl, rows }: TestApi): Holding => ({
  async hold(table) {
    const client = new pg.Client({ connectionString: databaseUrl })
    await client.connect()
    await client.query(`begin; lock table ${table} in share row exclusive mode`)
    return () => client.end()
  },
  // The cluster has databases of other tests, which hold tables too.
  waiting: async () =>
    (
      await rows(
        `select 1 from pg_locks where not granted
         and database = (select oid from pg_database where datname = current_database())`,
      )
    ).length,
})

export const becomes = (what: string, look: () => Promise<boolean>): Promise<boolean> =>
  until(what, async () => (await look()) || null)
