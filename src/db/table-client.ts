import type pg from 'pg'
import { databaseFault } from './database-fault.ts'
import { createClient } from './servers.ts'

const CONNECT_MS = 10_000

/**
 * What whole tables need: they take long, nobody waits for an answer, and values have one form
 * whatever the server prefers. The reader may stop for as long as its disk does, so the server does
 * not take a full connection for a lost one.
 */
const SETTINGS = `
  set statement_timeout = 0;
  set lock_timeout = 0;
  set idle_in_transaction_session_timeout = 0;
  set tcp_user_timeout = 0;
  set client_encoding = 'UTF8';
  set datestyle = 'ISO';
  set intervalstyle = 'postgres';
  set timezone = 'UTC';
  set bytea_output = 'hex';
  set extra_float_digits = 1;`

/** A connection of its own for whoever reads or writes whole tables. */
export async function openTableClient(
  url: string,
  name: string,
  setting?: string,
): Promise<pg.Client> {
  const client = createClient(url, {
    application_name: name,
    connectionTimeoutMillis: CONNECT_MS,
  })
  try {
    await client.connect()
    await client.query(SETTINGS)
    return client
  } catch (error) {
    await client.end().catch(() => {})
    throw databaseFault(url, error, setting)
  }
}
