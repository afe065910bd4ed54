import assert from 'node:assert/strict'
import { beforeEach, test } from 'node:test'
import { composeWithdrawalFailed } from '../../../src/core/letters/companies.ts'
import { claimMails, finish, queueMails } from '../../../src/core/mails/store.ts'
import { matchPayments } from '../../../src/core/payments/match.ts'
import type { Tx } from '../../../src/db/database.ts'
import { fromPublic } from '../../../src/lib/ids.ts'
import { toCents } from '../../../src/lib/money.ts'
import type { ReceivedPix } from '../../../src/provider/port.ts'
import { chargeTxid } from '../../../src/provider/txid.ts'
import { billDue, generateDue } from '../../../src/worker/due.ts'
import { sendDueMails } from '../../../src/worker/mail.ts'
import { type Client, payer, startApi } from '../../support/api.ts'
import { approvedSubscription, moveTo } from '../../support/billing.ts'
import { startPlaying } from '../../support/clocks.ts'
import { productOf } from '../../support/pages.ts'
import { makeCharge, makeCode, makePaid, pay } from '../../support/payments.ts'
import { dueAt } from '../../support/requests.ts'
import { startSmtp } from '../../support/smtp.ts'
import { dump } from '../storage.ts'

let hold: ((done: () => void) => void) | null = null
const smtp = await startSmtp({
  onRcptTo: (_address, _session, done) => (hold ? hold(() => done()) : done()),
})
const api = await startApi({
  SMTP_URL: smtp.url,
  MAIL_FROM: 'Vintém <oi@vintem.test>',
  MAIL_CONNECTIONS: '4',
})
startPlaying(api)

beforeEach(async () => {
  hold = null
  await sendDueMails(api.app)
  smtp.received.length = 0
})

const receiptsOf = async ({ company }: Client): Promise<(string | null)[]> => {
  const rows = await api.rows<{ outcome: string | null }>(
    "select outcome from mails where company_id = $1 and kind = 'receipt' order by id",
    [company.id],
  )
  return rows.map(({ outcome }) => outcome)
}

const live = (fields = {}) => api.client({ mode: 'live', pixKey: 'dona@example.com', ...fields })

test('who has paid and gave an address gets a receipt, once, in the name of the company', async () => {
  const client = await api.client({ name: 'Café "Açaí", Ltda. ☕', email: 'cafe@example.com' })
  const { id, endToEndId, brCode } = await makePaid(api, client, 4990)
  await pay(api, brCode)
  assert.deepEqual(await receiptsOf(client), [null])
  await sendDueMails(api.app)
  await sendDueMails(api.app)
  const [{ from, to, mail } = assert.fail(), ...others] = smtp.received
  assert.equal(others.length, 0)
  assert.deepEqual([from, to], ['oi@vintem.test', ['maria@example.com']])
  assert.deepEqual([mail.from?.name, mail.from?.address], [client.company.name, 'oi@vintem.test'])
  assert.deepEqual(
    mail.replyTo?.map(({ address }) => address),
    ['cafe@example.com'],
  )
  const url = (await client.get(`/charge/${id}`)).body.data.url
  for (const part of ['R$ 49,90', endToEndId, id, '***.***.247-25', '11.222.333/0001-81', url]) {
    assert.ok(mail.text!.includes(part), `${part} in ${mail.text}`)
    assert.ok(mail.html!.includes(part), part)
  }
  assert.match(mail.text!, /20\/08\/2026 às 12:00:\d\d · horário de Brasília/)
  assert.doesNotMatch(mail.text! + mail.html!, /52998224725|529\.982/)
  assert.deepEqual(await receiptsOf(client), ['SENT'])
})

test('a receipt for play money says so in subject, title and amount, a real one does not', async () => {
  const [sandbox, real] = [await api.client({ language: 'en' }), await live()]
  await makePaid(api, sandbox, 1990)
  const trial = await makeCharge(real, 1990, { devMode: true })
  await real.post(`/charge/${trial.id}/simulate-payment`)
  const [charge] = await payCharges(real, 1)
  assert.equal(charge, 'paid')
  await sendDueMails(api.app)
  const subjects = smtp.received.map(({ mail }) => mail.subject).sort()
  assert.deepEqual(subjects, [
    'Padaria São João: comprovante de pagamento de R$ 19,90',
    '[TESTE] Padaria São João: comprovante de pagamento de R$ 19,90',
    '[TEST] Padaria São João: payment receipt, R$ 19,90',
  ])
  for (const { mail } of smtp.received) {
    const isMarked = /fictício|not real money/.test(mail.text!)
    assert.equal(isMarked, mail.subject!.startsWith('['), mail.text)
    assert.equal(/Comprovante de teste|Test receipt/.test(mail.html!), isMarked)
  }
})

/** Money for as many new charges of a live company, matched in one transaction. */
async function payCharges(
  client: Client,
  count: number,
  watch = (tx: Tx) => tx,
): Promise<string[]> {
  const now = api.clock.now()
  const payments: ReceivedPix[] = []
  for (let i = 0; i < count; i++) {
    const { id } = await makeCharge(client, 1990, { devMode: true })
    const charge = fromPublic('charge', id)!
    const endToEndId = `E12345678${charge.replaceAll('-', '').slice(-23)}`
    const txid = chargeTxid(charge)
    payments.push({ endToEndId, txid, amount: toCents(1990), receivedAt: now })
    await api.rows('update charges set dev_mode = false where id = $1', [charge])
  }
  const arrival = { source: 'bank', now } as const
  const results = await api.app.db.transaction((tx) =>
    matchPayments(watch(tx), api.app, client.company, payments, arrival),
  )
  return results.map(({ kind }) => kind)
}

test('matching many payments asks the database no more often than matching one', async () => {
  const counts = []
  for (const many of [1, 25]) {
    const client = await live()
    let queries = 0
    const results = await payCharges(client, many, (tx) => ({
      ...tx,
      query: (statement) => {
        queries++
        return tx.query(statement)
      },
    }))
    assert.ok(results.every((kind) => kind === 'paid'))
    assert.equal((await receiptsOf(client)).length, many)
    counts.push(queries)
  }
  assert.equal(counts[0], counts[1])
})

test('no receipt: without an address, of a static code, of unmatched money, where it is off', async () => {
  const client = await api.client()
  const { email: _, ...nameless } = payer() as Record<string, unknown>
  const silent = await makeCharge(client, 1990, { customer: nameless })
  await pay(api, silent.brCode)
  await pay(api, (await makeCode(client, 700)).brCode)
  const wrong = await makeCharge(client, 1990)
  await pay(api, wrong.brCode, { amount: 1 })
  assert.deepEqual(await receiptsOf(client), [])
  const off = await api.client({ mailsReceipts: false })
  await makePaid(api, off, 1990)
  assert.deepEqual(await receiptsOf(off), [])
  assert.equal((await off.get('/company')).body.data.mailsReceipts, false)
  assert.equal((await client.get('/company')).body.data.mailsReceipts, true)
})

test('payments that arrive together are mailed each', async () => {
  const client = await api.client()
  const charges = await Promise.all(Array.from({ length: 12 }, () => makeCharge(client, 1990)))
  await Promise.all(charges.flatMap(({ brCode }) => [pay(api, brCode), pay(api, brCode)]))
  assert.equal((await receiptsOf(client)).length, 12)
})

test('a receipt is queued in the transaction that matches the payment, and is rolled back with it', async () => {
  const client = await live()
  const failing = payCharges(client, 2, (tx) => ({
    ...tx,
    query: async (statement) => {
      const rows = await tx.query(statement)
      assert.ok(!statement.text.includes('insert into mails'), 'on purpose')
      return rows as never
    },
  }))
  await assert.rejects(failing, /on purpose/)
  assert.deepEqual(await receiptsOf(client), [])
  const { body } = await client.get('/charge?status=COMPLETED')
  assert.deepEqual(body.data, [])
})

test('a charge of a subscription brings a receipt that names the product', async () => {
  const client = await api.client()
  await moveTo(client, '2026-08-20T15:00:01.000Z')
  await approvedSubscription(api, client)
  await generateDue.run(api.app, undefined, client.company.id)
  await billDue.run(api.app, undefined, client.company.id)
  await moveTo(client, '2026-08-24T23:00:00.000Z')
  assert.equal((await receiptsOf(client)).length, 1)
  await sendDueMails(api.app)
  const [{ mail } = assert.fail()] = smtp.received
  assert.match(mail.text!, /^Forma de pagamento: Pix Automático$/m)
  assert.match(mail.text!, /^Descrição: .+$/m)
})

test('a receipt lists what was bought, and says what has been returned before it went out', async () => {
  const client = await api.client()
  const productId = await productOf(client, { name: 'Pão de queijo', price: 2490 })
  const items = [{ productId, quantity: 2 }]
  const link = await client.post('/charge/payment-link', { items, customer: payer() })
  await fetch(link.body.data.url.replace('http://vintem.test', api.url), { method: 'POST' })
  const { brCode } = (await client.get(`/charge/${link.body.data.id}`)).body.data
  await pay(api, brCode)
  assert.equal((await client.post(`/refund/${link.body.data.id}`, { value: 1000 })).status, 201)
  await sendDueMails(api.app)
  const [{ mail } = assert.fail()] = smtp.received
  assert.match(mail.text!, /^Descrição: 2 × Pão de queijo$/m)
  assert.match(mail.text!, /^Valor devolvido: R\$ 10,00$/m)
})

test('while a receipt waits, the database shows nothing of its payer', async () => {
  const client = await api.client()
  const { brCode } = await makeCharge(client, 1990, {
    customer: payer({ email: 'hidden-payer@example.com' }),
  })
  await pay(api, brCode)
  assert.equal((await receiptsOf(client)).length, 1)
  assert.doesNotMatch(await dump(api), /hidden-payer/)
})

async function queueUrgent({ company }: Client): Promise<void> {
  const letter = composeWithdrawalFailed(company, { value: toCents(100), reason: 'x' })
  const times = { expiresAt: null, createdAt: api.clock.now() }
  const mail = { companyId: company.id, kind: 'withdrawal-failed', letter, ...times } as const
  await api.app.db.transaction((tx) => queueMails(tx, api.app.vault, [mail]))
}

test('a link is sent before the receipts of its company, and all else before both', async () => {
  const client = await api.client()
  for (let i = 0; i < 6; i++) await makePaid(api, client, 1990)
  api.clock.advance(1)
  const link = { total: 4990, customer: payer(), notifyCustomer: true }
  assert.equal((await client.post('/charge/payment-link', link)).status, 201)
  await queueUrgent(client)
  const now = api.clock.now()
  const claim = async (of: 'first' | 'payers') => {
    return (await claimMails(api.app.db, of, dueAt(now, 1)))[0] ?? null
  }
  const first = (await claim('first')) ?? assert.fail()
  assert.equal(first.kind, 'withdrawal-failed')
  const ending = { outcome: 'SENT', reason: null, at: now } as const
  await finish(api.app.db, [{ mail: first, ...ending }])
  assert.equal(await claim('first'), null)
  const second = (await claim('payers')) ?? assert.fail()
  assert.equal(second.kind, 'payment-link')
  await finish(api.app.db, [{ mail: second, ...ending }])
  assert.equal((await claim('payers'))?.kind, 'receipt')
})

test('a link that was paid or canceled before its mail is sent asks nobody to pay', async () => {
  const client = await api.client()
  const link = { total: 4990, customer: payer(), notifyCustomer: true, devMode: true }
  const ids = []
  for (let n = 0; n < 3; n++)
    ids.push((await client.post('/charge/payment-link', link)).body.data.id)
  await client.post(`/charge/${ids[0]}/simulate-payment`)
  await client.post(`/charge/${ids[1]}/cancel`)
  await sendDueMails(api.app)
  const sent = smtp.received.filter(({ mail }) => mail.text?.includes('/pay/'))
  assert.equal(sent.length, 2, 'the link that is open, and the receipt of the one that is paid')
  const outcomes = await api.rows(
    `select outcome, count(*)::int from mails where company_id = $1 and kind = 'payment-link'
     group by 1 order by 1`,
    [client.company.id],
  )
  assert.deepEqual(outcomes, [
    { outcome: 'EXPIRED', count: 2 },
    { outcome: 'SENT', count: 1 },
  ])
})

test('receipts that hang leave room for a mail of another kind', async () => {
  const client = await api.client()
  for (let i = 0; i < 6; i++) await makePaid(api, client, 1990)
  const held: (() => void)[] = []
  const three = Promise.withResolvers<void>()
  hold = (done) => {
    if (held.push(done) === 3) three.resolve()
  }
  const sending = sendDueMails(api.app)
  await three.promise
  hold = null
  await queueUrgent(client)
  await smtp.arrived(1)
  assert.deepEqual(smtp.received[0]!.to, [client.company.email])
  for (const done of held) done()
  await sending
  assert.equal(smtp.received.length, 7)
})
