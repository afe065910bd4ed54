import assert from 'node:assert/strict'
import { test } from 'node:test'
import { auditCompany } from '../../src/core/audits/commands.ts'
import { suffixOf } from '../../src/lib/ids.ts'
import { localDateOf } from '../../src/pix/local-time.ts'
import {
  billDue,
  carryOutRefunds,
  expireChargesAtBanks,
  followDue,
  generateDue,
  payOutWithdrawals,
  processDueCallbacks,
  reconcileDue,
  releaseDueCharges,
  removeOrphans,
} from '../../src/worker/due.ts'
import type { StyleOptions } from '../bank/bank.ts'
import type { Rates } from '../bank/faults.ts'
import { ITAU_CLOCK, PLAIN, SICOOB_DOCUMENT } from '../bank/style.ts'
import { startApi } from '../support/api.ts'
import { type Banked, openBanked, pixBody } from '../support/bank.ts'
import { isLong } from '../support/long.ts'
import { lastCode } from '../support/mail.ts'
import { makeCustomer, makeRecurring, RECURRENCES } from '../support/subscriptions.ts'
import { createRandom } from './random.ts'

const OPERATIONS = Number(process.env.BANK_OPERATIONS ?? (isLong ? 1_000 : 150))
const SEED = Number(process.env.SEED ?? 20260820)

const RATES: Rates = {
  calls: {
    'lose answer': 0.05,
    drop: 0.04,
    '5xx': 0.05,
    '5xx after effect': 0.04,
    html: 0.03,
    'html 200': 0.03,
    'gateway 404': 0.03,
    'expired token': 0.02,
    'too many': 0.02,
    busy: 0.02,
  },
  callbacks: { lost: 0.2, doubled: 0.2, reordered: 0.2, held: 0.1 },
}

const api = await startApi()
const { app } = api

/** All that a worker does with a bank, in the order of the moment. */
const TASKS = [
  processDueCallbacks,
  reconcileDue,
  expireChargesAtBanks,
  releaseDueCharges,
  carryOutRefunds,
  payOutWithdrawals,
  removeOrphans,
  followDue,
  generateDue,
  billDue,
]

async function work(): Promise<void> {
  for (const task of TASKS) await task.run(app)
}

async function callbacksProcessed({ bank }: Banked): Promise<void> {
  await bank.callbacksSent()
  await app.callbacks.process.idle()
}

type Known = { id: string; brCode: string }

/** A merchant whose bank fails at random, and who does not give up. */
function openMerchant(shop: Banked, random: () => number) {
  const charges: Known[] = []
  const codes: string[] = []
  const agreements: string[] = []
  const unanswered: { key: string; body: object; tries: number }[] = []
  let keys = 0
  const { bank } = shop

  async function send(order: (typeof unanswered)[number]): Promise<void> {
    const headers = { 'Idempotency-Key': order.key }
    const reply = await shop.post('/charge/pix', order.body, { headers })
    assert.ok([201, 503].includes(reply.status), reply.text)
    if (reply.status === 201) charges.push(reply.body.data)
    else if (order.tries < 3) unanswered.push({ ...order, tries: order.tries + 1 })
  }
  const some = <T>(all: T[]): T | undefined => all[Math.floor(random() * all.length)]

  return {
    charges,
    create: () =>
      send({ key: `k${++keys}`, body: pixBody({ amount: 500 + keys, expiresIn: 3600 }), tries: 0 }),
    async createAgain() {
      const order = unanswered.shift()
      if (order) await send(order)
    },
    async pay() {
      const charge = some(charges)
      if (!charge) return
      const amount = random() < 0.1 ? 333 : undefined
      bank.payer.pay(charge.brCode, amount ? { amount } : {})
    },
    async payCode() {
      if (codes.length < 3) {
        const { body } = await shop.post('/charge/pix/static', { amount: 700 })
        codes.push(body.data.brCode)
      }
      bank.payer.pay(some(codes)!)
    },
    async payKey() {
      bank.payer.payKey(shop.company.pixKey, 123)
    },
    async cancel() {
      const charge = some(charges)
      if (!charge) return
      const reply = await shop.post(`/charge/${charge.id}/cancel`)
      assert.ok([200, 409, 503].includes(reply.status), reply.text)
    },
    async refund() {
      const charge = some(charges)
      if (!charge) return
      const reply = await shop.post(`/refund/${charge.id}`, random() < 0.5 ? { value: 100 } : {})
      assert.ok([201, 409, 422].includes(reply.status), reply.text)
      if (random() < 0.5) bank.course({ refunds: random() < 0.5 ? 'later' : 'at once' })
    },
    /** The bank returns a payment by itself, or a part of it. */
    async returnByBank() {
      const { pix, refunds } = bank.state()
      const left = ({ endToEndId, amount }: { endToEndId: string; amount: number }) =>
        refunds
          .filter((one) => one.endToEndId === endToEndId && one.status !== 'NAO_REALIZADO')
          .reduce((rest, one) => rest - one.amount, amount)
      const claimed = some([...pix.values()].filter((one) => left(one) > 0))
      if (!claimed) return
      const amount = random() < 0.5 ? left(claimed) : Math.ceil(left(claimed) / 2)
      bank.returnByItself(claimed.endToEndId, { amount })
    },
    /** One at a time, through the bank. */
    async withdraw() {
      const started = await shop.post('/account-balance/withdraw', { value: 1 + keys })
      assert.ok([201, 409, 422].includes(started.status), started.text)
      if (started.status !== 201) return
      const otp = await lastCode(api, shop.company.id)
      const path = `/account-balance/withdraw/${started.body.data.withdrawId}`
      assert.equal((await shop.post(`${path}/confirm`, { otp })).status, 200)
      bank.course({ sends: random() < 0.5 ? 'later' : 'at once' })
    },
    async subscribe() {
      const productId = await makeRecurring(shop, { frequency: 'WEEKLY', dayDue: 3 })
      const customerId = await makeCustomer(shop)
      const reply = await shop.post(RECURRENCES, { productId, customerId })
      assert.ok([201, 503].includes(reply.status), reply.text)
      if (reply.status === 201) agreements.push(reply.body.data.emv)
    },
    async decide() {
      const emv = agreements.pop()
      if (emv) bank.payer[random() < 0.8 ? 'approve' : 'reject'](emv)
    },
    async pass() {
      api.clock.advance(Math.floor(random() * 1200))
      collect()
      bank.finishRefunds(random() < 0.9)
      bank.finishSends(random() < 0.9)
      await work()
    },
    async passDay() {
      api.clock.advance(86_400)
      collect()
      await work()
    },
  }
  /** What payers' banks do by the day. */
  function collect() {
    const today = localDateOf(api.clock.now())
    const days = [...bank.state().cobrs.values()].flatMap(({ attempts }) =>
      attempts.flatMap(({ on }) => (on <= today ? [on] : [])),
    )
    for (const on of new Set(days)) bank.collect(on, () => (random() < 0.6 ? 'PAGA' : 'REJEITADA'))
  }
}

type Merchant = ReturnType<typeof openMerchant>
type Deed = Exclude<keyof Merchant, 'charges'>

const CHANCES: [deed: Deed, chance: number][] = [
  ['create', 0.28],
  ['returnByBank', 0.02],
  ['createAgain', 0.1],
  ['pay', 0.22],
  ['payCode', 0.05],
  ['payKey', 0.02],
  ['cancel', 0.05],
  ['refund', 0.1],
  ['subscribe', 0.02],
  ['decide', 0.02],
  ['withdraw', 0.02],
  ['pass', 0.09],
  ['passDay', 0.01],
]

function choose(number: number): Deed {
  let sum = 0
  for (const [deed, chance] of CHANCES) {
    sum += chance
    if (number < sum) return deed
  }
  return 'create'
}

const LOCAL_CLOCK: [StyleOptions, StyleOptions][] = [[{ clock: 'UTC' }, ITAU_CLOCK]]
/** The clock of the bank is Itaú's for every other seed, and so is what the profile says of it. */
const HAS_LOCAL_CLOCK = SEED % 2 === 0
const { errors, emptyList, decimals, datesReturns } = PLAIN
/**
 * Ways of real banks, and how the bank is without each. A clock that is set right is no trouble for
 * a profile that calls it wrong, because the minute in the id of a payment decides.
 */
const WAYS: [way: StyleOptions, otherwise: StyleOptions][] = [
  [SICOOB_DOCUMENT, { errors, emptyList, decimals, datesReturns }],
  [{ pixInCob: false }, { pixInCob: true }],
  [{ txid: 'txId' }, { txid: 'txid' }],
  [{ emptyList: 204 }, { emptyList }],
  ...(HAS_LOCAL_CLOCK ? LOCAL_CLOCK : []),
]
const OPERATIONS_PER_WAY = 10

/** The bank gets one way after the other, or loses it again. The seed says which is first. */
function createChanges(bank: Banked['bank']): () => void {
  let next = SEED
  const isOn = WAYS.map(() => false)
  return () => {
    const index = next++ % WAYS.length
    const [way, otherwise] = WAYS[index]!
    isOn[index] = !isOn[index]
    bank.style(isOn[index] ? way : otherwise)
  }
}

/** The bank is well again: everything comes to its end. */
async function recover(shop: Banked): Promise<void> {
  const { bank } = shop
  bank.faults.clear()
  // If no callback names an undecided agreement, the bank is asked about it once a day at least.
  for (const seconds of [...Array.from({ length: 7 }, () => 1801), 86_400]) {
    bank.callbacks.releaseHeld()
    await callbacksProcessed(shop)
    bank.finishRefunds()
    bank.finishSends()
    api.clock.advance(seconds)
    await work()
  }
}

const companyOf = (shop: Banked) => [shop.company.id]

test(`${OPERATIONS} operations at a bank that fails at random (SEED=${SEED}): nothing is lost or doubled`, async () => {
  const random = createRandom(SEED + 1).part
  const style = { sends: 'efi' as const, ...(HAS_LOCAL_CLOCK ? ITAU_CLOCK : {}) }
  const shop = await openBanked(api, { style, payouts: 'bank' })
  const { bank } = shop
  const merchant = openMerchant(shop, random)
  bank.faults.random(SEED, RATES)
  const change = createChanges(bank)
  for (let n = 0; n < OPERATIONS; n++) {
    if (n % OPERATIONS_PER_WAY === 0) change()
    await merchant[choose(random())]()
  }
  await recover(shop)
  const made = bank.faults.made.length
  assert.ok(made > OPERATIONS / 5, `${made} faults`)
  await requireCharges(shop, merchant)
  await requirePayments(shop)
  await requirePaidInTime(shop)
  await requireEvents(shop)
  await requireRefunds(shop)
  await requireAgreements(shop)
  await requireSent(shop)
  const audit = await auditCompany(app, shop.company.id, { whole: true })
  assert.deepEqual([audit.bank, audit.faults], ['asked', []])
})

/** Whoever has a code has a charge; what nobody has a code of cannot be paid. */
async function requireCharges(shop: Banked, { charges }: Merchant): Promise<void> {
  const rows = await api.rows<{ id: string; status: string; br_code: string | null }>(
    `select id, status, br_code from charges where company_id = $1 and kind = 'PIX'`,
    companyOf(shop),
  )
  const ours = new Map(rows.map((row) => [suffixOf(row.id), row]))
  assert.equal(new Set(charges.map(({ id }) => id)).size, charges.length, 'each answered once')
  for (const { id, brCode } of charges) {
    assert.equal(ours.get(id.slice('charge_'.length))?.br_code, brCode)
  }
  for (const { txid, code, status } of shop.bank.state().charges.values()) {
    const charge = ours.get(txid)
    if (!charge) assert.equal(status, 'REMOVIDA_PELO_USUARIO_RECEBEDOR', 'an orphan is removed')
    else assert.equal(charge.br_code, code)
    if (charge?.status === 'CANCELED') assert.match(status, /^REMOVIDA/)
    if (charge?.status === 'COMPLETED') assert.equal(status, 'CONCLUIDA')
  }
  await app.charges.removeIntent.idle()
  const left = await api.rows('select 1 from charge_intents where company_id = $1', companyOf(shop))
  assert.equal(left.length, 0)
}

/** Every Pix that the bank has received is recorded once, to the cent. */
async function requirePayments(shop: Banked): Promise<void> {
  const rows = await api.rows<{ end_to_end_id: string; amount: number; booked: boolean }>(
    'select end_to_end_id, amount, booked from payments where company_id = $1',
    companyOf(shop),
  )
  const here = rows.map(({ end_to_end_id: id, amount, booked }) => [id, amount, booked]).sort()
  const there = [...shop.bank.state().pix.values()]
    .map(({ endToEndId, amount }) => [endToEndId, amount, true])
    .sort()
  assert.deepEqual(here, there)
}

/** A charge that was paid in time, whenever we learned of it, is not expired. */
async function requirePaidInTime(shop: Banked): Promise<void> {
  const wrong = await api.rows(
    `select c.id from charges c join payments p on p.company_id = c.company_id
       and p.charge_id = c.id and p.amount = c.amount and p.received_at <= c.expires_at
     where c.company_id = $1 and c.kind = 'PIX' and c.status in ('OPEN', 'EXPIRED')`,
    companyOf(shop),
  )
  assert.deepEqual(wrong, [])
}

/** No end of a charge happens twice, and no charge expires after it was paid. */
async function requireEvents(shop: Banked): Promise<void> {
  const rows = await api.rows<{ id: string; types: string }>(
    `select payload::json->'charge'->>'id' as id, string_agg(type, ' ' order by position, id) types
     from events where company_id = $1 and type in ('charge.paid', 'charge.expired', 'charge.canceled')
     group by 1`,
    companyOf(shop),
  )
  for (const { id, types } of rows) {
    assert.match(types, /^(charge\.canceled|(charge\.expired ?)?(charge\.paid)?)$/, id)
  }
}

/** What went back here went back there, once. */
async function requireRefunds(shop: Banked): Promise<void> {
  const rows = await api.rows<{ return_id: string; amount: number; status: string }>(
    'select return_id, amount, status from refunds where company_id = $1',
    companyOf(shop),
  )
  assert.deepEqual(
    rows.filter(({ status }) => status === 'PROCESSING'),
    [],
  )
  const done = rows.filter(({ status }) => status === 'COMPLETED')
  const here = done.map(({ return_id: id, amount }) => [id, amount]).sort()
  const there = shop.bank
    .state()
    .refunds.filter(({ status }) => status === 'DEVOLVIDO')
    .map(({ returnId, amount }) => [returnId, amount])
    .sort()
  assert.deepEqual(here, there)
}

/** What was sent there is completed here, and nothing else was sent. */
async function requireSent(shop: Banked): Promise<void> {
  const rows = await api.rows<{ id: string; value: number; status: string }>(
    'select id, value, status from withdrawals where company_id = $1',
    companyOf(shop),
  )
  assert.ok(rows.every(({ status }) => ['COMPLETED', 'FAILED'].includes(status)))
  const done = rows.filter(({ status }) => status === 'COMPLETED')
  const here = done.map(({ id, value }) => [suffixOf(id), value]).sort()
  const there = [...shop.bank.state().sends.values()]
    .filter(({ status }) => status === 'REALIZADO')
    .map(({ id, amount }) => [id, amount])
    .sort()
  assert.deepEqual(here, there)
}

/** One agreement there for each of ours, and one collection for each charge of it. */
async function requireAgreements(shop: Banked): Promise<void> {
  const { recs, cobrs } = shop.bank.state()
  const contracts = [...recs.values()].map(({ contract }) => contract)
  assert.equal(new Set(contracts).size, contracts.length)
  const rows = await api.rows<{ external_id: string; auth_status: string }>(
    'select external_id, auth_status from recurrences where company_id = $1',
    companyOf(shop),
  )
  const STATUS: Record<string, string> = { APROVADA: 'APPROVED', REJEITADA: 'REJECTED' }
  for (const { external_id: id, auth_status: status } of rows) {
    assert.equal(status, STATUS[recs.get(id)!.status] ?? status, id)
  }
  const billed = await api.rows<{ id: string; status: string }>(
    `select id, status from charges where company_id = $1 and kind = 'RECURRING'`,
    companyOf(shop),
  )
  const ours = new Map(billed.map(({ id, status }) => [suffixOf(id), status]))
  for (const { txid, status } of cobrs.values()) {
    assert.ok(ours.has(txid), 'a collection has its charge')
    assert.equal(ours.get(txid) === 'COMPLETED', status === 'CONCLUIDA', txid)
  }
}
