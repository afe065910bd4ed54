import { randomUUID } from 'node:crypto'
import type pg from 'pg'
import type { Database, Tx } from '../../db/database.ts'
import type { Notifications } from '../../db/notifications.ts'
import { createClient } from '../../db/servers.ts'
import type { Uuid } from '../../lib/ids.ts'

/**
 * Servers remember keys and companies for a while. A change is announced in its transaction, and
 * whoever made it can wait until every server has applied it. PostgreSQL delivers in order, so a
 * server that answers a later question has applied all earlier changes. Servers of two versions run
 * side by side during an upgrade, so the texts that they exchange stay as they are.
 */
export const CHANGES = 'vintem_company'
export const CONFIRMATIONS = 'vintem_heard'
export const LISTENER = 'vintem listen'
export const QUESTION = 'heard? '

const CONNECT_MS = 30_000
const CONFIRM_MS = 3_000

export async function announceChange(tx: Tx, companyId: Uuid): Promise<void> {
  await tx.query({ text: 'select pg_notify($1, $2)', values: [CHANGES, companyId] })
}

/** Calls `forget` for each changed company, and with null when a change may have been missed. */
export function receiveChanges(
  notifications: Notifications,
  forget: (companyId: Uuid | null) => void,
): void {
  notifications.on(CHANGES, (payload) => {
    if (!payload?.startsWith(QUESTION)) forget(payload)
    else notifications.notify(CONFIRMATIONS, payload.slice(QUESTION.length))
  })
}

/** Waits until every server has applied all announced changes; false if one does not answer. */
export async function waitUntilAppliedAt(url: string): Promise<boolean> {
  const client = createClient(url, {
    application_name: 'vintem announce',
    connectionTimeoutMillis: CONNECT_MS,
  })
  await client.connect()
  try {
    return await askAll(client)
  } finally {
    await client.end()
  }
}

/** The same, by a connection of the pool. */
export async function waitUntilApplied(db: Database): Promise<boolean> {
  const { client, release } = await db.connect()
  try {
    const isApplied = await askAll(client)
    // Whoever gets the connection next does not expect notifications.
    await client.query(`unlisten ${CONFIRMATIONS}`)
    release()
    return isApplied
  } catch (error) {
    release(true)
    throw error
  }
}

async function askAll(client: pg.ClientBase): Promise<boolean> {
  await client.query(`listen ${CONFIRMATIONS}`)
  const found = await client.query<{ servers: number }>(
    `select count(*)::int as servers from pg_stat_activity
     where application_name = $1 and datname = current_database()`,
    [LISTENER],
  )
  return ask(client, found.rows[0]!.servers)
}

async function ask(client: pg.ClientBase, servers: number): Promise<boolean> {
  const question = randomUUID()
  const { promise: isApplied, resolve } = Promise.withResolvers<boolean>()
  const late = setTimeout(() => resolve(false), CONFIRM_MS)
  let missing = servers
  const count = ({ payload }: pg.Notification) => {
    if (payload === question) missing -= 1
    if (missing === 0) resolve(true)
  }
  client.on('notification', count)
  if (missing === 0) resolve(true)
  await client.query('select pg_notify($1, $2)', [CHANGES, QUESTION + question])
  return isApplied.finally(() => {
    clearTimeout(late)
    client.off('notification', count)
  })
}
