import assert from 'node:assert/strict'
import { test } from 'node:test'
import { startApi } from '../support/api.ts'
import { signIn } from '../support/dashboard.ts'
import { register } from '../support/webhooks.ts'

const api = await startApi()
const SECRET = /whsec_[\w+/=]+/

const FORM = { name: 'Loja', url: 'http://127.0.0.1:9/pix', 'charge.paid': '1' }

test('a webhook is created with its secret, listed, changed and deleted', async () => {
  const client = await api.client()
  const owner = await signIn(api, client.company)
  assert.match((await owner.get('/developers/webhooks/new')).text, /Cobrança paga/)
  const form = { ...FORM, once: '1'.repeat(26) }
  const made = await owner.post('/developers/webhooks/new', form)
  assert.equal(made.status, 200, made.text)
  assert.equal(made.headers.get('cache-control'), 'no-store')
  const again = await owner.post('/developers/webhooks/new', form)
  assert.match(made.text, SECRET)
  assert.match(again.location!, /\?done=shown$/)
  assert.ok(!SECRET.test(again.text))
  assert.match(
    (await owner.get(again.location!.replace(owner.home, ''))).text,
    /só é mostrado uma vez/,
  )
  const [{ id }] = (await client.get('/webhook')).body.data as [{ id: string }]
  const list = await owner.get('/developers/webhooks')
  assert.match(list.text, new RegExp(`/developers/webhooks/${id}`))
  const path = `/developers/webhooks/${id}`
  const saved = await owner.post(`${path}/edit`, { ...FORM, name: 'Outra', 'charge.expired': '1' })
  assert.match(saved.location!, /done=changed$/)
  const page = await owner.get(`${path}?done=changed`)
  assert.match(page.text, /O webhook foi alterado/)
  assert.match(page.text, /Cobrança expirada/)
  assert.ok(!SECRET.test(page.text))
  assert.match((await owner.get(`${path}/delete`)).text, /Excluir o webhook Outra\?/)
  assert.match((await owner.post(`${path}/delete`)).location!, /webhooks\?done=deleted$/)
  assert.equal((await owner.get(path)).status, 404)
})

test('a wrong address is explained, and what was typed is shown again', async () => {
  const strict = await startApi({}, { local: false, lookup: async () => [] })
  const { company } = await strict.client()
  const owner = await signIn(strict, company)
  const answers = {
    'loja.example.com': /que comece com https/,
    'http://loja.example.com': /precisa começar com https/,
    'https://ana:senha@loja.example.com': /Retire o usuário e a senha/,
    'https://10.0.0.7/pix': /rede privada ou reservada/,
    'https://localhost/pix': /Use um nome público/,
  }
  for (const [url, sentence] of Object.entries(answers)) {
    const refused = await owner.post('/developers/webhooks/new', { ...FORM, url })
    assert.equal(refused.status, 400, url)
    assert.match(refused.text, sentence)
    assert.ok(refused.text.includes(`value="${url}"`))
  }
  const none = await owner.post('/developers/webhooks/new', {
    name: 'x',
    url: 'https://loja.example.com',
  })
  assert.match(none.text, /Marque ao menos um evento/)
})

test('a secret is rotated, a webhook deactivated and activated, a test sent', async () => {
  const client = await api.client()
  const developer = await signIn(api, client.company, { role: 'developer', language: 'en' })
  const first = SECRET.exec((await developer.post('/developers/webhooks/new', FORM)).text)![0]
  const [{ id }] = (await client.get('/webhook')).body.data as [{ id: string }]
  const path = `/developers/webhooks/${id}`
  assert.match((await developer.get(`${path}/secret`)).text, /Generate a new secret for Loja/)
  const once = '3'.repeat(26)
  const rotated = await developer.post(`${path}/secret`, { once })
  assert.match((await developer.post(`${path}/secret`, { once })).location!, /\?done=shown$/)
  assert.notEqual(SECRET.exec(rotated.text)![0], first)
  assert.match((await developer.post(`${path}/test`)).location!, /done=tested$/)
  const tested = await developer.get(`${path}?done=tested`)
  assert.match(tested.text, /Webhook test/)
  assert.match(tested.text, /Pending/)
  assert.match((await developer.post(`${path}/deactivate`)).location!, /done=deactivated$/)
  const refused = await developer.post(`${path}/test`)
  assert.equal(refused.status, 400)
  assert.match(refused.text, /The webhook is inactive/)
  assert.match((await developer.post(`${path}/activate`)).location!, /done=activated$/)
  assert.equal((await client.get(`/webhook/${id}`)).body.data.status, 'ACTIVE')
})

test('a failing, a paused and a deactivated webhook say so', async () => {
  const client = await api.client()
  const viewer = await signIn(api, client.company, { role: 'viewer' })
  const made = await client.post('/webhook', {
    name: 'x',
    url: 'http://127.0.0.1:9',
    events: ['charge.paid'],
  })
  const { id } = made.body.data
  const set = (fields: string) => api.rows(`update webhooks set ${fields} where id = $1`, [id])
  const stateOf = async () => (await viewer.get(`/developers/webhooks/${id}`)).text
  await set(`failing_since = '2026-08-20T12:00Z'`)
  assert.match(await stateOf(), /Com falha desde[^§]*20\/08\/2026 09:00/)
  await set(`paused_until = '2026-08-20T15:05Z'`)
  assert.match(await stateOf(), /Em pausa até[^§]*20\/08\/2026 12:05/)
  await set(`status = 'INACTIVE', deactivated = 'GONE'`)
  assert.match(await stateOf(), /respondeu 410/)
  assert.doesNotMatch(await stateOf(), /Trocar segredo|Excluir|Ativar</)
})

test('who may only read changes nothing, and a webhook of others is not there', async () => {
  const [client, other] = [await api.client(), await api.client()]
  const made = await other.post('/webhook', {
    name: 'x',
    url: 'http://127.0.0.1:9',
    events: ['charge.paid'],
  })
  const path = `/developers/webhooks/${made.body.data.id}`
  const viewer = await signIn(api, other.company, { role: 'viewer' })
  const stranger = await signIn(api, client.company)
  for (const action of ['edit', 'secret', 'delete', 'test', 'activate', 'deactivate']) {
    assert.equal((await viewer.post(`${path}/${action}`, FORM)).status, 403, action)
    assert.equal((await stranger.post(`${path}/${action}`, FORM)).status, 404, action)
  }
  for (const page of ['', '/edit', '/secret', '/delete']) {
    assert.equal((await stranger.get(`${path}${page}`)).status, 404, page)
  }
  const { name, status } = (await other.get(`/webhook/${made.body.data.id}`)).body.data
  assert.deepEqual([name, status], ['x', 'ACTIVE'])
})

test('webhooks that fail or were deactivated for it are listed apart', async () => {
  const client = await api.client()
  const made = []
  for (const name of ['fine', 'failing', 'off']) {
    made.push((await register(client, `http://127.0.0.1:9/${name}`, ['charge.paid'])).id)
  }
  await api.rows(
    `update webhooks set failing_since = now() where company_id = $1 and url like '%failing'`,
    [client.company.id],
  )
  const owner = await signIn(api, client.company)
  const listed = async (query: string) => {
    const { text } = await owner.get(`/developers/webhooks${query}`)
    return [...new Set(text.match(/(?<=webhooks\/)wh\w*_?\w{26,}|(?<=webhooks\/)[\w-]{26,}/g))]
  }
  assert.equal((await listed('')).length, 3)
  assert.deepEqual(await listed('?state=failing'), [made[1]])
})
