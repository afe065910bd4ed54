import type { Static } from 'typebox'
import { toPublic, type Uuid, unpackPair } from '../../lib/ids.ts'
import { toCents } from '../../lib/money.ts'
import { invalid, problem } from '../../lib/problems.ts'
import { parse } from '../../pix/brcode.ts'
import { callbackBody } from '../../provider/callback.ts'
import { ISPB } from '../../provider/simulator/scheme.ts'
import { chargeTxid, namedBy, staticTxid } from '../../provider/txid.ts'
import type { App, Uses } from '../app.ts'
import { amountAt } from '../charges/rules.ts'
import { findStaticCode } from '../charges/static.ts'
import { findMany } from '../charges/store.ts'
import { nowOf } from '../companies/clock.ts'
import type { Company } from '../companies/rules.ts'
import { findCompany } from '../companies/store.ts'
import { type AppWithCallbacks, receiveCallback } from '../payments/callbacks.ts'
import { isPlayable, payableBy } from '../payments/rules.ts'
import { findInAny } from '../places/across.ts'
import { type Front, placeOf } from '../places/front.ts'
import type { Transfer } from './records.ts'
import type { BankPayment, BankReceipt } from './view.ts'

/** A code of the simulated bank: whom it pays, how much, and the charge or static code it names. */
export type PaymentCode<A = App> = {
  /** The app of the place in which the company lives. */
  app: A
  company: Company
  txid: string
  amount: number
  charge?: Uuid
  staticCode?: Uuid
}

/**
 * Pays a code as the payer's bank does. It may be late, repeated or of another amount. The bank
 * first records the transfer itself, then sends a callback as every bank does.
 */
export async function payCode(
  front: Front<AppWithCallbacks>,
  order: Static<typeof BankPayment>,
): Promise<Static<typeof BankReceipt>> {
  const code = await readPaymentCode(front, order.brCode.trim())
  const { app, company, txid } = code
  const amount = toCents(order.amount ?? code.amount)
  const transfer = await app.providers.simulator.pay(company, {
    txid,
    amount,
    ...(order.endToEndId ? { endToEndId: order.endToEndId } : {}),
    ...(order.payer ? { payer: order.payer } : {}),
  })
  requireSame(transfer, { txid, amount })
  const body = callbackBody({ ...transfer, receivedAt: transfer.at })
  const { processed } = await receiveCallback(app, company.id, app.providers.simulator.name, body)
  await processed
  return showReceipt(code, transfer)
}

/** The scheme's id of a payment that is the same for the same seed, so that it can be repeated. */
export function repeatableId(at: Date, seed: Buffer): string {
  const minute = at.toISOString().replace(/\D/g, '').slice(0, 12)
  return `E${ISPB}${minute}${seed.toString('hex').slice(0, 11)}`
}

function requireSame(transfer: Transfer, { txid, amount }: { txid: string; amount: number }) {
  if (transfer.txid === txid && transfer.amount === amount) return
  throw problem(
    'idempotency_key_reused',
    'endToEndId: it names an earlier payment of another code or amount. Leave it out, or send a new one.',
  )
}

const showReceipt = (code: PaymentCode, { endToEndId, amount, at }: Transfer) => ({
  endToEndId,
  amount,
  paidAt: at.toISOString(),
  receiver: { name: code.company.name, city: code.company.city },
  ...(code.charge ? { chargeId: toPublic('charge', code.charge) } : {}),
  ...(code.staticCode ? { correlationID: toPublic('qrs', code.staticCode) } : {}),
})

const unknownCode = () =>
  problem('charge_not_found', 'brCode: the simulated bank has issued no such code.')

/** Finds what a code pays, as a payer's bank does by the code's location or key. */
export async function readPaymentCode<A extends App>(
  front: Front<A>,
  brCode: string,
): Promise<PaymentCode<A>> {
  const read = parse(brCode)
  if (read.kind === 'fault') throw invalid(`brCode: is not a valid Pix code (${read.reason})`)
  if (read.kind === 'recurrence') {
    throw invalid('brCode: is a code to agree to, and asks for no payment: /bank/authorizations')
  }
  const code =
    read.kind === 'dynamic'
      ? await resolveLocation(front, read.location, brCode)
      : await resolveKey(front, read.key, read.txid ?? null, brCode)
  if (!code) throw unknownCode()
  return code
}

async function resolveLocation<A extends App>(
  front: Front<A>,
  location: string,
  brCode: string,
): Promise<PaymentCode<A> | null> {
  const named = unpackPair(location.slice(location.lastIndexOf('/') + 1))
  const app = await placeOf(front, named?.companyId)
  const [charge] = named ? await findMany(app.db, [named]) : []
  if (!charge || charge.brCode !== brCode) return null
  const company = await findSimulated(app, charge)
  if (!company) return null
  const amount = amountAt(charge, nowOf(app, company))
  return { app, company, txid: chargeTxid(charge.id), amount, charge: charge.id }
}

async function resolveKey<A extends App>(
  front: Front<A>,
  key: string,
  txid: string | null,
  brCode: string,
): Promise<PaymentCode<A> | null> {
  const named = namedBy(txid)
  const code = named && 'code' in named ? await findStatic(front, key, named.code) : null
  if (!code || code.brCode !== brCode) return null
  const app = await placeOf(front, code.companyId)
  const company = await findSimulated(app, code)
  const { id, amount } = code
  return company && { app, company, txid: staticTxid(id), amount, staticCode: id }
}

/** Neither a Pix key nor the id of a code says where the company is, so all places are asked. */
const findStatic = (front: Front, key: string, id: Uuid) =>
  findInAny(front, (db) => findStaticCode(db, key, id))

/** The company of a code, if the simulated bank issued the code and anybody may pay it. */
async function findSimulated(
  app: Uses<'config' | 'db'>,
  { companyId, devMode }: { companyId: Uuid; devMode: boolean },
): Promise<Company | null> {
  const company = await findCompany(app.db, companyId)
  const isSimulated = company && payableBy(company, devMode) === 'simulated'
  return isSimulated && isPlayable(app.config, company) ? company : null
}
