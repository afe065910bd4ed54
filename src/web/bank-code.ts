import { asOf, type Charge, type ChargeStatus } from '../core/charges/rules.ts'
import { findMany } from '../core/charges/store.ts'
import { nowOf } from '../core/companies/clock.ts'
import type { Company } from '../core/companies/rules.ts'
import type { FullApp, FullFront } from '../core/full-app.ts'
import type { Payment } from '../core/payments/rules.ts'
import { findByIds as findPayments } from '../core/payments/store.ts'
import type { Recurrence } from '../core/recurrences/rules.ts'
import { find as findRecurrence } from '../core/recurrences/store.ts'
import { readAgreementCode } from '../core/simulated-bank/agreements.ts'
import { type PaymentCode, readPaymentCode } from '../core/simulated-bank/payments.ts'
import {
  type AgreementRecord,
  findAgreement,
  findTransfers,
  statusOf,
  type Transfer,
} from '../core/simulated-bank/records.ts'
import { Problem } from '../lib/problems.ts'
import { type BrCode, type Fault, parse } from '../pix/brcode.ts'
import type { AgreementStatus } from '../provider/port.ts'

/** What a payer's bank reads from a code. */
export type CodeContent =
  | { kind: 'fault'; reason: Fault['reason'] | 'unknown' }
  | PaymentContent
  | AgreementContent

export type PaymentContent = {
  kind: 'payment'
  /** The app of the place in which the company lives. */
  app: FullApp
  company: Company
  read: BrCode
  asked: PaymentCode
  /** Null if it is a static code. */
  charge: Charge | null
  status: ChargeStatus
}

export type AgreementContent = {
  kind: 'agreement'
  app: FullApp
  company: Company
  agreement: AgreementRecord
  status: AgreementStatus
  recurrence: Recurrence | null
}

/** Looks up a code, as a bank does before it shows a payment to its customer. */
export async function readCode(app: FullFront, code: string): Promise<CodeContent> {
  const read = parse(code)
  if (read.kind === 'fault') return { kind: 'fault', reason: read.reason }
  try {
    return await (read.kind === 'recurrence'
      ? readAgreement(app, code)
      : readPayment(app, code, read))
  } catch (error) {
    if (error instanceof Problem && error.status === 404)
      return { kind: 'fault', reason: 'unknown' }
    throw error
  }
}

async function readPayment(anyApp: FullFront, code: string, read: BrCode): Promise<PaymentContent> {
  const asked = await readPaymentCode(anyApp, code)
  const { app, company } = asked
  const wanted = asked.charge ? [{ companyId: company.id, id: asked.charge }] : []
  const [found] = wanted.length > 0 ? await findMany(app.db, wanted) : []
  const charge = found ? asOf(found, nowOf(app, company)) : null
  const status = charge?.status ?? 'OPEN'
  return { kind: 'payment', app, company, read, asked, charge, status }
}

async function readAgreement(anyApp: FullFront, code: string): Promise<AgreementContent> {
  const { app, company, id } = await readAgreementCode(anyApp, code)
  const agreement = (await findAgreement(app.db, company.id, id))!
  const recurrence = await findRecurrence(app.db, company.id, id)
  const status = statusOf(agreement, nowOf(app, company))
  return { kind: 'agreement', app, company, agreement, status, recurrence }
}

/** A payment that was made here, and how the company has recorded it. */
export type MadePayment = { transfer: Transfer; payment: Payment | null }

/** The payments with these ids to this company, in their order. */
export async function findMadePayments(
  { db }: FullApp,
  company: Company,
  ids: string[],
): Promise<MadePayment[]> {
  const transfers = await findTransfers(db, company.id, ids)
  const payments = await findPayments(db, company.id, 'simulated', ids)
  return ids.flatMap((id) => {
    const transfer = transfers.find(({ endToEndId }) => endToEndId === id)
    const payment = payments.find(({ endToEndId }) => endToEndId === id) ?? null
    return transfer ? [{ transfer, payment }] : []
  })
}
