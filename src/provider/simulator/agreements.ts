import type { Database } from '../../db/database.ts'
import { packPair, type Uuid } from '../../lib/ids.ts'
import type { Cents } from '../../lib/money.ts'
import { recurrenceCode } from '../../pix/brcode.ts'
import { localDateOf } from '../../pix/local-time.ts'
import type {
  Agreement,
  AgreementOrder,
  AgreementStatus,
  Frequency,
  Outcome,
  Payee,
  Provider,
} from '../port.ts'
import type { AgreementRecord } from './agreement-records.ts'
import * as records from './agreement-records.ts'
import { accept, answer, refused, reject } from './answers.ts'
import { cancelScheduled } from './collection-records.ts'
import { agreementId } from './scheme.ts'

export type Decision = 'approve' | 'reject' | 'cancel'

/** The agreement after a decision, and the collections that the decision canceled. */
export type Decided = {
  agreement: Agreement
  value: Cents
  frequency: Frequency
  canceled: Uuid[]
}

/** The payer's side of agreements. */
export type Deciding = {
  /**
   * Records a payer's decision. The same decision again changes nothing, except that an approval
   * may change whether the payer's account has funds. Null keeps that; at first it has.
   */
  decide(
    accountId: Uuid,
    id: Uuid,
    decision: Decision,
    funds: boolean | null,
    now: Date,
  ): Promise<Outcome<Decided>>
}

type Agreeing = Deciding & Pick<Provider, 'createAgreement' | 'findAgreement' | 'cancelAgreement'>

const LOCATION_PATH = '/rec/'

/** `now` is the time of the agreement's account, because that may have a test clock. */
export function agreeing(books: Database, host: string, nowOf: (payee: Payee) => Date): Agreeing {
  const decide: Deciding['decide'] = (accountId, id, decision, funds, now) =>
    books.transaction(async (tx) => {
      const agreement = await records.findAgreement(tx, accountId, id, 'for update')
      if (!agreement) return reject('the bank knows no such agreement')
      const decided = decisionOn(agreement, decision, funds, now)
      if (typeof decided === 'string') return reject(decided)
      await records.updateDecision(tx, decided)
      const canceled = decision === 'cancel' ? await cancelScheduled(tx, decided) : []
      const { value, frequency } = decided
      return accept({ agreement: agreementOf(decided, now), value, frequency, canceled })
    })
  return {
    decide,
    async createAgreement(payee, order) {
      const refusal = refused({ amount: order.value })
      if (refusal) return reject(refusal)
      const now = nowOf(payee)
      const isNew = await records.insertAgreement(books, toRecord(payee, order, host, now))
      const agreement = agreementOf((await records.findAgreement(books, payee.id, order.id))!, now)
      return isNew ? answer({ amount: order.value }, agreement) : accept(agreement)
    },
    async findAgreement(payee, { id }) {
      const found = await records.findAgreement(books, payee.id, id)
      return accept(found && agreementOf(found, nowOf(payee)))
    },
    async cancelAgreement(payee, { id }) {
      const outcome = await decide(payee.id, id, 'cancel', null, nowOf(payee))
      return outcome.kind === 'accepted' ? accept(null) : outcome
    },
  }
}

function toRecord(payee: Payee, order: AgreementOrder, host: string, now: Date): AgreementRecord {
  const { id, value, frequency, retries, expiresAt } = order
  const { id: accountId, name, city } = payee
  const location = `${host}${LOCATION_PATH}${packPair(accountId, id)}`
  return {
    accountId,
    id,
    value,
    frequency,
    retries,
    expiresAt,
    externalId: agreementId(retries, localDateOf(now)),
    brCode: recurrenceCode({ location, name, city }),
    status: 'CREATED',
    funds: true,
    createdAt: now,
    decidedAt: null,
  }
}

/** If nobody decides before `expiresAt`, the agreement is EXPIRED. */
export const statusOf = ({ status, expiresAt }: AgreementRecord, now: Date): AgreementStatus =>
  status === 'CREATED' && expiresAt <= now ? 'EXPIRED' : status

function agreementOf(agreement: AgreementRecord, now: Date): Agreement {
  const { externalId, brCode, decidedAt, expiresAt } = agreement
  const status = statusOf(agreement, now)
  return { externalId, brCode, status, decidedAt: status === 'EXPIRED' ? expiresAt : decidedAt }
}

const DECISIONS = {
  approve: { to: 'APPROVED', from: ['CREATED', 'APPROVED'], done: 'approved' },
  reject: { to: 'REJECTED', from: ['CREATED', 'REJECTED'], done: 'rejected' },
  cancel: { to: 'CANCELED', from: ['CREATED', 'APPROVED', 'CANCELED'], done: 'canceled' },
} as const satisfies Record<
  Decision,
  { to: AgreementRecord['status']; from: AgreementStatus[]; done: string }
>

/** The agreement after a decision, or why the decision is not possible. */
function decisionOn(
  agreement: AgreementRecord,
  decision: Decision,
  funds: boolean | null,
  now: Date,
): AgreementRecord | string {
  const { to, done, ...allowed } = DECISIONS[decision]
  const from: readonly AgreementStatus[] = allowed.from
  const status = statusOf(agreement, now)
  if (!from.includes(status)) return `the agreement is ${status} and cannot be ${done}`
  const filled = decision === 'approve' && funds !== null ? { funds } : {}
  const decidedAt = status === to ? agreement.decidedAt : now
  return { ...agreement, ...filled, status: to, decidedAt }
}
