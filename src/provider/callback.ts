import { type Cents, formatDecimal } from '../lib/money.ts'
import type { AgreementStatus, Collection } from './port.ts'
import { txidIn } from './txid.ts'

/**
 * What a callback names, by the scheme's ids. `returned` are those of the payments of which it says
 * that money was returned, `txids` are of charges whose payment it does not name.
 */
export type Named = {
  endToEndIds: string[]
  returned: string[]
  txids: string[]
  agreements: string[]
  collections: string[]
  disputes: string[]
}

/**
 * What a bank's callback names. A callback is only a hint: what counts is the bank's answer when it
 * is asked, so nothing but the ids is read. A bank that names one thing may leave out the list
 * around it, or send the list alone. An object without a list is a payment if it has the id of one.
 * If it has only a txid, it may be a charge or a collection.
 */
export function namedIn(body: unknown): Named {
  const bodies = (Array.isArray(body) ? body : [body]).filter(isFields)
  const listed = (list: string) => bodies.flatMap((one) => one[list] ?? [])
  const bare = bodies.filter((one) => !LISTS.some((list) => list in one))
  const payments = entriesOf([...listed('pix'), ...bare])
  const collections = [...listed('cobsr'), ...bare.filter(({ endToEndId }) => !isId(endToEndId))]
  const isCharge = ({ endToEndId, idRec }: Fields) => !isId(endToEndId) && !isId(idRec)
  return {
    endToEndIds: idsOf(payments.map(({ endToEndId }) => endToEndId)),
    returned: idsOf(payments.filter(hasReturns).map(({ endToEndId }) => endToEndId)),
    txids: idsOf(payments.filter(isCharge).map(txidIn)),
    agreements: idsOf(entriesOf([...listed('recs'), ...bare]).map(({ idRec }) => idRec)),
    collections: idsOf(entriesOf(collections).map(txidIn)),
    disputes: idsOf(entriesOf(listed('infracoes')).map(({ idInfracao }) => idInfracao)),
  }
}

const hasReturns = ({ devolucoes }: Fields): boolean => Array.isArray(devolucoes)

const LISTS = ['pix', 'recs', 'cobsr', 'infracoes']

export const namesOf = (named: Named): string[] => [
  ...new Set([
    ...named.endToEndIds,
    ...named.txids,
    ...named.agreements,
    ...named.collections,
    ...named.disputes,
  ]),
]

/**
 * The bank is asked about each entry, so more are ignored. Banks name only a few at a time, and
 * reconciliation finds what is left out.
 */
const MAX_NAMED = 500

type Fields = Record<string, unknown>

const isFields = (value: unknown): value is Fields =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

const entriesOf = (entries: unknown[]): Fields[] => entries.filter(isFields).slice(0, MAX_NAMED)

const idsOf = (values: unknown[]): string[] => [...new Set(values.filter(isId))]

const isId = (value: unknown): value is string =>
  typeof value === 'string' && /^[A-Za-z0-9]{1,64}$/.test(value)

type Pix = { endToEndId: string; txid: string | null; amount: Cents; receivedAt: Date }

const pixEntry = ({ endToEndId, txid, amount, receivedAt }: Pix) => ({
  endToEndId,
  ...(txid === null ? {} : { txid }),
  valor: formatDecimal(amount),
  horario: receivedAt.toISOString(),
})

/** The callback of a received payment. */
export const callbackBody = (pix: Pix) => ({ pix: [pixEntry(pix)] })

/** The callback of a return that the bank makes by itself. It is asked what was returned. */
export const returnBody = (endToEndId: string) => ({ pix: [{ endToEndId, devolucoes: [] }] })

/** The callback of a dispute. The bank is asked what has become of it. */
export const disputeBody = (id: string) => ({ infracoes: [{ idInfracao: id }] })

/** The callback of what a bank has decided. It may have returned the payment. */
export const decisionBody = (id: string, endToEndId: string) => ({
  ...returnBody(endToEndId),
  ...disputeBody(id),
})

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
