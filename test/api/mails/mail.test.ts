import assert from 'node:assert/strict'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { beforeEach, test } from 'node:test'
import pino from 'pino'
import PostalMime from 'postal-mime'
import type { Company } from '../../../src/core/companies/rules.ts'
import {
  composeWithdrawalCode,
  composeWithdrawalFailed,
} from '../../../src/core/letters/companies.ts'
import { openMail } from '../../../src/core/mails/sealing.ts'
import { claimMails, queueMails } from '../../../src/core/mails/store.ts'
import { TASK } from '../../../src/core/tasks.ts'
import type { Log } from '../../../src/lib/log.ts'
import type { Letter } from '../../../src/lib/mailer.ts'
import { toCents } from '../../../src/lib/money.ts'
import { sendDueMails } from '../../../src/worker/mail.ts'
import { startWorker } from '../../../src/worker/worker.ts'
import { type Client, payer, startApi, type TestApi } from '../../support/api.ts'
import { dueAt } from '../../support/requests.ts'
import { refusal, startSmtp } from '../../support/smtp.ts'
import { dump } from '../storage.ts'

/** What the server says to a recipient; nothing means welcome. */
type Doorkeeper = (address: string, done: (error?: Error | null) => void) => void
const welcome: Doorkeeper = (_, done) => done()
let doorkeeper = welcome

const smtp = await startSmtp({
  onRcptTo: ({ address }, _, done) => doorkeeper(address, done),
})
const api = await startApi({ SMTP_URL: smtp.url, MAIL_FROM: 'Vintém <oi@vintem.test>' })

beforeEach(() => {
  doorkeeper = welcome
  smtp.received.length = 0
})

const VALUE = toCents(15_000)

async function queueCode(to: TestApi, company: Company, code = '042195'): Promise<void> {
  const createdAt = to.clock.now()
  const expiresAt = new Date(createdAt.getTime() + 600_000)
  const destination = company.pixKey
  const withdrawal = { code, value: VALUE, destination, lifetime_s: 600, expiresAt }
  const letter = composeWithdrawalCode(company, withdrawal)
  const mail = { companyId: company.id, kind: 'withdrawal-code', letter } as const
  const { db, vault } = to.app
  await db.transaction((tx) => queueMails(tx, vault, [{ ...mail, expiresAt, createdAt }]))
}

async function queueFailure(company: Company): Promise<void> {
  const letter = composeWithdrawalFailed(company, { value: VALUE, reason: 'x' })
  const times = { expiresAt: null, createdAt: api.clock.now() }
  const mail = { companyId: company.id, kind: 'withdrawal-failed', letter, ...times } as const
  await api.app.db.transaction((tx) => queueMails(tx, api.app.vault, [mail]))
}

type MailRow = { outcome: string | null; sealed: Buffer | null; attempts: number; in_s: number }

const mailsOf = ({ company }: Client, of: TestApi = api) =>
  of.rows<MailRow>(
    `select outcome, sealed, attempts,
       extract(epoch from next_attempt_at - $2::timestamptz)::int as in_s
     from mails where company_id = $1 order by id`,
    [company.id, of.clock.now()],
  )

const recipients = () => smtp.received.map(({ to }) => to.join()).sort()

test('a queued mail arrives whole, and nothing of it is left behind', async () => {
  const client = await api.client({ email: 'whole@example.com' })
  await queueCode(api, client.company)
  await sendDueMails(api.app)
  const [{ from, to, mail } = assert.fail()] = smtp.received
  assert.deepEqual([from, to], ['oi@vintem.test', ['whole@example.com']])
  assert.equal(mail.subject, 'Código para confirmar o saque de R$ 150,00')
  assert.match(mail.text!, /^042195$/m)
  assert.match(mail.html!, />042195</)
  const [{ outcome, sealed } = assert.fail()] = await mailsOf(client)
  assert.deepEqual([outcome, sealed], ['SENT', null])
  await sendDueMails(api.app)
  assert.equal(smtp.received.length, 1)
})

test('while it waits, the database shows neither code nor address', async () => {
  const client = await api.client()
  await queueCode(api, { ...client.company, email: 'secret-reader@example.com' }, '735190')
  const stored = await dump(api)
  assert.ok(stored.includes('withdrawal-code'))
  assert.doesNotMatch(stored, /735190|secret-reader/)
  await sendDueMails(api.app)
})

test('a mail waits for a server that is away, and arrives once', async () => {
  const client = await api.client()
  await queueFailure(client.company)
  await smtp.stop()
  await sendDueMails(api.app)
  assert.partialDeepStrictEqual(await mailsOf(client), [{ outcome: null, attempts: 1, in_s: 60 }])
  await smtp.start()
  await sendDueMails(api.app)
  assert.equal(smtp.received.length, 0, 'not before its time')
  api.clock.advance(60)
  await sendDueMails(api.app)
  assert.equal(smtp.received.length, 1)
  assert.partialDeepStrictEqual(await mailsOf(client), [{ outcome: 'SENT', attempts: 2 }])
})

test('a refusal for now is tried again for a day, one for good is not', async () => {
  const [later, never] = [await api.client(), await api.client({ email: 'gone@example.com' })]
  doorkeeper = (address, done) => done(refusal(address.startsWith('gone') ? 550 : 451))
  await queueFailure(later.company)
  await queueFailure(never.company)
  const waits: number[] = []
  for (let attempt = 0; attempt < 5; attempt++) {
    await sendDueMails(api.app)
    const [{ in_s } = assert.fail()] = await mailsOf(later)
    waits.push(in_s / 60)
    api.clock.advance(in_s)
  }
  assert.deepEqual(waits, [1, 5, 15, 60, 60])
  assert.partialDeepStrictEqual(await mailsOf(never), [{ outcome: 'FAILED', attempts: 1 }])
  api.clock.advance(24 * 3600)
  await sendDueMails(api.app)
  assert.partialDeepStrictEqual(await mailsOf(later), [{ outcome: 'FAILED', sealed: null }])
})

test('a code that is past its end is not sent', async () => {
  const client = await api.client()
  await queueCode(api, client.company)
  api.clock.advance(600)
  await sendDueMails(api.app)
  assert.equal(smtp.received.length, 0)
  assert.partialDeepStrictEqual(await mailsOf(client), [{ outcome: 'EXPIRED', sealed: null }])
})

test('if a process is killed before it stores the outcome, the mail is sent again with the same id', async () => {
  const client = await api.client()
  await queueFailure(client.company)
  const { db, clock, vault, mailer } = api.app
  const [mail = assert.fail()] = await claimMails(db, 'first', dueAt(clock.now(), 1))
  await mailer.send({
    ...(openMail(vault, mail) as Letter),
    id: mail.id,
    createdAt: mail.createdAt,
  })
  await sendDueMails(api.app)
  assert.equal(smtp.received.length, 1, 'leased')
  api.clock.advance(10)
  await sendDueMails(api.app)
  const [first, second] = smtp.received
  assert.equal(first!.mail.messageId, `<${mail.id}@vintem.test>`)
  assert.equal(second!.raw, first!.raw)
  assert.partialDeepStrictEqual(await mailsOf(client), [{ outcome: 'SENT', attempts: 2 }])
})

test('many senders send each mail once', async () => {
  const clients = await Promise.all(
    Array.from({ length: 12 }, (_, i) => api.client({ email: `many${i}@example.com` })),
  )
  for (const { company } of clients) await queueFailure(company)
  await Promise.all(Array.from({ length: 4 }, () => sendDueMails(api.app)))
  assert.deepEqual(recipients(), clients.map(({ company }) => company.email).sort())
})

test('a mail that hangs delays no other, not even one that is queued later', async () => {
  const [slow, quick] = [await api.client({ email: 'slow@example.com' }), await api.client()]
  const asked = Promise.withResolvers<() => void>()
  doorkeeper = (address, done) => (address.startsWith('slow') ? asked.resolve(done) : done())
  await queueFailure(slow.company)
  const sending = sendDueMails(api.app)
  const release = await asked.promise
  await queueFailure(quick.company)
  api.app.alarm.wake(TASK.mail)
  await smtp.arrived(1)
  assert.deepEqual(recipients(), ['dona@example.com'])
  release()
  await sending
  assert.deepEqual(recipients(), ['dona@example.com', 'slow@example.com'])
})

test('the log names mail, kind and company, and nothing of what is in the mail', async () => {
  const clients = await Promise.all(
    ['gone', 'busy', 'fine'].map((name) => api.client({ email: `${name}@example.com` })),
  )
  doorkeeper = (address, done) =>
    done(address.startsWith('fine') ? null : refusal(address.startsWith('gone') ? 550 : 450))
  for (const { company } of clients) await queueCode(api, company)
  const lines: string[] = []
  const log = pino({ base: null }, { write: (line) => lines.push(line) }) as unknown as Log
  await sendDueMails({ ...api.app, log })
  const text = lines.join('')
  for (const { company } of clients) assert.ok(text.includes(company.id))
  assert.match(text, /"kind":"withdrawal-code"/)
  assert.doesNotMatch(text, /example\.com|042195|150,00|Padaria/)
})

test('without a server, mails are files of a form that every mail program opens', async () => {
  const local = await startApi()
  const client = await local.client({ language: 'en' })
  await queueCode(local, client.company)
  await sendDueMails(local.app)
  const folder = join(local.app.config.dataDir, 'mail')
  const [name = assert.fail()] = readdirSync(folder)
  const file = readFileSync(join(folder, name), 'utf8')
  assert.match(file, /^042195\r$/m, 'the code can be found without a mail program')
  const mail = await PostalMime.parse(file)
  assert.equal(mail.subject, 'Code to confirm the withdrawal of R$ 150,00')
  assert.match(mail.text!, /^042195$/m)
  assert.partialDeepStrictEqual(await mailsOf(client, local), [{ outcome: 'SENT' }])
})

const link = (client: Client, fields = {}, headers: Record<string, string> = {}) =>
  client.post(
    '/charge/payment-link',
    { total: 4990, customer: payer(), notifyCustomer: true, ...fields },
    { headers },
  )

test('a link with notification is mailed to its payer as soon as it exists', async () => {
  const client = await api.client({ name: 'Pão & <b>Cia</b>' })
  const tasks = [{ name: TASK.mail, every_ms: 600_000, run: sendDueMails }]
  const worker = startWorker(api.app, tasks)
  const { status, body } = await link(client, { customer: payer({ name: 'Zé <i>' }) })
  assert.equal(status, 201)
  await smtp.arrived(1)
  await worker.stop()
  const [{ to, mail } = assert.fail()] = smtp.received
  assert.deepEqual(to, ['maria@example.com'])
  assert.equal(mail.subject, 'Pão & <b>Cia</b>: cobrança de R$ 49,90')
  assert.ok(mail.text!.includes(`\n${body.data.url}\n`))
  assert.ok(mail.html!.includes(`href="${body.data.url}"`))
  assert.match(mail.html!, /Zé &lt;i&gt;/)
  assert.doesNotMatch(mail.html!, /<b>|<i>/)
  assert.partialDeepStrictEqual(await mailsOf(client), [{ outcome: 'SENT' }])
})

test('a payer’s address is sealed in the mail as everywhere', async () => {
  const client = await api.client()
  await link(client, { customer: payer({ email: 'hidden-payer@example.com' }) })
  assert.doesNotMatch(await dump(api), /hidden-payer/)
  await sendDueMails(api.app)
  assert.deepEqual(recipients(), ['hidden-payer@example.com'])
})

test('nobody is mailed who has no address or need not be notified', async () => {
  const client = await api.client()
  const { email: _, ...nameless } = payer() as Record<string, unknown>
  for (const fields of [{ customer: nameless }, { notifyCustomer: false }]) {
    assert.equal((await link(client, fields)).status, 201)
  }
  assert.deepEqual(await mailsOf(client), [])
})

test('a request that is repeated mails once', async () => {
  const client = await api.client()
  for (let i = 0; i < 2; i++) {
    await link(client, { externalId: 'order-1' })
    await link(client, {}, { 'Idempotency-Key': 'key-1' })
  }
  const many = Array.from({ length: 8 }, () => link(client, { externalId: 'order-2' }))
  assert.ok((await Promise.all(many)).every(({ status }) => status === 201))
  assert.equal((await mailsOf(client)).length, 3)
  await sendDueMails(api.app)
  assert.equal(smtp.received.length, 3)
})

test('links with and without a mail that arrive together each get their due', async () => {
  const client = await api.client()
  await Promise.all(
    Array.from({ length: 40 }, (_, i) => link(client, { notifyCustomer: i % 3 === 0 })),
  )
  assert.equal((await mailsOf(client)).length, 14)
  const { body } = await client.get('/charge')
  assert.equal(body.data.length, 40)
})

test('a link that expired before its mail could go out is not sent', async () => {
  const client = await api.client()
  await link(client, { expiresIn: 60 })
  api.clock.advance(60)
  await sendDueMails(api.app)
  assert.partialDeepStrictEqual(await mailsOf(client), [{ outcome: 'EXPIRED' }])
})
