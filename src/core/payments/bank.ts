import type { Static } from 'typebox'
import { toPublic, type Uuid, unpackPair } from '../../lib/ids.ts'
import { toCents } from '../../lib/money.ts'
import { invalid, problem } from '../../lib/problems.ts'
import { parse } from '../../pix/brcode.ts'
import { callbackBody } from '../../provider/callback.ts'
import type { Transfer } from '../../provider/simulator/records.ts'
import { chargeTxid, namedBy, staticTxid } from '../../provider/txid.ts'
import type { App } from '../app.ts'
import { findStaticCode } from '../charges/static-store.ts'
import { findMany } from '../charges/store.ts'
import type { Company } from '../companies/rules.ts'
import { findCompany } from '../companies/store.ts'
import { receiveCallback } from './callbacks.ts'
import { isPlayable, payableBy } from './rules.ts'
import type { BankPayment, BankReceipt } from './view.ts'

/** What a code of the simulated bank asks for, and whom it pays. */
export type Asked = { company: Company; txid: string; amount: number; charge?: Uuid; code?: Uuid }

/**
 * Pays a code as the payer's bank would: late, twice or in another amount, if that is what is
 * asked. The bank keeps its own record first, then calls back like any bank.
 */
export async function payAtBank(
  app: App,
  order: Static<typeof BankPayment>,
): Promise<Static<typeof BankReceipt>> {
  const asked = await readAtBank(app, order.brCode.trim())
  const { company, txid } = asked
  const amount = toCents(order.amount ?? asked.amount)
  const transfer = await app.providers.simulator.pay(company, {
    ...{ txid, amount },
    ...(order.endToEndId ? { endToEndId: order.endToEndId } : {}),
    ...(order.payer ? { payer: order.payer } : {}),
  })
  requireSame(transfer, { txid, amount })
  const body = callbackBody({ ...transfer, receivedAt: transfer.at })
  const { processed } = await receiveCallback(app, company.id, app.providers.simulator.name, body)
  await processed
  return showReceipt(asked, transfer)
}

function requireSame(transfer: Transfer, { txid, amount }: { txid: string; amount: number }) {
  if (transfer.txid === txid && transfer.amount === amount) return
  throw problem(
    'idempotency_key_reused',
    'endToEndId: it names an earlier payment of another code or amount. Leave it out, or send a new one.',
  )
}

const showReceipt = (asked: Asked, { endToEndId, amount, at }: Transfer) => ({
  ...{ endToEndId, amount, paidAt: at.toISOString() },
  receiver: { name: asked.company.name, city: asked.company.city },
  ...(asked.charge ? { chargeId: toPublic('charge', asked.charge) } : {}),
  ...(asked.code ? { correlationID: toPublic('qrs', asked.code) } : {}),
})

const unknownCode = () =>
  problem('charge_not_found', 'brCode: the simulated bank has issued no such code.')

/** Finds what a code stands for, as a payer's bank does through the code's location or key. */
export async function readAtBank(app: App, brCode: string): Promise<Asked> {
  const read = parse(brCode)
  if (read.kind === 'fault') throw invalid(`brCode: is not a valid Pix code (${read.reason})`)
  if (read.kind === 'recurrence') {
    throw invalid('brCode: is a code to agree to, and asks for no payment: /bank/authorizations')
  }
  const asked =
    read.kind === 'dynamic'
      ? await resolveLocation(app, read.location, brCode)
      : await resolveKey(app, read.key, read.txid ?? null, brCode)
  if (!asked) throw unknownCode()
  return asked
}

async function resolveLocation(app: App, location: string, brCode: string): Promise<Asked | null> {
  const named = unpackPair(location.slice(location.lastIndexOf('/') + 1))
  const [charge] = named ? await findMany(app.db, [named]) : []
  if (!charge || charge.brCode !== brCode) return null
  const company = await findSimulated(app, charge)
  const { id, amount } = charge
  return company && { company, txid: chargeTxid(id), amount, charge: id }
}

async function resolveKey(
  app: App,
  key: string,
  txid: string | null,
  brCode: string,
): Promise<Asked | null> {
  const named = namedBy(txid)
  const code = named && 'code' in named ? await findStaticCode(app.db, key, named.code) : null
  if (!code || code.brCode !== brCode) return null
  const company = await findSimulated(app, code)
  const { id, amount } = code
  return company && { company, txid: staticTxid(id), amount, code: id }
}

/** The company of a code, if the simulated bank has issued it and lets anybody pay it. */
async function findSimulated(
  app: App,
  { companyId, devMode }: { companyId: Uuid; devMode: boolean },
): Promise<Company | null> {
  const company = await findCompany(app.db, companyId)
  const isSimulated = company && payableBy(company, devMode) === 'simulated'
  return isSimulated && isPlayable(app.config, company) ? company : null
}
