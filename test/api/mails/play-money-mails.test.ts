import assert from 'node:assert/strict'
import { beforeEach, test } from 'node:test'
import { sendDueMails } from '../../../src/worker/mail.ts'
import { type Client, payer, startApi } from '../../support/api.ts'
import { openBanked } from '../../support/bank.ts'
import { signIn } from '../../support/dashboard.ts'
import { makeCharge } from '../../support/payments.ts'
import { SANDBOX } from '../../support/sandboxes.ts'
import { startSmtp } from '../../support/smtp.ts'
import { PATH, start } from '../../support/withdrawals.ts'

const smtp = await startSmtp()
const api = await startApi({ SMTP_URL: smtp.url, MAIL_FROM: 'oi@vintem.test' }, { local: false })

beforeEach(async () => {
  await sendDueMails(api.app)
  smtp.received.length = 0
})

/** Creates a link and has it mailed. Returns its charge. */
async function mailLink(client: Client, email: string, fields = {}): Promise<string> {
  const link = { total: 4990, customer: payer({ email }), notifyCustomer: true, ...fields }
  const { status, body } = await client.post('/charge/payment-link', link)
  assert.equal(status, 201, JSON.stringify(body))
  return body.data.id
}

const recipients = () => smtp.received.map(({ to }) => to.join()).sort()

test('in production a sandbox company mails its own people and nobody else', async () => {
  const client = await api.client({ email: 'Dona@example.com' })
  const { person } = await signIn(api, client.company, { role: 'viewer' })
  const other = await signIn(api, (await api.client()).company)
  for (const email of ['stranger@example.com', other.person.email, 'dona@example.com']) {
    await mailLink(client, email)
  }
  const written = person.email.replace('person', 'PERSON')
  await mailLink(client, written)
  await start(client, 5000)
  await sendDueMails(api.app)
  const own = [client.company.email, 'dona@example.com', written]
  assert.deepEqual(recipients(), own.sort())
})

test('in production nobody gets mails of the sandboxes that a key makes, but people invited there', async () => {
  const client = await api.client()
  const victim = 'stranger@example.com'
  assert.equal((await client.put('/company', { email: victim })).status, 200)
  const reply = await client.post(SANDBOX)
  const { id, apiKey } = reply.body.data
  const call: Client['call'] = (method, path, options = {}) =>
    api.call(method, path, { ...options, headers: { 'X-API-KEY': apiKey } })
  await sendDueMails(api.app)
  smtp.received.length = 0
  const started = await call('POST', PATH, { json: { value: 5000 } })
  assert.equal(started.status, 201, started.text)
  const code = await call('POST', `/sandbox/withdraw/${started.body.data.withdrawId}/code`)
  assert.equal(code.status, 201, code.text)
  const link = { total: 4990, customer: payer({ email: victim }), notifyCustomer: true }
  assert.equal((await call('POST', '/charge/payment-link', { json: link })).status, 201)
  const other = await call('PUT', '/company', { json: { email: 'other@example.com' } })
  assert.equal(other.status, 200, other.text)
  const { person } = await signIn(api, { ...client.company, id }, { role: 'owner' })
  const own = { ...link, customer: payer({ email: person.email }) }
  assert.equal((await call('POST', '/charge/payment-link', { json: own })).status, 201)
  await sendDueMails(api.app)
  assert.deepEqual(recipients(), [person.email])
})

test('in production play money of a live company is not mailed to strangers, real money is', async () => {
  const client = await openBanked(api)
  await mailLink(client, 'stranger@example.com', { devMode: true })
  const trial = await makeCharge(client, 1990, { devMode: true })
  assert.equal((await client.post(`/charge/${trial.id}/simulate-payment`)).status, 200)
  await sendDueMails(api.app)
  assert.deepEqual(recipients(), [])
  await mailLink(client, 'buyer@example.com')
  await sendDueMails(api.app)
  assert.deepEqual(recipients(), ['buyer@example.com'])
})

test('the pages of the charge and of operators say that a mail was not sent, and why', async () => {
  const client = await api.client()
  const id = await mailLink(client, 'stranger@example.com')
  await sendDueMails(api.app)
  const owner = await signIn(api, client.company)
  const { text } = await owner.get(`/charges/${id}`)
  assert.match(text, /Link não enviado por e-mail/)
  assert.match(text, /Em produção, e-mails de teste só vão para a própria empresa/)
  assert.doesNotMatch(text, /Link enviado ao pagador/)
  const paid = await makeCharge(client, 1990, { devMode: true })
  await client.post(`/charge/${paid.id}/simulate-payment`)
  await sendDueMails(api.app)
  assert.match((await owner.get(`/charges/${paid.id}`)).text, /Comprovante não enviado por e-mail/)
  const english = await signIn(api, client.company, { isOperator: true, language: 'en' })
  const page = await english.get('//operator/mails')
  assert.match(page.text, /A test, to somebody outside the company/)
  assert.doesNotMatch(page.text, /stranger@/)
})

test('a mail that was sent by hand and held back says why', async () => {
  const client = await api.client()
  const { id } = await makeCharge(client, 1990)
  const owner = await signIn(api, client.company)
  assert.equal((await owner.post(`/charges/${id}/mail`)).status, 303)
  await sendDueMails(api.app)
  const { text } = await owner.get(`/charges/${id}`)
  assert.match(text, /E-mail enviado de novo.*?Em produção, e-mails de teste/s)
  assert.doesNotMatch(text, /Link não enviado/)
})
