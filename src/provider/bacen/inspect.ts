import type { Payee } from '../port.ts'
import { type Bank, type Client, NO_BANK } from './client.ts'
import { payoutScopesOf, scopesOf } from './token.ts'

/** What an operator is told of a connection: what is wrong and what is worth knowing. */
export type Inspection = {
  faults: string[]
  notes: string[]
  /** `granted` is null when the bank does not say; `unsent` are missing to send withdrawals. */
  scopes: { granted: string[] | null; missing: string[]; unsent: string[] }
}

const UNTOLD: Inspection['scopes'] = { granted: null, missing: [], unsent: [] }

const LAST_ms = 300_000

/** Asks for a token and reads the latest payments: with that, charges can be made and settled. */
export async function inspect({ open }: Client, payee: Payee): Promise<Inspection> {
  const bank = await open(payee)
  if (!bank) return { faults: [NO_BANK], notes: [], scopes: UNTOLD }
  // One at hand proves that the credentials were right, not that they still are.
  const token = await bank.tokens.fresh()
  if (token.kind !== 'token') {
    return { faults: [token.reason], notes: [], scopes: UNTOLD }
  }
  const granted = token.scopes
  const needed = scopesOf(bank.connection.profile)
  const missing = needed.filter((scope) => isMissing(scope, needed, granted))
  const unsent = payoutScopesOf(bank.connection.profile).filter((scope) =>
    isMissing(scope, needed, granted),
  )
  const notes = [
    ...(granted === null ? ['the bank does not say which scopes it grants'] : []),
    ...(unsent.length > 0 ? [`withdrawals cannot be sent without ${unsent.join(' and ')}`] : []),
    ...notesOn(bank),
  ]
  return { faults: await readingFaults(bank), notes, scopes: { granted, missing, unsent } }
}

/** Nothing is said of scopes by a bank that is silent about them, or has other names for them. */
function isMissing(scope: string, needed: string[], granted: string[] | null): boolean {
  const isComparable = granted?.some((name) => needed.includes(name)) ?? false
  return isComparable && !granted!.includes(scope)
}

async function readingFaults(bank: Bank): Promise<string[]> {
  const now_ms = bank.clock.now().getTime()
  const reply = await bank.ask({
    ...{ method: 'GET', resource: 'pix', path: '' },
    query: {
      inicio: bank.moment(new Date(now_ms - LAST_ms)),
      fim: bank.moment(new Date(now_ms)),
    },
  })
  return reply.kind === 'done' ? [] : [`received payments cannot be read: ${reply.reason}`]
}

function notesOn({ connection: { profile, account } }: Bank): string[] {
  const { rec, cobr, locrec } = profile.paths
  if (rec === null || cobr === null || locrec === null) {
    return ['the bank is not known to offer Pix Automático: subscriptions cannot be billed']
  }
  return account ? [] : ['no account is named: subscriptions cannot be billed without --account']
}
