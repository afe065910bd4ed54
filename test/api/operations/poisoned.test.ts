import assert from 'node:assert/strict'
import { test } from 'node:test'
import { auditDue } from '../../../src/core/audits/commands.ts'
import { SANDBOX_OPENING } from '../../../src/core/companies/rules.ts'
import { listSetbacks, pauseAfter_ms } from '../../../src/core/setbacks.ts'
import { toCents } from '../../../src/lib/money.ts'
import { MAX_IN_ACCOUNT } from '../../../src/provider/simulator/records.ts'
import { createDeliveryWorker, type DeliveryWorker } from '../../../src/worker/deliver.ts'
import {
  billDue,
  carryOutRefunds,
  expireDueCharges,
  expireDueWithdrawals,
  generateDue,
  payOutWithdrawals,
  processDueCallbacks,
  reconcileDue,
  releaseDueCharges,
} from '../../../src/worker/due.ts'
import { sendDueMails } from '../../../src/worker/mail.ts'
import { type Client, startApi } from '../../support/api.ts'
import { approvedSubscription } from '../../support/billing.ts'
import { makeCharge, makePaid, order, pay, stateOf } from '../../support/payments.ts'
import { cure, poisonRows } from '../../support/poison.ts'
import { makeReceiver } from '../../support/webhooks.ts'
import { answer, confirmed, PATH, start } from '../../support/withdrawals.ts'

const api = await startApi()
const { app, clock } = api

const TABLES = [
  'charges',
  'balances',
  'payments',
  'audits',
  'withdrawals',
  'refunds',
  'billings',
  'mails',
  'deliveries',
  'delivery_log',
]
const poison = ({ company }: Client) => poisonRows(api, company.id, TABLES)

/** More due charges than a sweep looks at, all of them due before those of anybody else. */
const fillHead = ({ company }: Client) =>
  api.rows(
    `insert into charges (company_id, id, kind, amount, status, payment_status, dev_mode, br_code,
       created_at, expires_at, end_to_end_id, payment_date, settles_at, booked)
     select $1, gen_random_uuid(), 'PIX', 500, case when paid then 'COMPLETED' else 'OPEN' end,
       case when paid then 'PAID' else 'PROCESSING' end, false, 'code', $2, $2::timestamptz + interval '1 second',
       case when paid then 'E' || n end, case when paid then $2::timestamptz end,
       case when paid then $2::timestamptz end, false
     from (select n, n % 2 = 0 as paid from generate_series(1, 2400) n) n`,
    [company.id, clock.now()],
  )

/** Work of every kind that is due for a company, and what shows that it was done. */
async function makeDue(client: Client) {
  const { company } = client
  const open = await makeCharge(client, 700, { expiresIn: 3600 })
  const released = await makePaid(api, client, 1990)
  const returned = await makePaid(api, client, 1990)
  const refund = await client.post(`/refund/${returned.id}`)
  assert.equal(refund.status, 201, refund.text)
  const { receiver } = await makeReceiver(client, ['charge.paid'])
  const paid = await makePaid(api, client, 600)
  const subscription = await approvedSubscription(api, client)
  // As if the process had died before it processed the bank's callback.
  await api.rows(
    `update bank_callbacks set processed_at = null, attempts = 0, next_attempt_at = $2
     where company_id = $1`,
    [company.id, clock.now()],
  )
  return { company, client, open, released, returned, refund, receiver, paid, subscription }
}

const count = async (text: string, id: string): Promise<number> =>
  (await api.rows<{ count: number }>(`select count(*)::int as count from ${text}`, [id]))[0]!.count

/** Mails and deliveries of a company that is set aside are not even begun. */
async function assertLeftAlone({ company }: Client, delivering: DeliveryWorker): Promise<void> {
  const read = async () => [
    await api.rows(
      'select id, attempts from mails where company_id = $1 and finished_at is null order by id',
      [company.id],
    ),
    /task="deliver webhooks"[^}]*} (\d+)/.exec(await app.metrics.text())?.[1],
  ]
  await api.rows(
    'update mails set next_attempt_at = $2 where company_id = $1 and finished_at is null',
    [company.id, clock.now()],
  )
  const before = await read()
  assert.equal(before[1], '1')
  assert.ok(before[0]!.length >= 2, 'codes and others')
  await sendDueMails(app)
  await delivering.run()
  assert.deepEqual(await read(), before)
}

test('a company whose work fails keeps nobody else waiting, in any sweep', async () => {
  const [sick, well] = [await api.client(), await api.client()]
  await api.rows('update companies set settlement_delay_s = 3600')
  const bad = await makeDue(sick)
  const good = await makeDue(well)
  await confirmed(api, sick, 1000)
  const payout = await confirmed(api, well, 1000)
  await api.rows(`update reconciliations set next_attempt_at = $1 where company_id in ($2, $3)`, [
    clock.now(),
    sick.company.id,
    well.company.id,
  ])
  await fillHead(sick)
  clock.advance(40 * 24 * 3600)
  await api.rows(
    'update mails set sealed = $2, expires_at = null where company_id = $1 and sealed is not null',
    [sick.company.id, Buffer.from('damaged')],
  )
  await api.rows('update webhooks set secret_sealed = $2 where company_id = $1', [
    sick.company.id,
    Buffer.from('damaged'),
  ])
  await poison(sick)
  const delivering = createDeliveryWorker(app)
  api.atEnd(() => delivering.close())
  const sweeps = [
    expireDueCharges,
    releaseDueCharges,
    carryOutRefunds,
    payOutWithdrawals,
    expireDueWithdrawals,
    generateDue,
    billDue,
    processDueCallbacks,
    reconcileDue,
  ]
  for (const sweep of sweeps) await sweep.run(app)
  await auditDue(app)
  await sendDueMails(app)
  await delivering.run()

  const id = well.company.id
  assert.deepEqual(await stateOf(well, good.open.id), ['EXPIRED', 'EXPIRED'])
  assert.deepEqual(await stateOf(well, good.released.id), ['COMPLETED', 'RECEIVED'])
  assert.equal(await count(`refunds where company_id = $1 and status = 'COMPLETED'`, id), 1)
  assert.equal((await well.get(`${PATH}/${payout}`)).body.data.status, 'COMPLETED')
  assert.ok((await count(`charges where company_id = $1 and kind = 'RECURRING'`, id)) > 0)
  assert.equal(await count('bank_callbacks where company_id = $1 and processed_at is null', id), 0)
  assert.equal(await count('audits where company_id = $1 and difference is null', id), 1)
  assert.equal(await count('mails where company_id = $1 and finished_at is null', id), 0)
  assert.equal(good.receiver.received.length, 1)
  assert.equal(bad.receiver.received.length, 0)

  const aside = await listSetbacks(app.db, clock.now())
  assert.ok(aside.every(({ companyId }) => companyId === sick.company.id))
  const tasks = aside.map(({ task }) => task).sort()
  const expected = [
    'audit',
    'carry out refunds',
    'deliver webhooks',
    'expire charges',
    'generate charges',
    'pay out withdrawals',
    'receive charges',
    'send mail',
  ]
  for (const task of expected) assert.ok(tasks.includes(task), `${task} among ${tasks}`)
  await assertLeftAlone(sick, delivering)
  const metrics = await app.metrics.text()
  assert.match(metrics, /vintem_setbacks_total\{task="receive charges"[^}]*\} [1-9]/)
  assert.match(metrics, /vintem_set_aside_companies\{task="receive charges"[^}]*\} 1/)

  await cure(api)
  clock.advance(pauseAfter_ms(1) / 1000)
  for (const sweep of [expireDueCharges, releaseDueCharges]) await sweep.run(app)
  assert.deepEqual(await stateOf(sick, bad.released.id), ['COMPLETED', 'RECEIVED'])
  const left = await listSetbacks(app.db, new Date(0))
  assert.ok(!left.some(({ task }) => task === 'receive charges'))
})

test('a withdrawal that cannot expire keeps no other from it', async () => {
  const [sick, well] = [await api.client(), await api.client()]
  await start(sick, 100)
  const id = await start(well, 100)
  clock.advance(600)
  await poison(sick)
  await expireDueWithdrawals.run(app)
  const [row] = await api.rows('select status from withdrawals where company_id = $1', [
    well.company.id,
  ])
  assert.deepEqual(row, { status: 'EXPIRED' }, id)
  await cure(api)
})

test('a company that fails is tried again later and later, at most every ten minutes', () => {
  const waits = [1, 2, 3, 4, 8, 50].map((failures) => pauseAfter_ms(failures) / 1000)
  assert.deepEqual(waits, [5, 10, 20, 40, 600, 600])
})

test('companies alternate: one with a backlog keeps another waiting for one part only', async () => {
  const [large, small] = [await api.client(), await api.client()]
  await fillHead(large)
  clock.advance(1)
  const { id } = await makeCharge(small, 700, { expiresIn: 3600 })
  clock.advance(3600)
  let parts = 0
  const db = {
    ...app.db,
    transaction: ((act, ...rest) => {
      parts += 1
      return app.db.transaction(act, ...rest)
    }) as typeof app.db.transaction,
  }
  await expireDueCharges.run({ ...app, db })
  assert.deepEqual(await stateOf(small, id), ['EXPIRED', 'EXPIRED'])
  const events = await api.rows<{ company_id: string }>(
    `select company_id from events where type = 'charge.expired' and company_id in ($1, $2)
     order by id`,
    [large.company.id, small.company.id],
  )
  const place = events.findIndex(({ company_id }) => company_id === small.company.id)
  assert.ok(place >= 0 && place <= 1000, `${place} of ${events.length}`)
  assert.ok(parts >= 3)
})

test('the simulated bank pays a sandbox no more than it may hold', async () => {
  const client = await api.client()
  const most = toCents(999_999_999_999)
  const fitting = Math.floor(MAX_IN_ACCOUNT / most)
  const { brCode } = await makeCharge(client, most)
  // All of them at the same moment: none of them sees the others in our books.
  const replies = await Promise.all(
    Array.from({ length: fitting + 4 }, () => order(api, { brCode, payer: undefined })),
  )
  const statuses = replies.map(({ status }) => status).sort()
  assert.deepEqual(statuses, [...Array(fitting).fill(201), ...Array(4).fill(422)])
  const refused = replies.find(({ status }) => status === 422)!
  assert.deepEqual(answer(refused), [422, 'sandbox_limit_exceeded'])
  assert.match(refused.body.errors[0].description, /R\$ 100 billion/)
  const dev = await makeCharge(client, most, { devMode: true })
  const simulated = await client.post(`/charge/${dev.id}/simulate-payment`)
  assert.deepEqual(answer(simulated), [422, 'sandbox_limit_exceeded'])
  const small = await makeCharge(client, 500)
  await pay(api, small.brCode, { amount: MAX_IN_ACCOUNT - fitting * most })
  const [row] = await api.rows<{ sum: number }>(
    `select available + pending + held + unmatched - $2::int8 as sum from balances
     where company_id = $1`,
    [client.company.id, SANDBOX_OPENING],
  )
  assert.equal(row!.sum, MAX_IN_ACCOUNT)
})
