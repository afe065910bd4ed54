import { type Cents, formatDecimal } from '../lib/money.ts'
import type { AgreementStatus, Collection } from './port.ts'

/** What a callback names, each by the scheme's id of it. */
export type Named = { endToEndIds: string[]; agreements: string[]; collections: string[] }

/**
 * The payments that a bank's callback names. A callback is a hint: only what the bank confirms when
 * asked counts, so nothing else of it is read. Whatever else stands in it is ignored.
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
 * Banks tell of a few things at a time. Each is asked about, so that whoever names thousands is not
 * followed there; what is left out is found by reconciling.
 */
const MAX_NAMED = 500

/** A bank that tells of one thing at a time may leave the list around it out. */
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

/** What a bank of the scheme sends when money has arrived. */
export const callbackBody = (pix: Pix) => ({ pix: [pixEntry(pix)] })

/** The scheme's words. */
export const AGREEMENT_STATUS: Record<AgreementStatus, string> = {
  CREATED: 'CRIADA',
  APPROVED: 'APROVADA',
  REJECTED: 'REJEITADA',
  EXPIRED: 'EXPIRADA',
  CANCELED: 'CANCELADA',
}
/** A collection whose attempt has failed stays active: it can be tried again. */
const COLLECTION_STATUS: Record<Collection['status'], string> = {
  SCHEDULED: 'ATIVA',
  PAID: 'CONCLUIDA',
  FAILED: 'ATIVA',
  CANCELED: 'CANCELADA',
}

type Told = { txid: string; status: Collection['status'] }

const collectionEntry = ({ txid, status }: Told) => ({ txid, status: COLLECTION_STATUS[status] })

/** What a bank sends when an agreement was decided on, with the collections that ends. */
export const agreementBody = (
  { externalId, status }: { externalId: string; status: AgreementStatus },
  canceled: string[],
) => ({
  recs: [{ idRec: externalId, status: AGREEMENT_STATUS[status] }],
  ...(canceled.length === 0
    ? {}
    : { cobsr: canceled.map((txid) => collectionEntry({ txid, status: 'CANCELED' })) }),
})

/** What a bank sends when it has tried to collect. */
export const collectionsBody = (collections: Told[], received: Pix[]) => ({
  ...(received.length === 0 ? {} : { pix: received.map(pixEntry) }),
  cobsr: collections.map(collectionEntry),
})
