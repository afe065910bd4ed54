import { type Cents, formatDecimal } from '../lib/money.ts'
import type { AgreementStatus, Collection } from './port.ts'

/** What a callback names, by the scheme's ids. */
export type Named = { endToEndIds: string[]; agreements: string[]; collections: string[] }

/**
 * The payments that a bank's callback names. A callback is only a hint: what counts is the bank's
 * answer when it is asked, so nothing but the ids is read.
 */
export const namedPayments = (body: unknown): string[] => idsIn(body, 'pix', 'endToEndId')

/** The agreements that a callback names. */
export const namedAgreements = (body: unknown): string[] => idsIn(body, 'recs', 'idRec')

/** The collections that a callback names, by their txid. */
export const namedCollections = (body: unknown): string[] => idsIn(body, 'cobsr', 'txid')

export const namedIn = (body: unknown): Named => ({
  endToEndIds: namedPayments(body),
  agreements: namedAgreements(body),
  collections: namedCollections(body),
})

export const namesOf = ({ endToEndIds, agreements, collections }: Named): string[] => [
  ...endToEndIds,
  ...agreements,
  ...collections,
]

/**
 * The bank is asked about each id, so more are ignored. Banks name only a few at a time, and
 * reconciliation finds what is left out.
 */
const MAX_NAMED = 500

/** A bank that names one thing may leave out the list around it. */
function idsIn(body: unknown, list: string, field: string): string[] {
  const entries = ((body ?? {}) as Record<string, unknown>)[list] ?? [body]
  if (!Array.isArray(entries)) return []
  const ids = entries.flatMap((entry: unknown) => {
    const id = (entry as Record<string, unknown> | null)?.[field]
    return typeof id === 'string' && /^[A-Za-z0-9]{1,64}$/.test(id) ? [id] : []
  })
  return [...new Set(ids)].slice(0, MAX_NAMED)
}

type Pix = { endToEndId: string; txid: string | null; amount: Cents; receivedAt: Date }

const pixEntry = ({ endToEndId, txid, amount, receivedAt }: Pix) => ({
  endToEndId,
  ...(txid === null ? {} : { txid }),
  valor: formatDecimal(amount),
  horario: receivedAt.toISOString(),
})

/** The callback of a received payment. */
export const callbackBody = (pix: Pix) => ({ pix: [pixEntry(pix)] })

/** The scheme's names of the statuses. */
export const AGREEMENT_STATUS: Record<AgreementStatus, string> = {
  CREATED: 'CRIADA',
  APPROVED: 'APROVADA',
  REJECTED: 'REJEITADA',
  EXPIRED: 'EXPIRADA',
  CANCELED: 'CANCELADA',
}
/** A collection with a failed attempt stays active, because it can be retried. */
const COLLECTION_STATUS: Record<Collection['status'], string> = {
  SCHEDULED: 'ATIVA',
  PAID: 'CONCLUIDA',
  FAILED: 'ATIVA',
  CANCELED: 'CANCELADA',
}

type ChangedCollection = { txid: string; status: Collection['status'] }

const collectionEntry = ({ txid, status }: ChangedCollection) => ({
  txid,
  status: COLLECTION_STATUS[status],
})

/** The callback of a decision on an agreement, with the collections that it canceled. */
export const agreementBody = (
  { externalId, status }: { externalId: string; status: AgreementStatus },
  canceled: string[],
) => ({
  recs: [{ idRec: externalId, status: AGREEMENT_STATUS[status] }],
  ...(canceled.length === 0
    ? {}
    : { cobsr: canceled.map((txid) => collectionEntry({ txid, status: 'CANCELED' })) }),
})

/** The callback of attempts to collect. */
export const collectionsBody = (collections: ChangedCollection[], received: Pix[]) => ({
  ...(received.length === 0 ? {} : { pix: received.map(pixEntry) }),
  cobsr: collections.map(collectionEntry),
})
