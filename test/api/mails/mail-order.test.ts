import assert from 'node:assert/strict'
import { beforeEach, test } from 'node:test'
import { readConfig } from '../../../src/config.ts'
import { claimMails, LEASE_S } from '../../../src/core/mails/store.ts'
import { TASK } from '../../../src/core/tasks.ts'
import { sendDueMails } from '../../../src/worker/mail.ts'
import { type Client, payer, startApi } from '../../support/api.ts'
import { lettersOf } from '../../support/mail.ts'
import { temporaryFolder } from '../../support/process.ts'
import { dueAt } from '../../support/requests.ts'
import { startSmtp } from '../../support/smtp.ts'
import { until } from '../../support/until.ts'
import {
  answer,
  cancel,
  line,
  liveWithMoney,
  PATH,
  resend,
  start,
} from '../../support/withdrawals.ts'

/** Mails that the server has been offered and not taken yet, in the order in which they came. */
let offered: { to: string; take(): void }[] = []
let isHolding = false

const smtp = await startSmtp({
  onRcptTo: ({ address }, _, done) => {
    let isTaken = false
    const take = () => {
      // A second answer would be read as that to the next mail of the connection.
      if (!isTaken) done()
      isTaken = true
    }
    offered.push({ to: address, take })
    if (!isHolding) take()
  },
})
const api = await startApi({
  SMTP_URL: smtp.url,
  MAIL_FROM: 'Vintém <oi@vintem.test>',
  MAIL_CONNECTIONS: '6',
  CODE_MAILS_PER_HOUR: '5',
  CODE_MAILS_PER_DAY: '20',
})

beforeEach(async () => {
  isHolding = false
  await sendDueMails(api.app)
  offered = []
  smtp.received.length = 0
})

async function queueLinks(client: Client, email: string, count: number): Promise<void> {
  const customer = payer({ email })
  const link = { total: 4990, customer, notifyCustomer: true }
  const replies = await Promise.all(
    Array.from({ length: count }, () => client.post('/charge/payment-link', link)),
  )
  assert.ok(replies.every(({ status }) => status === 201))
}

const offeredTo = () => offered.map(({ to }) => to)

const offers = (count: number) => until(`${count} mails are offered`, () => offered.length >= count)

async function takeAll(sending: Promise<void>): Promise<void> {
  isHolding = false
  for (const { take } of offered) take()
  await sending
}

test('links of one company that hang delay neither another’s code nor another’s link', async () => {
  const [many, other] = [await api.client(), await api.client({ email: 'code@example.com' })]
  await queueLinks(many, 'many@example.com', 30)
  isHolding = true
  const sending = sendDueMails(api.app)
  await offers(4)
  await queueLinks(other, 'other@example.com', 2)
  await offers(5)
  await start(other, 5000)
  await offers(6)
  const expected = [...Array(4).fill('many@example.com'), 'other@example.com', 'code@example.com']
  assert.deepEqual(offeredTo(), expected)
  await takeAll(sending)
  assert.equal(smtp.received.length, 33)
})

test('a code goes before mails that have waited longer', async () => {
  const [many, other] = [await api.client(), await api.client({ email: 'first@example.com' })]
  await queueLinks(many, 'many@example.com', 10)
  api.clock.advance(1)
  await start(other, 5000)
  const now = api.clock.now()
  const [claimed] = await claimMails(api.app.db, 'first', dueAt(now, 1))
  assert.equal(claimed?.companyId, other.company.id)
  api.clock.advance(LEASE_S)
  isHolding = true
  const sending = sendDueMails(api.app)
  await offers(5)
  assert.ok(offeredTo().includes('first@example.com'))
  await takeAll(sending)
})

test('companies are served one after the other, however many mails one of them has', async () => {
  const names = ['a', 'b', 'c']
  for (const [i, name] of names.entries()) {
    await queueLinks(await api.client(), `${name}@example.com`, i === 0 ? 30 : 3)
    api.clock.advance(1)
  }
  isHolding = true
  const sending = sendDueMails(api.app)
  await offers(5)
  for (let taken = 0; taken < 4; taken++) {
    offered[taken]!.take()
    await offers(6 + taken)
  }
  const expected = names.flatMap((name) => Array(3).fill(`${name}@example.com`))
  assert.deepEqual(offeredTo().sort(), expected)
  await takeAll(sending)
  assert.equal(smtp.received.length, 36)
})

test('if a process dies, another sends its mail within 10 s', async () => {
  const client = await api.client()
  await queueLinks(client, 'dead@example.com', 1)
  const dying = {
    ...api.app,
    mailer: { ...api.app.mailer, send: () => new Promise<void>(() => {}) },
  }
  const death = new AbortController()
  const attempts = () =>
    api.rows('select 1 from mails where company_id = $1 and attempts = 1', [client.company.id])
  void sendDueMails(dying, death.signal)
  await until('it is claimed', async () => (await attempts()).length === 1)
  death.abort()
  await sendDueMails(api.app)
  assert.equal(smtp.received.length, 0)
  api.clock.advance(10)
  await sendDueMails(api.app)
  assert.deepEqual(offeredTo(), ['dead@example.com'])
})

test('a process that sends a slow mail keeps it by renewing the lease', async () => {
  const client = await api.client()
  await queueLinks(client, 'slow@example.com', 1)
  isHolding = true
  const sending = sendDueMails(api.app)
  await offers(1)
  for (let i = 0; i < 4; i++) {
    api.clock.advance(5)
    api.app.alarm.wake(TASK.mail)
    await until('the lease is renewed', async () => {
      const [row] = await api.rows<{ at: Date }>(
        'select next_attempt_at as at from mails where company_id = $1',
        [client.company.id],
      )
      return row!.at.getTime() > api.clock.now().getTime() + 5_000
    })
    await sendDueMails(api.app)
  }
  assert.equal(offered.length, 1)
  await takeAll(sending)
  assert.equal(smtp.received.length, 1)
})

test('a company is sent five codes an hour, over canceled withdrawals and resends', async () => {
  const client = await liveWithMoney(api)
  for (let i = 0; i < 2; i++) {
    const id = await start(client, 100)
    assert.equal((await resend(client, id)).status, 200)
    await cancel(client, id)
    api.clock.advance(60)
  }
  const id = await start(client, 100)
  const refused = await resend(client, id)
  assert.deepEqual(answer(refused), [429, 'rate_limited'])
  assert.equal(refused.headers.get('retry-after'), String(3600 - 120))
  assert.match(line(refused), /5 one-time codes an hour and 20 a day/)
  await cancel(client, id)
  const before = await balance(client)
  assert.deepEqual(answer(await client.post(PATH, { value: 100 })), [429, 'rate_limited'])
  assert.deepEqual(await balance(client), before)
  await start(await liveWithMoney(api), 100)
  api.clock.advance(3600 - 121)
  assert.deepEqual(answer(await client.post(PATH, { value: 100 })), [429, 'rate_limited'])
  api.clock.advance(1)
  await start(client, 100)
})

const balance = async (client: Client) => (await client.get('/account-balance')).body

test('a company is sent twenty codes a day', async () => {
  const client = await liveWithMoney(api)
  for (let hour = 0; hour < 4; hour++) {
    for (let i = 0; i < 5; i++) await cancel(client, await start(client, 100))
    api.clock.advance(3600)
  }
  const refused = await client.post(PATH, { value: 100 })
  assert.deepEqual(answer(refused), [429, 'rate_limited'])
  assert.equal(refused.headers.get('retry-after'), String(20 * 3600))
})

test('a sandbox withdraws on without the mails over the limit, also if its clock is moved', async () => {
  const client = await api.client()
  for (let i = 0; i < 5; i++) await cancel(client, await start(client, 100))
  const ahead_ms = 48 * 3_600_000
  await api.rows('insert into test_clocks (company_id, ahead_ms) values ($1, $2)', [
    client.company.id,
    ahead_ms,
  ])
  const id = await start(client, 100)
  assert.equal((await lettersOf(api, client.company.id)).length, 5)
  assert.equal((await client.post(`/sandbox/withdraw/${id}/code`)).status, 201)
})

test('the limits hold where nothing is set', () => {
  const { codeMails } = readConfig({ DATA_DIR: temporaryFolder() })
  assert.deepEqual(codeMails, { perHour: 5, perDay: 20 })
})
