import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ROUTES } from '../../src/http/routes/all.ts'
import { compareVersions } from '../../src/http/version-changes.ts'
import { startApi } from '../support/api.ts'
import { signIn } from '../support/dashboard.ts'

const api = await startApi()

const PROFILE = {
  name: 'Padaria São João',
  email: 'dona@example.com',
  city: 'Sao Paulo',
  color: '#0f766e',
  language: 'pt',
  mailsReceipts: 'yes',
}

test('an owner changes the profile, and only what was changed is sent', async () => {
  const client = await api.client()
  const owner = await signIn(api, client.company)
  const page = await owner.get('/settings')
  assert.match(page.text, /value="Padaria São João"/)
  assert.match(page.text, /Texto branco sobre esta cor: contraste de 5,5 para 1/)
  const saved = await owner.post('/settings', {
    ...PROFILE,
    name: 'Café <b>',
    color: '#FACC15',
    language: 'en',
  })
  assert.match(saved.location!, /\/settings\?done=saved$/, saved.text)
  const { body } = await client.get('/company')
  assert.deepEqual(
    [body.data.name, body.data.color, body.data.language, body.data.email],
    ['Café <b>', '#facc15', 'en', 'dona@example.com'],
  )
  const after = await owner.get('/settings?done=saved')
  assert.match(after.text, /Café &lt;b&gt;/)
  assert.match(after.text, /Texto preto sobre esta cor/)
  const { mailsReceipts: _off, ...withoutReceipts } = PROFILE
  await owner.post('/settings', withoutReceipts)
  assert.equal((await client.get('/company')).body.data.mailsReceipts, false)
  const entries = await api.rows('select 1 from activity where company_id = $1', [
    client.company.id,
  ])
  assert.equal((await owner.post('/settings', withoutReceipts)).status, 303)
  const same = await api.rows('select 1 from activity where company_id = $1', [client.company.id])
  assert.equal(same.length, entries.length, 'nothing was changed')
})

test('a sandbox switches on that tax ids are checked; a live company has no such switch', async () => {
  const client = await api.client()
  const owner = await signIn(api, client.company)
  assert.match((await owner.get('/settings')).text, /Conferir os dígitos de CPF e CNPJ/)
  await owner.post('/settings', { ...PROFILE, strictTaxIds: 'yes' })
  assert.equal((await client.get('/company')).body.data.strictTaxIds, true)
  assert.match((await owner.get('/settings')).text, /name="strictTaxIds"[^>]*checked/)
  const live = await api.client({ mode: 'live', pixKey: 'dona@example.com' })
  const page = await (await signIn(api, live.company)).get('/settings')
  assert.doesNotMatch(page.text, /strictTaxIds/)
})

test('the rule for exact payments is off at first, and is switched on with its explanation', async () => {
  const client = await api.client()
  const owner = await signIn(api, client.company)
  const { text } = await owner.get('/settings')
  assert.match(text, /Quitar sozinho pagamentos exatos sem código/)
  assert.match(text, /há uma única cobrança desse pagador/)
  assert.doesNotMatch(text, /name="settlesExactPayments"[^>]*checked/)
  assert.equal('settlesExactPayments' in (await client.get('/company')).body.data, false)
  await owner.post('/settings', { ...PROFILE, settlesExactPayments: 'yes' })
  assert.equal((await client.get('/company')).body.data.settlesExactPayments, true)
  assert.match((await owner.get('/settings')).text, /name="settlesExactPayments"[^>]*checked/)
})

test('a wrong profile is shown again, with what is wrong', async () => {
  const client = await api.client()
  const owner = await signIn(api, client.company, { language: 'en' })
  const refused = await owner.post('/settings', {
    ...PROFILE,
    email: 'nobody',
    color: 'red',
  })
  assert.equal(refused.status, 400)
  assert.match(refused.text, /Enter a valid email address/)
  assert.match(refused.text, /value="nobody"/)
  assert.match(refused.text, /Enter the color in hexadecimal/)
  const erased = await owner.post('/settings', { ...PROFILE, name: ' ' })
  assert.equal(erased.status, 400)
  assert.match(erased.text, /Enter a name of 1 to 255 characters/)
  assert.equal((await client.get('/company')).body.data.email, 'dona@example.com')
})

test('after a change of the address the page says where codes go', async () => {
  const client = await api.client()
  const owner = await signIn(api, client.company)
  await owner.post('/settings', { ...PROFILE, email: 'nova@example.com' })
  const page = await owner.get('/settings')
  assert.match(page.text, /códigos de saque vão para dona@example.com até 21\/08\/2026 12:00/)
})

test('others see the profile and cannot change it', async () => {
  const client = await api.client()
  for (const role of ['finance', 'support', 'developer', 'viewer'] as const) {
    const member = await signIn(api, client.company, { role })
    const page = await member.get('/settings')
    assert.equal(page.status, 200)
    assert.match(page.text, /Somente um responsável/)
    assert.doesNotMatch(page.text, /name="color"/)
    assert.equal((await member.post('/settings', { ...PROFILE, name: 'x' })).status, 403)
  }
})

test('the bank of a live company is shown with its certificate and what can be done', async () => {
  const client = await api.client({ mode: 'live', pixKey: 'dona@example.com' })
  const { id } = client.company
  const owner = await signIn(api, client.company)
  assert.match((await owner.get('/settings/bank')).text, /ainda não tem um banco conectado/)
  const now = api.clock.now()
  const inDays = (days: number) => new Date(now.getTime() + days * 24 * 3600 * 1000)
  await api.rows(
    `insert into bank_connections (company_id, id, profile, sealed, callback_id, payouts,
       certificate_ends_at, connected_at)
     values ($1, gen_random_uuid(), 'efi', '\\x00', gen_random_uuid(), 'manual', $2, $3)`,
    [id, inDays(45), now],
  )
  const page = await owner.get('/settings/bank')
  assert.match(page.text, /Termina em 45 dias/)
  assert.match(page.text, /Efí/)
  assert.match(page.text, /settings\/bank\/check"[\s\S]*settings\/bank\/renew"/)
  assert.doesNotMatch(page.text, /Peça um novo certificado/)
  await api.rows('update bank_connections set certificate_ends_at = $2 where company_id = $1', [
    id,
    inDays(5),
  ])
  assert.match((await owner.get('/settings/bank')).text, /Peça um novo certificado/)
  await api.rows(
    `insert into audits (company_id, checked_entry, difference, audited_at)
     values ($1, 0, 'x', $2)`,
    [id, now],
  )
  assert.match((await owner.get('/settings/bank')).text, /Há uma diferença/)
  const support = await signIn(api, client.company, { role: 'support' })
  assert.equal((await support.get('/settings/bank')).status, 403)
  assert.doesNotMatch((await support.get('/settings')).text, /settings\/bank/)
})

test('the comparison of versions follows from their shapes', () => {
  const changes = compareVersions(ROUTES, '2025-01-01', '2026-08-16')
  const namesOf = (operationId: string) =>
    changes.find((one) => one.operationId === operationId)!.changes.map(({ name }) => name)
  assert.deepEqual(namesOf('getCompany'), ['envelope', 'errors'])
  assert.deepEqual(namesOf('getCharge'), ['envelope', 'errors', 'received'])
  assert.deepEqual(compareVersions(ROUTES, '2026-08-16', '2026-08-16'), [])
})

test('an owner reads what would change and pins a newer version', async () => {
  const client = await api.client({}, { apiVersion: '2025-01-01' })
  const owner = await signIn(api, client.company)
  const page = await owner.get('/settings/version')
  assert.match(page.text, /O que muda com a versão 2026-08-16/)
  assert.match(page.text, /RECIEVED passa a ser RECEIVED/)
  assert.match(
    (await owner.get('/settings/version/pin?version=2026-08-16')).text,
    /Fixar a empresa/,
  )
  assert.equal((await client.get('/company')).body.name, 'Padaria São João')
  await api.app.requestLog.idle()
  const used = await owner.get('/settings/version')
  assert.match(used.text, /GET \/company/)
  assert.match(used.text, /Somente as operações que esta empresa usou/)
  assert.doesNotMatch(used.text, /RECIEVED passa a ser RECEIVED/)
  assert.match(used.text, /Um registro recente, antes e depois/)
  assert.match(used.text, /&quot;apiVersion&quot;: &quot;2025-01-01&quot;/)
  const pinned = await owner.post('/settings/version/pin', { version: '2026-08-16' })
  assert.match(pinned.location!, /done=pinned$/)
  assert.equal((await client.get('/company')).body.data.apiVersion, '2026-08-16')
  assert.match((await owner.get('/settings/version')).text, /já usa a versão mais recente/)
  const [entry] = await api.rows<{ action: string }>(
    `select action from activity where company_id = $1 order by id desc limit 1`,
    [client.company.id],
  )
  assert.equal(entry!.action, 'company.pin-version')
  assert.equal((await owner.post('/settings/version/pin', { version: '1999-01-01' })).status, 404)
})

test('only a confirmed owner pins a version', async () => {
  const client = await api.client()
  const developer = await signIn(api, client.company, { role: 'developer' })
  assert.equal(
    (await developer.post('/settings/version/pin', { version: '2025-01-01' })).status,
    403,
  )
  const late = await signIn(api, client.company, { isConfirmed: false })
  assert.match(
    (await late.post('/settings/version/pin', { version: '2025-01-01' })).location!,
    /^\/account\/confirm/,
  )
  assert.equal((await client.get('/company')).body.data.apiVersion, '2026-08-16')
})
