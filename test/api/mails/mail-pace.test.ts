import assert from 'node:assert/strict'
import { beforeEach, test } from 'node:test'
import type { SMTPServerOptions } from 'smtp-server'
import { composeWithdrawalFailed } from '../../../src/core/letters/companies.ts'
import { sharesOf } from '../../../src/core/mails/rules.ts'
import { queueMails } from '../../../src/core/mails/store.ts'
import { toCents } from '../../../src/lib/money.ts'
import { sendDueMails } from '../../../src/worker/mail.ts'
import { type Client, startApi } from '../../support/api.ts'
import { isLong } from '../../support/long.ts'
import { refusal, startSmtp } from '../../support/smtp.ts'
import { until } from '../../support/until.ts'
import { start } from '../../support/withdrawals.ts'

const CONNECTIONS = 20

type Greet = NonNullable<SMTPServerOptions['onConnect']>
const welcome: Greet = (_, done) => done()

/** What the server does with a new connection, and with each mail. */
let greet = welcome
let onMail = (_to: string, take: () => void) => take()
let [connections, refused] = [0, 0]
/** The connections that were let in. */
const open = new Set<string>()

const smtp = await startSmtp({
  onConnect: (session, done) => {
    connections += 1
    greet(session, (error) => {
      if (error) refused += 1
      else open.add(session.id)
      done(error)
    })
  },
  onClose: ({ id }) => {
    open.delete(id)
  },
  onRcptTo: ({ address }, _, done) => onMail(address, () => done()),
})
const api = await startApi({
  SMTP_URL: smtp.url,
  MAIL_FROM: 'oi@vintem.test',
  MAIL_CONNECTIONS: String(CONNECTIONS),
})

beforeEach(async () => {
  greet = welcome
  onMail = (_, take) => take()
  await api.rows('delete from mails')
  smtp.received.length = 0
})

/** Queues mails that wait like receipts, and say where they go. */
async function queueReceipts({ company }: Client, to: string, count: number): Promise<void> {
  const { vault, db } = api.app
  const letter = { ...composeWithdrawalFailed(company, { value: toCents(1), reason: 'x' }), to }
  const times = { expiresAt: null, createdAt: api.clock.now() }
  const mail = { companyId: company.id, kind: 'payment-link', letter, ...times } as const
  await db.transaction((tx) => queueMails(tx, vault, Array(count).fill(mail)))
}

const receivedBy = () => smtp.received.map(({ to }) => to.join())

test('as many mails are under way as there are connections, each of which is used again', async () => {
  const clients = [await api.client(), await api.client()]
  for (const client of clients) await queueReceipts(client, 'payer@example.com', 60)
  const before = connections
  const held: (() => void)[] = []
  onMail = (_, take) => {
    held.push(take)
  }
  const sending = sendDueMails(api.app)
  await until('what payers may use is used', () => held.length === CONNECTIONS - 2)
  onMail = (_, take) => take()
  for (const take of held) take()
  await sending
  assert.equal(smtp.received.length, 120)
  assert.ok(connections - before <= CONNECTIONS, `${connections - before} connections`)
})

test('with thousands of mails to payers waiting, a code and another’s mail are next', async () => {
  const [many, other] = [await api.client(), await api.client({ email: 'code@example.com' })]
  await queueReceipts(many, 'many@example.com', isLong ? 10_000 : 2_000)
  const held: { to: string; take(): void }[] = []
  onMail = (to, take) => {
    held.push({ to, take })
  }
  const stop = new AbortController()
  const sending = sendDueMails(api.app, stop.signal)
  const ofOne = sharesOf(CONNECTIONS).ofOneCompany
  await until('the company has its share', () => held.length === ofOne)
  await queueReceipts(other, 'other@example.com', 2)
  await start(other, 5000)
  await until('theirs are offered while all of its mails hang', () => held.length === ofOne + 3)
  const theirs = held.slice(ofOne).map(({ to }) => to)
  assert.deepEqual(theirs.sort(), ['code@example.com', 'other@example.com', 'other@example.com'])
  stop.abort()
  onMail = (_, take) => take()
  for (const { take } of held) take()
  await sending
  const [row] = await api.rows<{ count: number }>(
    'select count(*) from mails where attempts > 0 and finished_at is null',
  )
  assert.equal(row!.count, 0, 'nothing is claimed that is not under way')
})

test('two companies with many mails share the connections equally', async () => {
  const [one, other] = [await api.client(), await api.client()]
  await queueReceipts(one, 'one@example.com', 100)
  await queueReceipts(other, 'other@example.com', 100)
  const order: string[] = []
  onMail = (to, take) => {
    order.push(to)
    take()
  }
  await sendDueMails(api.app)
  for (const count of [50, 100, 150]) {
    const ofOne = order.slice(0, count).filter((to) => to === 'one@example.com').length
    assert.ok(Math.abs(ofOne - count / 2) <= CONNECTIONS / 2, `${ofOne} of the first ${count}`)
  }
})

test('a server that takes five connections is sent all mails by five, and none is put off', async () => {
  await smtp.stop()
  await smtp.start()
  open.clear()
  refused = 0
  greet = (_, done) => done(open.size >= 5 ? refusal(421) : null)
  const held: (() => void)[] = []
  onMail = (_, take) => {
    held.push(take)
  }
  const clients = [await api.client(), await api.client()]
  for (const client of clients) await queueReceipts(client, 'payer@example.com', 30)
  const sending = sendDueMails(api.app)
  const isSettled = () => refused > 0 && api.app.mailer.room().all <= 5
  await until('five are let in, and no more are tried', () => held.length === 5 && isSettled())
  onMail = (_, take) => take()
  for (const take of held) take()
  await sending
  assert.equal(smtp.received.length, 60)
  assert.ok(refused < 30, 'it is not asked for more again and again')
  const late = await api.rows(`select from mails where outcome <> 'SENT' or attempts > 1`)
  assert.deepEqual(late, [])
})

test('a server that fails is left alone for longer and longer, then begun with one mail', async () => {
  await smtp.stop()
  await smtp.start()
  greet = (_, done) => done(refusal(421))
  const client = await api.client()
  await queueReceipts(client, 'payer@example.com', 60)
  await sendDueMails(api.app)
  const tries: number[] = []
  for (let second = 0; second < 16; second++) {
    const before = connections
    await sendDueMails(api.app)
    tries.push(connections - before)
    api.clock.advance(1)
  }
  assert.deepEqual(tries, [0, 1, 0, 1, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 1])
  greet = welcome
  api.clock.advance(120)
  const held: (() => void)[] = []
  onMail = (_, take) => {
    held.push(take)
  }
  const sending = sendDueMails(api.app)
  await until('a single mail is offered', () => held.length === 1)
  onMail = (_, take) => take()
  held[0]!()
  await sending
  assert.equal(new Set(receivedBy()).size, 1)
  assert.equal(smtp.received.length, 60)
})
