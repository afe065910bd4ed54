import pg from 'pg'
import { type ClientConfig, withSettings } from './primary-client.ts'
import { serversOf } from './servers.ts'

/** How long a request waits for a database that is away before it fails. */
export const RETRY_FOR_MS = 5_000
const LOCK_TIMEOUT_MS = 3_000
const STATEMENT_TIMEOUT_MS = 30_000
/** Longer than an idle task waits, because to connect again takes longer than what it asks. */
const IDLE_CONNECTION_MS = 30_000
/** Compiling a plan takes longer than running it: our statements touch few rows. */
const NO_JIT = '-c jit=off'

/** Plans each statement once for all parameters. Citus does not plan all of ours in this way. */
export async function planOnce(client: pg.ClientBase): Promise<void> {
  await client.query(
    `select set_config('plan_cache_mode', 'force_generic_plan', false)
     where not exists (select from pg_extension where extname = 'citus')`,
  )
}

/** Connections to the server that accepts writes. */
export function openPool(
  url: string,
  size: number,
  settings = '',
  limits: pg.PoolConfig & Pick<ClientConfig, 'isProbe'> = {},
): pg.Pool {
  const { urls, Client } = serversOf(url)
  const pool = new pg.Pool({
    connectionString: withSettings(urls[0]!, `${NO_JIT} ${settings}`.trim()),
    Client,
    max: size,
    // Statements that need no answer of each other are sent together.
    pipeline: true,
    application_name: 'vintem',
    statement_timeout: STATEMENT_TIMEOUT_MS,
    // The server keeps the first limit; this one is for a server that does not answer.
    query_timeout: STATEMENT_TIMEOUT_MS + RETRY_FOR_MS,
    lock_timeout: LOCK_TIMEOUT_MS,
    connectionTimeoutMillis: RETRY_FOR_MS,
    idleTimeoutMillis: IDLE_CONNECTION_MS,
    ...limits,
  })
  // An idle connection that the server closes is replaced on next use; it must not end the process.
  pool.on('error', () => {})
  return pool
}
