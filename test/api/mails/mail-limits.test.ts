import assert from 'node:assert/strict'
import { beforeEach, test } from 'node:test'
import { readConfig } from '../../../src/config.ts'
import { sendDueMails } from '../../../src/worker/mail.ts'
import { removeOld } from '../../../src/worker/retention.ts'
import { type Client, payer, startApi, type TestApi } from '../../support/api.ts'
import { makePaid } from '../../support/payments.ts'
import { secretOf, temporaryFolder } from '../../support/process.ts'
import { startSmtp } from '../../support/smtp.ts'
import { start } from '../../support/withdrawals.ts'

const DAY_S = 24 * 3600
/** A fifth of a day's mails may be sent at once. */
const PER_DAY = { RECIPIENT: 15, COMPANY: 30, ALL: 50 }
const AT_ONCE = { RECIPIENT: 3, COMPANY: 6, ALL: 10 }

const smtp = await startSmtp()
const api = await startApi({
  SMTP_URL: smtp.url,
  MAIL_FROM: 'Vintém <oi@vintem.test>',
  MAILS_PER_RECIPIENT: String(PER_DAY.RECIPIENT),
  MAILS_PER_COMPANY: String(PER_DAY.COMPANY),
  MAILS_PER_DAY: String(PER_DAY.ALL),
})

beforeEach(async () => {
  await api.rows('delete from mails')
  await api.peopleRows('delete from mail_budgets')
  smtp.received.length = 0
})

async function sendLinks(client: Client, addresses: string[]): Promise<void> {
  for (const email of addresses) {
    const link = { total: 4990, customer: payer({ email }), notifyCustomer: true }
    assert.equal((await client.post('/charge/payment-link', link)).status, 201)
  }
}

const toMany = (count: number) => Array.from({ length: count }, (_, i) => `payer${i}@example.com`)

const send = () => Promise.all(Array.from({ length: 3 }, () => sendDueMails(api.app)))

/** How many mails have each outcome and reason. */
async function outcomes(of: TestApi = api): Promise<Record<string, number>> {
  const rows = await of.rows<{ state: string; count: number }>(
    `select concat_ws(' ', coalesce(outcome, 'WAITING'), reason) as state, count(*)
     from mails group by 1`,
  )
  return Object.fromEntries(rows.map(({ state, count }) => [state, Number(count)]))
}

test('one mailbox gets few links, whichever companies send them and however it is written', async () => {
  const clients = [await api.client(), await api.client()]
  const forms = [
    'maria@example.com',
    'MARIA@example.com',
    'maria+x@example.com',
    'm.aria@Example.com',
  ]
  for (const client of clients) await sendLinks(client, forms)
  await send()
  assert.equal(smtp.received.length, AT_ONCE.RECIPIENT)
  assert.deepEqual(await outcomes(), { SENT: 3, 'FAILED RECIPIENT': 5 })
  await sendLinks(clients[0]!, ['joana@example.com'])
  await send()
  assert.equal(smtp.received.length, AT_ONCE.RECIPIENT + 1, 'others get theirs')
})

test('a day later the mailbox has got no more links than a day and its start allow', async () => {
  const client = await api.client()
  for (let hour = 0; hour < 24; hour++) {
    await sendLinks(client, Array(3).fill('maria@example.com'))
    await send()
    api.clock.advance(3600)
  }
  assert.equal(smtp.received.length, PER_DAY.RECIPIENT + AT_ONCE.RECIPIENT - 1)
})

test('a company over its limit waits with the rest, and nobody else waits with it', async () => {
  const [many, other] = [await api.client(), await api.client()]
  await sendLinks(many, toMany(8))
  await sendLinks(other, ['other@example.com'])
  await send()
  assert.equal(smtp.received.length, AT_ONCE.COMPANY + 1)
  assert.deepEqual(await outcomes(), { SENT: 7, 'WAITING COMPANY': 2 })
  api.clock.advance(2 * (DAY_S / PER_DAY.COMPANY))
  await send()
  assert.deepEqual(await outcomes(), { SENT: 9 })
})

test('all companies together have a limit', async () => {
  for (let i = 0; i < 3; i++) await sendLinks(await api.client(), toMany(5))
  await send()
  assert.equal(smtp.received.length, AT_ONCE.ALL)
  assert.deepEqual(await outcomes(), { SENT: 10, 'WAITING ALL': 5 })
})

test('what waits for room for a day is not sent, with the reason', async () => {
  const client = await api.client()
  await sendLinks(client, toMany(7))
  await api.rows(`update mails set expires_at = null`)
  await send()
  api.clock.advance(DAY_S)
  // It comes round only after the others have used the room.
  const comeRound = (seconds: number) =>
    api.rows(`update mails set next_attempt_at = $1 where reason = 'COMPANY'`, [
      new Date(api.clock.now().getTime() + seconds * 1000),
    ])
  await comeRound(1)
  await sendLinks(client, toMany(6))
  await send()
  await comeRound(0)
  await send()
  assert.deepEqual(await outcomes(), { SENT: 12, 'FAILED COMPANY': 1 })
})

test('codes pass whatever was sent before them, and receipts are not counted with links', async () => {
  const client = await api.client({ email: 'maria@example.com' })
  await sendLinks(client, [...Array(5).fill('maria@example.com'), ...toMany(12)])
  await send()
  smtp.received.length = 0
  await makePaid(api, client, 4990)
  await start(client, 5000)
  await send()
  const subjects = smtp.received.map(({ mail }) => mail.subject!.replace(/ (de|o) .*/, '')).sort()
  assert.equal(smtp.received.length, 2, subjects.join())
  assert.match(subjects.join(), /Código/)
})

test('a receipt over the limit of its reader waits for its turn', async () => {
  const client = await api.client()
  for (let i = 0; i < 4; i++) await makePaid(api, client, 1990)
  await send()
  assert.deepEqual(await outcomes(), { SENT: 3, 'WAITING RECIPIENT': 1 })
  api.clock.advance(DAY_S / PER_DAY.RECIPIENT)
  await send()
  assert.deepEqual(await outcomes(), { SENT: 4 })
})

test('several senders at once do not pass a limit together', async () => {
  const clients = [await api.client(), await api.client(), await api.client()]
  for (const client of clients) await sendLinks(client, Array(4).fill('maria@example.com'))
  await Promise.all(Array.from({ length: 6 }, () => sendDueMails(api.app)))
  assert.equal(smtp.received.length, AT_ONCE.RECIPIENT)
})

test('budgets that are whole again are removed, others are kept', async () => {
  await sendLinks(await api.client(), ['maria@example.com'])
  await send()
  const purged = async () => {
    await removeOld(api.app)
    return (await api.peopleRows('select from mail_budgets')).length
  }
  assert.equal(await purged(), 3)
  api.clock.advance(DAY_S)
  assert.equal(await purged(), 0)
})

test('the limits hold where nothing is set and mails leave the machine', () => {
  const local = readConfig({ DATA_DIR: temporaryFolder() })
  assert.equal(local.dailyMails, null)
  const mails = readConfig({ DATA_DIR: temporaryFolder(), SMTP_URL: 'smtp://127.0.0.1' })
  const own = { DATABASE_URL: 'postgres://127.0.0.1/x', SECRET_KEY: secretOf('mails') }
  for (const { dailyMails } of [mails, readConfig(own)]) {
    assert.deepEqual(dailyMails, { RECIPIENT: 50, COMPANY: 50_000, ALL: 500_000 })
  }
})
