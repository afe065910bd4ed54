import type { Payee } from '../port.ts'
import { type Bank, type Client, NO_BANK } from './client.ts'
import { payoutScopesOf, resourcesOf, scopesOf } from './token.ts'

/** What is wrong with a connection, in plain words, and what it may be used for. */
export type Inspection = {
  faults: string[]
  /** `granted` is null when the bank does not say. `unsent` are missing to send withdrawals. */
  scopes: { granted: string[] | null; missing: string[]; unsent: string[] }
}

const UNKNOWN_SCOPES: Inspection['scopes'] = { granted: null, missing: [], unsent: [] }

const LAST_ms = 300_000

/** Gets a token and reads the latest payments: with both, charges can be made and matched. */
export async function inspect({ open }: Client, payee: Payee): Promise<Inspection> {
  const bank = await open(payee)
  if (!bank) return { faults: [NO_BANK], scopes: UNKNOWN_SCOPES }
  // A token from before does not prove that the credentials still work.
  const token = await bank.tokens.fresh()
  if (token.kind !== 'token') {
    return { faults: [token.reason], scopes: UNKNOWN_SCOPES }
  }
  const granted = token.scopes
  const { profile } = bank.connection
  const needed = scopesOf(profile, resourcesOf(profile, 'charges'))
  const missing = needed.filter((scope) => isMissing(scope, needed, granted))
  const unsent = payoutScopesOf(profile).filter((scope) => isMissing(scope, needed, granted))
  return { faults: await readingFaults(bank), scopes: { granted, missing, unsent } }
}

/** If the bank names no scopes, or uses other names, no scope counts as missing. */
function isMissing(scope: string, needed: string[], granted: string[] | null): boolean {
  const isComparable = granted?.some((name) => needed.includes(name)) ?? false
  return isComparable && !granted!.includes(scope)
}

async function readingFaults(bank: Bank): Promise<string[]> {
  const now_ms = bank.clock.now().getTime()
  const reply = await bank.ask({
    method: 'GET',
    resource: 'pix',
    path: '',
    query: {
      inicio: bank.moment(new Date(now_ms - LAST_ms)),
      fim: bank.moment(new Date(now_ms)),
    },
  })
  return reply.kind === 'done' ? [] : [`received payments cannot be read: ${reply.reason}`]
}
