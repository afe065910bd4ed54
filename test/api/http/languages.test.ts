import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ROUTES } from '../../../src/http/routes/all.ts'
import { VERSION_NAMES } from '../../../src/versions/history.ts'
import { payer, type Reply, startApi } from '../../support/api.ts'

const api = await startApi()
const client = await api.client()
const PORTUGUESE = 'pt-BR,pt;q=0.9,en;q=0.8'

const inLanguage = (language: string) => ({ headers: { 'Accept-Language': language } })
const languageOf = ({ headers }: Reply) => headers.get('content-language')

type Item = { code: string; description: string }
const pathOf = ({ description }: Item) => description.split(':')[0]

test('an error is in the language that the request prefers, and in English unless it names one', async () => {
  const preferences: Record<string, 'pt-BR' | 'en'> = {
    'pt-BR': 'pt-BR',
    pt: 'pt-BR',
    'PT-br': 'pt-BR',
    [PORTUGUESE]: 'pt-BR',
    'en;q=0.5, pt-BR;q=0.6': 'pt-BR',
    'fr, pt;q=0.1': 'pt-BR',
    'en, pt-BR;q=0.9': 'en',
    'pt;q=0, en;q=0.1': 'en',
    'pt;q=x': 'en',
    'pt;q=0': 'en',
    '*': 'en',
    fr: 'en',
    ',;q=,': 'en',
  }
  for (const [header, expected] of Object.entries(preferences)) {
    const reply = await client.get('/charge/charge_x', inLanguage(header))
    const text =
      expected === 'en'
        ? 'The company has no charge with this id.'
        : 'A empresa não tem cobrança com este id.'
    const errors = [{ code: 'charge_not_found', description: text }]
    assert.deepEqual(reply.body, { status: 404, message: text, data: null, errors }, header)
    assert.equal(languageOf(reply), expected, header)
    assert.equal(reply.headers.get('vary'), 'Accept-Language')
  }
})

test('without the header an error is what it was', async () => {
  const bare = await fetch(`${api.url}/charge/charge_x`)
  assert.equal(bare.headers.get('content-language'), 'en')
  const { message } = (await bare.json()) as { message: string }
  assert.equal(message, 'The request has no X-API-KEY header.')
})

test('each version has its own form in both languages', async () => {
  for (const version of VERSION_NAMES) {
    const headers = { 'X-Api-Version': version, 'Accept-Language': 'pt-BR' }
    const { status, body } = await client.post('/charge/pix', { amount: 1 }, { headers })
    assert.equal(status, 400)
    assert.equal(body.message, 'customer: é obrigatório, e mais 1 campo é inválido')
  }
})

test('every operation says in Portuguese what it says in English, about the same fields', async () => {
  for (const { method, path } of ROUTES) {
    const address = `${path.replaceAll(/\{\w+\}/g, 'x')}?unheardOf=1&limit=x`
    const json = method === 'GET' ? {} : { json: { amount: 'x', customer: 5, items: {}, url: 5 } }
    const english = await client.call(method, address, json)
    const portuguese = await client.call(method, address, { ...json, ...inLanguage(PORTUGUESE) })
    const [en, pt] = [english, portuguese].map(({ body }) => body.errors as Item[])
    assert.equal(portuguese.status, english.status)
    assert.deepEqual(pt!.map(pathOf), en!.map(pathOf), path)
    for (const [i, { code, description }] of en!.entries()) {
      assert.equal(pt![i]!.code, code)
      assert.notEqual(pt![i]!.description, description, path)
    }
  }
})

test('what is refused before an operation is reached is in Portuguese too', async () => {
  const { headers } = inLanguage('pt-BR')
  const sent = { method: 'POST', body: '{"', headers: { ...headers, 'X-API-KEY': client.key } }
  const replies: [RequestInit & { path: string }, string][] = [
    [{ path: '/charge', headers }, 'A requisição não tem o cabeçalho X-API-KEY.'],
    [{ path: '/nothing', headers }, 'Nenhuma operação responde a GET neste caminho. Veja /docs.'],
    [{ path: '/%', headers }, 'O caminho não é um caminho de URL válido.'],
    [{ path: '/charge/pix', ...sent }, 'Envie o corpo com Content-Type: application/json.'],
  ]
  for (const [{ path, ...init }, expected] of replies) {
    const reply = await fetch(api.url + path, init)
    assert.equal(reply.headers.get('content-language'), 'pt-BR', path)
    assert.equal(((await reply.json()) as { message: string }).message, expected)
  }
})

test('charges of a batch that are refused say why in the language of the request', async () => {
  const charges = [{ amount: 1, customer: payer() }]
  const { body } = await client.post('/charge/batch', { charges }, inLanguage('pt-BR'))
  const description = 'amount: deve ser no mínimo 500'
  assert.deepEqual(body.data.items[0].errors, [{ code: 'invalid_value', description }])
})

test('an answer that is given again is the first one, byte for byte, in its language', async () => {
  const withKey = (language: string) => ({
    headers: { 'Idempotency-Key': 'languages', 'Accept-Language': language },
  })
  const path = '/charge/charge_x/cancel'
  const first = await client.post(path, {}, withKey('pt-BR'))
  assert.equal(first.body.message, 'A empresa não tem cobrança com este id.')
  assert.equal(languageOf(first), 'pt-BR')
  const again = await client.post(path, {}, withKey('en'))
  assert.equal(again.headers.get('idempotent-replayed'), 'true')
  assert.equal(again.text, first.text)
  assert.equal(languageOf(again), null)
})

test('a success is the same in all languages', async () => {
  const [en, pt] = await Promise.all([
    client.get('/charge?limit=1'),
    client.get('/charge?limit=1', inLanguage('pt-BR')),
  ])
  assert.equal(pt.text, en.text)
  assert.equal(languageOf(pt), null)
})
