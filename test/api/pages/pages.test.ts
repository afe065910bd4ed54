import assert from 'node:assert/strict'
import { test } from 'node:test'
import { pageToken } from '../../../src/core/charges/addresses.ts'
import { newId } from '../../../src/lib/ids.ts'
import { VERSION_NAMES } from '../../../src/versions/history.ts'
import { type Client, eventsOf, payer, type Reply, startApi } from '../../support/api.ts'
import { ADDRESS, at, linkTo, productOf } from '../../support/pages.ts'

const api = await startApi()

const pixPage = async (client: Client, fields: object = {}): Promise<string> => {
  const made = await client.post('/charge/pix', { amount: 1990, customer: payer(), ...fields })
  return at(api, made.body.data.url)
}

const send = (url: string, fields: Record<string, string> = {}) =>
  fetch(url, { method: 'POST', body: new URLSearchParams(fields), redirect: 'manual' })

const BROWSER = { headers: { accept: 'text/html,application/xhtml+xml,*/*;q=0.8' } }

test('a page is protected: nothing but our own scripts and styles, no referrer, no copies', async () => {
  const { headers, status } = await fetch(await pixPage(await api.client()))
  assert.equal(status, 200)
  assert.equal(
    headers.get('content-security-policy'),
    "default-src 'none'; style-src 'self'; script-src 'self'; connect-src 'self'; img-src 'self' data:; form-action 'self'; base-uri 'none'; frame-ancestors 'none'",
  )
  assert.equal(headers.get('referrer-policy'), 'no-referrer')
  assert.equal(headers.get('x-content-type-options'), 'nosniff')
  assert.equal(headers.get('cache-control'), 'no-store')
})

test('the image of a company may be loaded from where it is, and from nowhere else', async () => {
  const imageUrl = 'https://cdn.example:8443/logo.png?a=1'
  const page = await fetch(await pixPage(await api.client({ imageUrl })))
  const policy = page.headers.get('content-security-policy')!
  assert.match(policy, /img-src 'self' data: https:\/\/cdn\.example:8443;/)
  assert.ok((await page.text()).includes(`src="${imageUrl}"`))
  const evil = 'https://a;script-src/x.png'
  const refused = await fetch(await pixPage(await api.client({ imageUrl: evil })))
  assert.match(refused.headers.get('content-security-policy')!, /img-src 'self' data:;/)
  assert.ok(!(await refused.text()).includes(evil))
})

test('a checkout weighs at most 30 KB packed, with its QR image, styles and scripts', async () => {
  const client = await api.client()
  const product = await productOf(client, { name: 'Pão de queijo', price: 2490 })
  const items = [{ productId: product, quantity: 2 }]
  const link = await linkTo(api, client, { items, needShipping: true })
  for (const url of [await pixPage(client, { devMode: true }), link]) {
    const page = await fetch(url)
    const markup = await page.text()
    const parts = [...markup.matchAll(/(?:href|src)="(\/assets\/[^"]+)"/g)].map(([, path]) => path!)
    assert.ok(parts.length >= 4)
    let bytes = Number(page.headers.get('content-length'))
    for (const path of parts) {
      const part = await fetch(api.url + path)
      assert.equal(part.status, 200)
      assert.match(part.headers.get('cache-control')!, /immutable/)
      bytes += Number(part.headers.get('content-length'))
      await part.arrayBuffer()
    }
    assert.ok(bytes > 4_000 && bytes <= 30_000, `${bytes} bytes`)
  }
})

test('a page shows no more of the payer than the masked view of the charge', async () => {
  const client = await api.client()
  const page = await (await fetch(await pixPage(client))).text()
  assert.ok(page.includes('***.***.247-25'))
  const { taxId, email, phone } = payer()
  for (const hidden of [taxId, '529.982.247-25', email, phone, client.company.email]) {
    assert.ok(!page.includes(hidden), hidden)
  }
})

test('an address that names nothing shows a page to people and JSON to programs', async () => {
  const { company } = await api.client()
  const other = await api.client()
  const made = await other.post('/charge/pix', { amount: 1990, customer: payer() })
  const [row] = await api.rows<{ id: string }>('select id from charges where company_id = $1', [
    other.company.id,
  ])
  assert.ok(made.body.data.id)
  const paths = [
    '/pay/short',
    `/pay/${'A'.repeat(43)}`,
    `/pay/${pageToken(api.app.vault, { companyId: company.id, id: newId() })}`,
    `/pay/${pageToken(api.app.vault, { companyId: company.id, id: row!.id })}`,
  ]
  for (const path of [...paths, '/no/such/page']) {
    const page = await fetch(api.url + path, BROWSER)
    assert.equal(page.status, 404, path)
    assert.match(page.headers.get('content-type')!, /^text\/html/)
    assert.match(await page.text(), /Página não encontrada/)
  }
  const program = await api.call('GET', '/no/such/page')
  assert.equal(program.body.errors?.[0]?.code ?? program.body.error?.code, 'route_not_found')
})

test('a link that is sent twice at once gets one code, keeps one address, and has its event once', async () => {
  const client = await api.client()
  const made = await client.post('/charge/payment-link', {
    customer: payer(),
    total: 5000,
    needShipping: true,
  })
  const url = at(api, made.body.data.url)
  const answers = await Promise.all(
    ['1', '2', '3', '4'].map((number) => send(url, { ...ADDRESS, number })),
  )
  for (const { status, headers } of answers) {
    assert.equal(status, 303)
    assert.equal(headers.get('location'), new URL(url).pathname)
  }
  const later = await send(url, { ...ADDRESS, number: '5' })
  assert.equal(later.status, 303)
  const shown = (await client.get(`/charge/${made.body.data.id}`)).body.data
  assert.match(shown.shipping.number, /^[1-4]$/)
  const types = (await eventsOf(api, client.company.id)).map(({ type }) => type)
  assert.deepEqual(types, ['charge.pending', 'charge.processing'])
})

test('where things are sent is sealed in the database', async () => {
  const client = await api.client()
  await send(await linkTo(api, client, { total: 5000, needShipping: true }), ADDRESS)
  const [row] = await api.rows<{ text: string; sealed: Buffer }>(
    'select c::text as text, shipping_sealed as sealed from charges c where company_id = $1',
    [client.company.id],
  )
  assert.ok(row!.sealed.length > 32 && !row!.sealed.includes('Paulista'))
  assert.ok(!row!.text.includes('Paulista'))
})

test('each version shows the merchant where to send things, and no charge without an address', async () => {
  for (const apiVersion of VERSION_NAMES) {
    const client = await api.client({}, { apiVersion })
    const bare = await client.post('/charge/payment-link', { customer: payer(), total: 5000 })
    const made = await client.post('/charge/payment-link', {
      customer: payer(),
      total: 5000,
      needShipping: true,
    })
    const dataOf = (reply: Reply) => reply.body.data ?? reply.body
    await send(at(api, dataOf(made).url), { ...ADDRESS, line1: '' })
    const shown = dataOf(await client.get(`/charge/${dataOf(made).id}`))
    const { line1: _, ...kept } = { ...ADDRESS, postalCode: '01310100' }
    assert.deepEqual(shown.shipping, kept)
    const other = dataOf(await client.get(`/charge/${dataOf(bare).id}`))
    assert.equal('shipping' in other, false)
  }
  const { body } = await api.call('GET', '/openapi.json')
  assert.match(JSON.stringify(body), /"shipping":/)
})

test('the address of who subscribes through a link is kept with the link', async () => {
  const client = await api.client()
  const productId = await productOf(client, {
    name: 'Clube',
    type: 'RECURRING',
    frequency: 'WEEKLY',
  })
  const made = await client.post('/charge/payment-link', {
    customer: payer(),
    needShipping: true,
    items: [{ productId, quantity: 1 }],
  })
  const url = at(api, made.body.data.url)
  assert.equal((await send(url)).status, 422)
  const begun = await send(url, ADDRESS)
  assert.equal(begun.status, 303)
  assert.notEqual(begun.headers.get('location'), new URL(url).pathname)
  const shown = (await client.get(`/charge/${made.body.data.id}`)).body.data
  assert.equal(shown.shipping.city, 'São Paulo')
  assert.equal(shown.recurrenceAuthStatus, 'CREATED')
})

test('a form that lacks the address issues no code', async () => {
  const client = await api.client()
  const url = await linkTo(api, client, { total: 5000, needShipping: true })
  const refused = await send(url, { ...ADDRESS, city: ' ' })
  assert.equal(refused.status, 422)
  const page = await refused.text()
  assert.match(page, /id="city"[^>]*aria-invalid="true"[^>]*aria-describedby="city-fault"/)
  assert.ok(page.includes('value="Avenida Paulista"'))
  assert.deepEqual(
    (await eventsOf(api, client.company.id)).map(({ type }) => type),
    ['charge.pending'],
  )
})

test('a link that is over gives no code any more', async () => {
  const client = await api.client()
  const made = await client.post('/charge/payment-link', { customer: payer(), total: 5000 })
  await client.post(`/charge/${made.body.data.id}/cancel`)
  const url = at(api, made.body.data.url)
  assert.equal((await send(url)).status, 303)
  const shown = (await client.get(`/charge/${made.body.data.id}`)).body.data
  assert.equal(shown.brCode, undefined)
  assert.match(await (await fetch(url)).text(), /Cobrança cancelada/)
})

test('a page speaks as the address says, then as the browser asks, then as the company does', async () => {
  const english = await pixPage(await api.client({ language: 'en' }))
  const portuguese = await pixPage(await api.client())
  const tagOf = async (url: string, accept: string) => {
    const page = await fetch(url, { headers: { 'accept-language': accept } })
    assert.match(page.headers.get('vary')!, /Accept-Language/)
    const [, tag] = /<html lang="([^"]+)"/.exec(await page.text())!
    assert.equal(page.headers.get('content-language'), tag)
    return tag
  }
  assert.equal(await tagOf(english, '*'), 'en')
  assert.equal(await tagOf(portuguese, 'fr-FR'), 'pt-BR')
  assert.equal(await tagOf(english, 'pt-BR,pt;q=0.9'), 'pt-BR')
  assert.equal(await tagOf(portuguese, 'en-US,en;q=0.9'), 'en')
  assert.equal(await tagOf(`${english}?lang=pt`, 'en'), 'pt-BR')
  assert.equal(await tagOf(`${portuguese}?lang=en`, 'pt'), 'en')
})

const linesOf = (markup: string): string[] =>
  [...markup.matchAll(/<dt>([^<]*)<\/dt><dd>([^<]*)<\/dd>/g)].map(
    ([, name, value]) => `${name}: ${value}`,
  )

test('a link whose total differs from its items shows the difference, so that it adds up', async () => {
  const client = await api.client()
  const productId = await productOf(client, { name: 'Pão', price: 2490 })
  const items = [{ productId, quantity: 2 }]
  const shown = async (fields: object) =>
    linesOf(await (await fetch(await linkTo(api, client, fields))).text())
  const bread = '2 × Pão: R$ 49,80'
  const less = await shown({ items, total: 4000 })
  assert.deepEqual(less.slice(0, 3), [bread, 'Desconto: − R$ 9,80', 'Total: R$ 40,00'])
  const more = await shown({ items, total: 5500 })
  assert.deepEqual(more.slice(0, 3), [bread, 'Acréscimo: R$ 5,20', 'Total: R$ 55,00'])
  const same = await shown({ items, total: 4980 })
  assert.deepEqual(same.slice(0, 2), [bread, 'Total: R$ 49,80'])
  const bare = await shown({ total: 4980 })
  assert.doesNotMatch(bare.join(), /Total|Desconto|Acréscimo/)
})

test('a page lives in the time of its company', async () => {
  const client = await api.client()
  const url = await pixPage(client, { expiresIn: 600 })
  await api.rows('insert into test_clocks (company_id, ahead_ms) values ($1, 700000)', [
    client.company.id,
  ])
  assert.match(await (await fetch(url)).text(), /Este Pix expirou/)
  assert.deepEqual(await (await fetch(`${url}/status`)).json(), { state: 'expired' })
})

test('pages that wait do not keep the service from closing', async () => {
  const other = await startApi()
  const client = await other.client()
  const made = await client.post('/charge/pix', { amount: 1990, customer: payer() })
  const stream = await fetch(`${at(other, made.body.data.url)}/events`)
  assert.equal(stream.headers.get('content-type'), 'text/event-stream; charset=utf-8')
  const reading = stream.text()
  await other.service.close()
  assert.match(await reading, /data: {"state":"open"}/)
})
