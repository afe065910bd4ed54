import { randomUUID } from 'node:crypto'
import type { Connection } from './connection.ts'

type Holder = Pick<Connection, 'clientId' | 'appKey' | 'account'>

const PLACEHOLDER = /\{(clientId|appKey|account|uuid)\}/g

/** Replaces placeholders. If the connection has no value for one, leaves the entry out. */
export function fill(template: Record<string, string>, holder: Holder): Record<string, string> {
  const values: Record<string, string | null> = {
    clientId: holder.clientId,
    appKey: holder.appKey,
    account: holder.account?.number ?? null,
  }
  const entries = Object.entries(template).flatMap(([name, text]) => {
    const named = [...text.matchAll(PLACEHOLDER)].map(([, key]) => key!)
    if (named.some((key) => key !== 'uuid' && !values[key])) return []
    const filled = text.replace(PLACEHOLDER, (_, key: string) => values[key] ?? randomUUID())
    return [[name, filled]]
  })
  return Object.fromEntries(entries)
}
