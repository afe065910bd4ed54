import assert from 'node:assert/strict'
import { test } from 'node:test'
import { FIRST_TEXTS } from '../../src/core/letters/reminders.ts'
import { indexStop } from '../../src/core/reminders/stops.ts'
import { insertStop } from '../../src/core/reminders/store.ts'
import { atHour } from '../../src/pix/local-time.ts'
import { payer, startApi } from '../support/api.ts'
import { moveTo } from '../support/billing.ts'
import { startPlaying } from '../support/clocks.ts'
import { signIn } from '../support/dashboard.ts'

const api = await startApi()
startPlaying(api)
const PAGE = '/settings/reminders'
const DUE = '2026-08-28'

async function shop() {
  const client = await api.client()
  const owner = await signIn(api, client.company)
  const rules = async () => (await client.get('/reminder')).body.data
  return { client, owner, rules }
}
const words = (sort: 'before' | 'after' = 'before') => ({
  'pt-subject': FIRST_TEXTS.pt[sort].subject,
  'pt-text': FIRST_TEXTS.pt[sort].text,
  'en-subject': FIRST_TEXTS.en[sort].subject,
  'en-text': FIRST_TEXTS.en[sort].text,
})
const FORM = { day: '-2', channel: 'EMAIL', enabled: 'yes', ...words(), act: 'save' }

test('a company without rules takes the suggested ones, which are off', async () => {
  const { owner, rules } = await shop()
  assert.match((await owner.get(PAGE)).text, /3 dias antes, no dia, 1 e 5 dias depois/)
  const done = await owner.post(`${PAGE}/suggestion`, {})
  assert.match(done.location!, /done=suggested$/)
  const { rules: made } = await rules()
  assert.deepEqual(
    made.map(({ day, enabled }: { day: number; enabled: boolean }) => [day, enabled]),
    [-3, 0, 1, 5].map((day) => [day, false]),
  )
  const { text } = await owner.get(PAGE)
  for (const part of ['3 dias antes do vencimento', 'No dia do vencimento', 'Desativado']) {
    assert.ok(text.includes(part), part)
  }
})

test('a rule is made, edited, previewed and deleted; our own words are not stored', async () => {
  const { owner, rules } = await shop()
  const saved = await owner.post(`${PAGE}/rule?rule=new`, FORM)
  assert.match(saved.location!, /done=saved$/, saved.text)
  const rule = { day: -2, enabled: true, channel: 'EMAIL' }
  assert.deepEqual((await rules()).rules, [rule])
  const own = { ...FORM, day: '2', 'pt-subject': 'Oi, {nome}', 'pt-text': 'Faltam <i>{valor}</i>' }
  const preview = await owner.post(`${PAGE}/rule?rule=-2`, { ...own, act: 'preview' })
  assert.equal(preview.status, 200)
  for (const part of [
    'Oi, Maria da Silva',
    'Faltam &lt;i&gt;R$ 153,00&lt;/i&gt;',
    'Multa: R$ 3,00',
  ]) {
    assert.ok(preview.text.includes(part), part)
  }
  assert.match(preview.text, /Hello, Maria da Silva!/, 'in the other language too')
  assert.deepEqual((await rules()).rules, [rule], 'a preview changes nothing')
  await owner.post(`${PAGE}/rule?rule=-2`, own)
  const texts = { pt: { subject: 'Oi, {nome}', text: 'Faltam <i>{valor}</i>' } }
  assert.deepEqual((await rules()).rules, [{ ...rule, day: 2, texts }], 'its day was changed')
  const letter = await owner.get(`${PAGE}/letter?rule=2&words=pt`)
  assert.match(letter.text, /Faltam &lt;i&gt;R\$ 153,00/)
  assert.match(letter.headers.get('content-security-policy')!, /sandbox/)
  await owner.post(`${PAGE}/rule?rule=2`, { ...own, act: 'remove' })
  assert.deepEqual((await rules()).rules, [])
})

test('a form that is refused keeps what was typed and says what is wrong', async () => {
  const { owner, rules } = await shop()
  await owner.post(`${PAGE}/rule?rule=new`, FORM)
  const wrong = await owner.post(`${PAGE}/rule?rule=new`, {
    ...FORM,
    day: '3',
    'pt-text': 'Oi {nmoe}',
  })
  assert.equal(wrong.status, 400)
  assert.match(wrong.text, /Oi {nmoe}/)
  assert.match(wrong.text, /Use só \{nome\}, \{valor\}, \{vencimento\}, \{link\} e \{empresa\}/)
  const twice = await owner.post(`${PAGE}/rule?rule=new`, FORM)
  assert.equal(twice.status, 400)
  assert.match(twice.text, /Já existe um lembrete para este dia/)
  for (const day of ['x', '99', '', '-1e400']) {
    const odd = await owner.post(`${PAGE}/rule?rule=new`, { ...FORM, day, act: 'preview' })
    assert.equal(odd.status, 200, day)
    assert.equal((await owner.post(`${PAGE}/rule?rule=new`, { ...FORM, day })).status, 400, day)
  }
  assert.equal((await rules()).rules.length, 1)
  assert.equal((await owner.get(`${PAGE}/rule?rule=17`)).status, 404)
})

test('the rule of failed debits is switched on, with its own preview', async () => {
  const { owner, rules } = await shop()
  const page = await owner.get(`${PAGE}/rule?rule=failed`)
  assert.match(page.text, /não foi concluído/)
  assert.match(page.text, /Seu banco tenta novamente em 23\/08\/2026/)
  await owner.post(`${PAGE}/rule?rule=failed`, { channel: 'WEBHOOK', enabled: 'yes', act: 'save' })
  assert.deepEqual((await rules()).failedCharges, { enabled: true, channel: 'WEBHOOK' })
})

test('the timeline of a charge and the page of its customer say what became of reminders', async () => {
  const { client, owner } = await shop()
  await client.put('/reminder', {
    rules: [-2, -1].map((day) => ({ day, enabled: true, channel: 'EMAIL' })),
  })
  const { body } = await client.post('/charge/pix', {
    amount: 15_000,
    customer: payer(),
    dueDate: DUE,
  })
  await moveTo(client, atHour('2026-08-26', 12).toISOString())
  await api.rows(
    `update mails set outcome = 'SENT', finished_at = now(), sealed = null
     where company_id = $1 and kind = 'reminder'`,
    [client.company.id],
  )
  const index = indexStop(api.app.vault, client.company.id, payer().email)
  await insertStop(api.app.db, client.company.id, index, api.clock.now())
  await moveTo(client, atHour('2026-08-27', 12).toISOString())
  const { text } = await owner.get(`/charges/${body.data.id}`)
  assert.match(text, /Lembrete enviado por e-mail/)
  assert.match(text, /o pagador pediu para não receber lembretes/)
  const [customer] = (await client.get('/client')).body.data
  const shown = await owner.get(`/customers/${customer.id}`)
  assert.match(shown.text, /O pagador pediu para não receber/)
})
