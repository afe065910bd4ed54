import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createApp } from '../../../src/app.ts'
import { auditCompany } from '../../../src/core/audits/commands.ts'
import type { FullApp } from '../../../src/core/full-app.ts'
import { receiveCallback } from '../../../src/core/payments/callbacks.ts'
import { fromPublic, newId, suffixOf, toPublic, type Uuid } from '../../../src/lib/ids.ts'
import { createLog } from '../../../src/lib/log.ts'
import { toCents } from '../../../src/lib/money.ts'
import { callbackBody } from '../../../src/provider/callback.ts'
import { chargeTxid, staticTxid } from '../../../src/provider/txid.ts'
import { processDueCallbacks, reconcileDue } from '../../../src/worker/due.ts'
import { type Client, eventsOf, startApi } from '../../support/api.ts'
import {
  balancesOf,
  makeCharge,
  makeCode,
  movementsOf,
  NONSENSE,
  transfersOf,
} from '../../support/payments.ts'

const SIZE = Number(process.env.STORM_PAYMENTS ?? 200)
const SEED = Number(process.env.STORM_SEED ?? 1)
/** Callbacks that the bank has open at once. */
const AT_ONCE = 256
/** What is made or paid at once before the storm. */
const MAKERS = 32
/** How often a callback is taken up before it is given up. */
const TRIES = 7

const times = <T>(count: number, make: (n: number) => T): T[] =>
  Array.from({ length: count }, (_, n) => make(n))

/** Numbers from 0 up to 1, the same for the same seed (mulberry32). */
function generator(seed: number): () => number {
  let state = seed
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
}

const random = generator(SEED)
const below = (limit: number): number => Math.floor(random() * limit)
const some = <T>(list: readonly T[]): T => list[below(list.length)]!

function shuffle<T>(list: T[]): T[] {
  for (let i = list.length - 1; i > 0; i--) {
    const j = below(i + 1)
    ;[list[i], list[j]] = [list[j]!, list[i]!]
  }
  return list
}

/** Works a list off, several at a time. */
async function each<T>(
  list: T[],
  concurrency: number,
  work: (item: T, n: number) => Promise<void>,
) {
  let next = 0
  const worker = async () => {
    for (let n = next++; n < list.length; n = next++) await work(list[n]!, n)
  }
  await Promise.all(times(concurrency, worker))
}

const api = await startApi()
const companies = await Promise.all(times(6, () => api.client()))
/** Gets callbacks of other companies' payments only. */
const bystander = await api.client()
/** To the database the second is another process: it has its own pool and groups. */
const apps = [api.app, startSecond()]

function startSecond(): FullApp {
  const { config, clock, publicUrl } = api.app
  const { databaseUrl } = api
  const app = createApp({ config, databaseUrl, clock, log: createLog('silent'), publicUrl })
  api.atEnd(async () => {
    app.mailer.close()
    await app.sender.close()
    await app.db.end()
  })
  return app
}

/** When the bank sends the callback of a payment. If never, the payment is found by asking. */
type CallbackTime = 'soon' | 'late' | 'never'
const CALLBACK_TIMES: CallbackTime[] = [...times(8, () => 'soon' as const), 'late', 'never']

type Pix = { endToEndId: string; amount: number; callbackTime: CallbackTime }

/** What is paid where an amount is asked for, how many of it pay a charge, and how often it is. */
type Kind = { paid: (amount: number) => number[]; matched: 0 | 1; share: number }

const KINDS = {
  exact: { paid: (amount) => [amount], matched: 1, share: 8 },
  twice: { paid: (amount) => [amount, amount], matched: 1, share: 2 },
  expired: { paid: (amount) => [amount], matched: 0, share: 1 },
  canceled: { paid: (amount) => [amount], matched: 0, share: 1 },
  wrong: { paid: (amount) => [amount + 1], matched: 0, share: 1 },
  wrongAndExact: { paid: (amount) => [amount - 1, amount], matched: 1, share: 1 },
  counter: { paid: (amount) => [amount], matched: 1, share: 3 },
  counterWrong: { paid: (amount) => [amount + 1], matched: 0, share: 1 },
  unknown: { paid: (amount) => [amount], matched: 0, share: 1 },
  ofAnother: { paid: (amount) => [amount], matched: 0, share: 1 },
} satisfies Record<string, Kind>
type KindName = keyof typeof KINDS
const SHARES = Object.entries(KINDS).flatMap(([kind, { share }]) =>
  times(share, () => kind as KindName),
)

/** One thing that is paid for, in one or two payments. */
type Case = {
  kind: KindName
  client: Client
  amount: number
  payments: Pix[]
  /** The charge that can be paid by it. */
  chargeId?: Uuid
}

const schemeId = (): string => `E99999999202608201500${times(11, () => below(10)).join('')}`

/** Codes for the counter, which many payments name. */
const codes = new Map(
  await Promise.all(
    companies.map(async (client) => {
      const amounts = times(3, () => 1 + below(5000))
      const made = await Promise.all(amounts.map((amount) => makeCode(client, amount)))
      return [
        client,
        new Map(made.map(({ id }, n) => [amounts[n]!, fromPublic('qrs', id)!])),
      ] as const
    }),
  ),
)

/** Draws all that is paid, half of it for the first company, before anything else goes on. */
function plan(): Case[] {
  const cases: Case[] = []
  for (let paid = 0; paid < SIZE; paid += cases.at(-1)!.payments.length) {
    const client = random() < 0.5 ? companies[0]! : some(companies.slice(1))
    const kind = some(SHARES)
    const atCounter = kind === 'counter' || kind === 'counterWrong'
    const amount = atCounter ? some([...codes.get(client)!.keys()]) : 500 + below(100_000)
    const payments = KINDS[kind].paid(amount).map((amount) => {
      return { endToEndId: schemeId(), amount, callbackTime: some(CALLBACK_TIMES) }
    })
    cases.push({ kind, client, amount, payments })
  }
  return cases
}

/** Makes what is paid for, and gives the txid that its payments carry. */
async function makeTarget(one: Case): Promise<string | null> {
  const { kind, client, amount } = one
  const code = codes.get(client)!.get(amount)
  if (kind === 'counter' || kind === 'counterWrong') return staticTxid(code!)
  if (kind === 'unknown') return [null, 'loja1', suffixOf(newId())][amount % 3] ?? null
  const payee = kind === 'ofAnother' ? companies.find((other) => other !== client)! : client
  const { id } = await makeCharge(payee, amount, { expiresIn: kind === 'expired' ? 1 : 86_400 })
  if (kind === 'canceled') await client.post(`/charge/${id}/cancel`)
  const chargeId = fromPublic('charge', id)!
  if (kind !== 'ofAnother') one.chargeId = chargeId
  return chargeTxid(chargeId)
}

/** The bank has received all of it, by its own record, before it sends any callback. */
async function fillBank(cases: Case[]): Promise<void> {
  const txids = new Map<Case, string | null>()
  await each(cases, MAKERS, async (one) => {
    txids.set(one, await makeTarget(one))
  })
  api.clock.advance(2)
  await each(cases, MAKERS, async (one) => {
    for (const { endToEndId, amount } of one.payments) {
      const payment = { txid: txids.get(one)!, amount: toCents(amount), endToEndId }
      await api.app.providers.simulator.pay(one.client.company, payment)
    }
  })
}

type Callback = { companyId: Uuid; body: unknown }

/** A callback may name several payments. What else it says of them need not be true. */
function callbackOf({ company }: Client, payments: Pix[]): Callback {
  const receivedAt = api.clock.now()
  const pix = payments.flatMap(({ endToEndId, amount }) => {
    const claimed = toCents(random() < 0.1 ? 100 * amount : amount)
    return callbackBody({ endToEndId, txid: null, amount: claimed, receivedAt }).pix
  })
  return { companyId: company.id, body: { pix } }
}

/** Each payment alone and among others, again and again: ten callbacks a payment. */
function callbacksFor(client: Client, payments: Pix[]): Callback[] {
  const alone = times(8, () => payments.map((pix) => callbackOf(client, [pix]))).flat()
  const together = times(6, () => {
    const left = shuffle([...payments])
    const parts: Callback[] = []
    while (left.length > 0) parts.push(callbackOf(client, left.splice(0, 1 + below(5))))
    return parts
  }).flat()
  return [...alone, ...together]
}

const madeUp = (): Pix => ({ endToEndId: schemeId(), amount: 999_999, callbackTime: 'never' })

/** Callbacks that name what their company has not received. */
const forgeries = (client: Client, own: Pix, foreign: Pix): Callback[] => [
  callbackOf(client, [madeUp()]),
  callbackOf(client, [foreign]),
  callbackOf(client, [foreign, own, madeUp()]),
  callbackOf(bystander, [foreign, own]),
  { ...callbackOf(client, [own]), companyId: newId() },
]

/** Sends callbacks to both processes alternately, many at once, and counts what became of them. */
async function send(callbacks: Callback[]): Promise<Record<string, number>> {
  const results: Record<string, number> = {}
  await each(callbacks, AT_ONCE, async ({ companyId, body }, n) => {
    const { processed } = await receiveCallback(apps[n % 2]!, companyId, 'simulator', body)
    const result = await processed
    results[result] = (results[result] ?? 0) + 1
  })
  return results
}

const count = async (where: string, values: unknown[] = []): Promise<number> => {
  const [row] = await api.rows<{ count: number }>(`select count(*) from ${where}`, values)
  return row!.count
}

/** Takes up callbacks that wait, in both processes, until none is due. */
async function workOff(): Promise<void> {
  const due = 'bank_callbacks where processed_at is null and next_attempt_at <= $1'
  while ((await count(due, [api.clock.now()])) > 0) {
    await Promise.all(apps.map((app) => processDueCallbacks.run(app)))
  }
}

const cases = plan()
const paymentsOf = (client: Client, callbackTime?: CallbackTime): Pix[] =>
  cases
    .filter((one) => one.client === client)
    .flatMap(({ payments }) => payments)
    .filter((pix) => !callbackTime || pix.callbackTime === callbackTime)

await fillBank(cases)
const genuine = companies.flatMap((client) => callbacksFor(client, paymentsOf(client, 'soon')))
const late = companies.flatMap((client) => callbacksFor(client, paymentsOf(client, 'late')))
const forged = companies.flatMap((client, n) => {
  const [own, foreign] = [paymentsOf(client, 'soon'), paymentsOf(companies.at(n - 1)!)]
  return times(Math.ceil(SIZE / 300), () => forgeries(client, some(own), some(foreign))).flat()
})
const nonsense = NONSENSE.map((body) => ({ companyId: bystander.company.id, body }))

/** The storm itself: what became of its callbacks, and how many forged ones wait after each try. */
async function storm() {
  const first = await send(shuffle([...genuine, ...forged, ...nonsense]))
  const paymentCount = await count('payments')
  api.clock.advance(60)
  // While late callbacks come, and old ones again, both processes ask the bank by themselves.
  const repeated = genuine.slice(0, late.length)
  const tasks = apps.flatMap((app) => [reconcileDue.run(app), processDueCallbacks.run(app)])
  const [second] = await Promise.all([send(shuffle([...late, ...repeated])), ...tasks])
  const waiting: number[] = []
  for (let tried = 1; tried <= TRIES; tried++) {
    await workOff()
    waiting.push(await count('bank_callbacks where processed_at is null'))
    api.clock.advance(3600)
  }
  await reconcileDue.run(api.app)
  return { first, second, paymentCount, waiting }
}

const { first, second, paymentCount, waiting } = await storm()
const sent = 2 * late.length + genuine.length + forged.length + nonsense.length
console.log(`callback storm: seed ${SEED}, ${SIZE} payments, ${sent} callbacks`)
console.log(first, second)

/** All that is in one list is in the other, and as often. */
const same = (actual: unknown[], expected: unknown[]) =>
  assert.deepEqual(actual.map(String).sort(), expected.map(String).sort())

/** The payments of a company that have paid a charge, as it has them. */
async function matchedOf({ company }: Client): Promise<Set<string>> {
  const rows = await api.rows<{ id: string }>(
    `select end_to_end_id as id from payments where company_id = $1 and status = 'MATCHED'`,
    [company.id],
  )
  return new Set(rows.map(({ id }) => id))
}

test('each payment that the bank received is credited once, in its amount', async () => {
  for (const client of companies) {
    const payments = paymentsOf(client)
    const rows = await api.rows<{ id: string; amount: number }>(
      'select end_to_end_id as id, amount from payments where company_id = $1',
      [client.company.id],
    )
    same(
      rows.map(({ id, amount }) => ['received', id, amount]),
      await transfersOf(api, client),
    )
    const matched = await matchedOf(client)
    same(
      await movementsOf(api, client),
      payments.map(({ endToEndId: id, amount }) =>
        matched.has(id)
          ? ['CHARGE_PAID', id, 'bank>pending', amount]
          : ['PAYMENT_UNMATCHED', id, 'bank>unmatched', amount],
      ),
    )
  }
})

type ChargeRow = { id: Uuid; end_to_end_id: string | null; status: string; amount: number }

test('a charge is paid at most once, by the amount it asks for, and its events are written once', async () => {
  for (const client of companies) {
    const matched = await matchedOf(client)
    const charges = await api.rows<ChargeRow>(
      'select id, end_to_end_id, status, amount from charges where company_id = $1',
      [client.company.id],
    )
    const byId = new Map(charges.map((charge) => [charge.id, charge]))
    for (const { kind, amount, payments, chargeId } of cases.filter(
      (one) => one.client === client,
    )) {
      const paying = payments.filter(({ endToEndId }) => matched.has(endToEndId))
      assert.deepEqual(
        paying.map((pix) => pix.amount),
        times(KINDS[kind].matched, () => amount),
        kind,
      )
      const charge = chargeId && byId.get(chargeId)
      if (charge) assert.equal(charge.end_to_end_id, paying[0]?.endToEndId ?? null)
    }
    const paid = charges.filter(({ status }) => status === 'COMPLETED')
    same(
      paid.map((charge) => charge.end_to_end_id),
      [...matched],
    )
    const events = await eventsOf(api, client.company.id)
    same(
      events.flatMap(({ type, payload }) => (type === 'charge.paid' ? [payload.charge.id] : [])),
      paid.map(({ id }) => toPublic('charge', id)),
    )
    const ids = paymentsOf(client).map(({ endToEndId }) => endToEndId)
    same(
      events.flatMap(({ payload }) => payload.payment?.endToEndId ?? []),
      ids.filter((id) => !matched.has(id)),
    )
  }
})

test('callbacks that the bank does not confirm move nothing, and are given up in the end', async () => {
  const { processed = 0, failed = 0, unconfirmed } = first
  assert.equal(processed + failed, genuine.length)
  assert.equal(unconfirmed, forged.length + nonsense.length)
  assert.deepEqual(waiting, [...times(TRIES - 1, () => forged.length), 0])
  assert.equal(await count('bank_callbacks where attempts = $1', [TRIES]), forged.length)
  assert.equal(await count('bank_callbacks'), sent - nonsense.length)
  assert.deepEqual(await movementsOf(api, bystander), [])
})

test('payments without a callback were found by asking the bank', async () => {
  const known = companies.flatMap((client) => paymentsOf(client, 'soon')).length
  assert.ok(paymentCount <= known, 'they were not known before')
  assert.equal(second.unconfirmed ?? 0, 0)
  assert.equal(await count('payments'), cases.flatMap(({ payments }) => payments).length)
})

test('balances are exact to the cent, and the whole audit is clean', async () => {
  for (const client of [...companies, bystander]) {
    const own = cases.filter((one) => one.client === client)
    const sum = (numbers: number[]) => numbers.reduce((all, one) => all + one, 0)
    const pending = sum(own.map(({ kind, amount }) => KINDS[kind].matched * amount))
    const arrived = sum(own.flatMap(({ payments }) => payments.map(({ amount }) => amount)))
    assert.deepEqual(await balancesOf(api, client), {
      available: 100_000,
      pending,
      held: 0,
      unmatched: arrived - pending,
    })
    const { faults, bank } = await auditCompany(api.app, client.company.id, { whole: true })
    assert.deepEqual([faults, bank], [[], 'asked'])
  }
})
