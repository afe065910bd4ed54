import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { suffixOf } from '../../../src/lib/ids.ts'
import { type Client, payer, type Reply, startApi } from '../../support/api.ts'
import { openBanked } from '../../support/bank.ts'
import { requireFigures } from '../../support/figures.ts'
import { at, productOf } from '../../support/pages.ts'
import { makeUnmatched, pay } from '../../support/payments.ts'
import { runTasks } from '../../support/tasks.ts'

const api = await startApi()

// biome-ignore lint/suspicious/noExplicitAny: a test asserts what it expects of a body
type Link = any

const make = async (client: Client, fields: object = {}): Promise<Link> => {
  const made = await client.post('/link', { title: 'Pão de queijo', amount: 1500, ...fields })
  assert.equal(made.status, 201, made.text)
  return made.body.data
}
const read = async (client: Client, { id }: Link): Promise<Link> =>
  (await client.get(`/link/${id}`)).body.data
const faultsOf = ({ body }: Reply) =>
  body.errors.map(({ description }: { description: string }) => description)

const MARIA = { name: 'Maria da Silva', taxId: '123.456.789-09' }
let forms = 0
const post = (link: Link, fields: Record<string, string>) =>
  fetch(at(api, link.url), {
    method: 'POST',
    redirect: 'manual',
    headers: { 'Content-Type': 'application/x-www-form-urlencoded' },
    body: new URLSearchParams({
      once: `form ${forms++}`,
      price: String(link.amount ?? ''),
      quantity: '1',
      ...MARIA,
      ...fields,
    }),
  })
/** Fills in the form of a link. Returns where it leads. */
async function buy(link: Link, fields: Record<string, string> = {}): Promise<string | null> {
  const answer = await post(link, fields)
  await answer.text()
  return answer.status === 303 ? answer.headers.get('location') : null
}
const chargesOf = async (client: Client, link: Link): Promise<Link[]> =>
  (await client.get(`/charge?linkId=${link.id}`)).body.data

test('a payer who fills in the form of a link gets a charge with its code', async () => {
  const client = await api.client()
  const link = await make(client, { successUrl: 'https://loja.example/obrigado' })
  assert.match(link.id, /^link_/)
  assert.equal(link.url, `http://vintem.test/l/${suffixOf(client.company.id)}/pao-de-queijo`)
  const location = await buy(link, { email: 'maria@example.com' })
  assert.match(location ?? '', /^\/pay\/[\w-]+$/)
  const [charge] = await chargesOf(client, link)
  assert.equal(charge.linkId, link.id)
  assert.equal(charge.total, 1500)
  assert.equal(charge.description, 'Pão de queijo')
  assert.equal(charge.externalId, 'pao-de-queijo')
  assert.equal(charge.successUrl, 'https://loja.example/obrigado')
  assert.equal(charge.paymentStatus, 'PROCESSING')
  assert.equal(charge.customer.name, 'Maria da Silva')
  assert.ok(charge.brCode)
  const page = await (await fetch(api.url + location)).text()
  assert.match(page, new RegExp(charge.brCode.slice(0, 40)))
  const { length } = (await client.get(`/charge?kind=LINK`)).body.data
  assert.equal(length, 1)
})

test('the events of a sale by a link are those of any charge', async () => {
  const client = await api.client()
  const link = await make(client)
  await buy(link)
  const [charge] = await chargesOf(client, link)
  await pay(api, charge.brCode)
  const events = (await client.get('/event')).body.data
  const types = events
    .filter(({ data }: Link) => data.id === charge.id || data.charge?.id === charge.id)
    .map(({ type }: { type: string }) => type)
  assert.ok(types.includes('charge.paid'), JSON.stringify(events))
})

test('what is counted with a link is what became of its charges', async () => {
  const client = await api.client()
  const link = await make(client, { maxQuantity: 3, stock: 10 })
  for (const quantity of ['1', '2', '3', '1']) assert.ok(await buy(link, { quantity }))
  const [last, third, second] = await chargesOf(client, link)
  await pay(api, third.brCode)
  await client.post(`/charge/${second.id}/cancel`)
  assert.equal(last.total, 1500)
  assert.equal(third.total, 4500)
  assert.equal(third.description, '3 × Pão de queijo')
  const shown = await read(client, link)
  assert.deepEqual([shown.created, shown.paid, shown.received, shown.remaining], [4, 1, 4500, 7])
})

test('the opened page of a link is counted once for an address, and not for machines', async () => {
  const client = await api.client()
  const link = await make(client)
  const open = async (agent: string) =>
    (await fetch(at(api, link.url), { headers: { 'User-Agent': agent } })).text()
  await open('WhatsApp/2.23')
  assert.equal((await read(client, link)).opened, 0)
  await open('Mozilla/5.0')
  await open('Mozilla/5.0')
  assert.equal((await read(client, link)).opened, 1)
})

test('of many payers at once no more get a charge than there is stock', async () => {
  const client = await api.client()
  await fc.assert(
    fc.asyncProperty(
      fc.integer({ min: 1, max: 4 }),
      fc.integer({ min: 1, max: 8 }),
      async (stock, payers) => {
        const link = await make(client, { stock })
        const bought = await Promise.all(Array.from({ length: payers }, () => buy(link)))
        const sold = bought.filter((location) => location !== null).length
        assert.equal(sold, Math.min(stock, payers))
        assert.equal((await chargesOf(client, link)).length, sold)
        assert.equal((await read(client, link)).remaining, stock - sold)
      },
    ),
    { numRuns: 12 },
  )
})

test('a place of the stock is free again when its charge expires or is canceled', async () => {
  const client = await api.client()
  const link = await make(client, { stock: 1, expiresIn: 60 })
  assert.ok(await buy(link))
  assert.equal(await buy(link), null)
  assert.equal((await read(client, link)).state, 'SOLD_OUT')
  assert.match(await (await fetch(at(api, link.url))).text(), /Esgotado por enquanto/)
  api.clock.advance(61)
  await runTasks(api)
  assert.equal((await read(client, link)).state, 'OPEN')
  assert.ok(await buy(link))
  const [charge] = await chargesOf(client, link)
  await client.post(`/charge/${charge.id}/cancel`)
  assert.ok(await buy(link))
  const [paid] = await chargesOf(client, link)
  await pay(api, paid.brCode)
  api.clock.advance(61)
  await runTasks(api)
  assert.equal(await buy(link), null)
  assert.match(await (await fetch(at(api, link.url))).text(), /Esgotado</)
})

test('a payment that settles an expired sale takes its place of the stock again', async () => {
  const client = await api.client()
  const link = await make(client, { stock: 2, expiresIn: 60 })
  await buy(link)
  const [charge] = await chargesOf(client, link)
  api.clock.advance(61)
  await runTasks(api)
  assert.equal((await read(client, link)).remaining, 2)
  const endToEndId = await makeUnmatched(api, client, 1500)
  const settled = await client.post(`/payment/unmatched/${endToEndId}/accept`, {
    chargeId: charge.id,
  })
  assert.equal(settled.status, 200, settled.text)
  const shown = await read(client, link)
  assert.deepEqual([shown.remaining, shown.paid, shown.received], [1, 1, 1500])
  await requireFigures(api, client)
})

test('a form that is sent twice, one after the other or at once, makes one charge', async () => {
  const client = await api.client()
  const link = await make(client, { stock: 5 })
  const same = { once: 'the same form' }
  const all = await Promise.all([buy(link, same), buy(link, same), buy(link, same)])
  assert.ok(all[0])
  assert.deepEqual(new Set([...all, await buy(link, same)]).size, 1)
  assert.equal((await chargesOf(client, link)).length, 1)
  assert.equal((await read(client, link)).remaining, 4)
})

test('a payer whose page shows another price is shown the new one first', async () => {
  const client = await api.client()
  const link = await make(client)
  await client.put(`/link/${link.id}`, { amount: 1700 })
  const refused = await post(link, {})
  assert.equal(refused.status, 422)
  const text = await refused.text()
  assert.match(text, /O valor mudou/)
  assert.match(text, /R\$ 17,00/)
  assert.match(text, /value="Maria da Silva"/)
  assert.equal((await chargesOf(client, link)).length, 0)
  assert.ok(await buy({ ...link, amount: 1700 }))
})

test('a form that is sent again after the price has changed makes a charge of the new one', async () => {
  const client = await api.client()
  const link = await make(client)
  const same = { once: 'the same form' }
  assert.ok(await buy(link, same))
  await client.put(`/link/${link.id}`, { amount: 1000 })
  assert.equal(await buy(link, same), null)
  assert.ok(await buy({ ...link, amount: 1000 }, same))
  const [newest] = await chargesOf(client, link)
  assert.equal(newest.total, 1000)
})

test('the price of products is theirs when they are sold, times the quantity', async () => {
  const client = await api.client()
  const bread = await productOf(client, { name: 'Pão', price: 700 })
  const cake = await productOf(client, { name: 'Bolo', price: 1300 })
  const items = [
    { productId: bread, quantity: 2 },
    { productId: cake, quantity: 1 },
  ]
  const link = await make(client, { amount: undefined, items, maxQuantity: 3 })
  assert.ok(await buy(link, { price: '2700', quantity: '3' }))
  const [charge] = await chargesOf(client, link)
  assert.equal(charge.total, 8100)
  assert.deepEqual(
    charge.items.map(({ quantity }: { quantity: number }) => quantity),
    [6, 3],
  )
  await client.put(`/product/${cake}`, { price: 1400 })
  assert.equal(await buy(link, { price: '2700' }), null)
  assert.ok(await buy(link, { price: '2800' }))
  await client.put(`/product/${cake}`, { status: 'INACTIVE' })
  assert.equal(await buy(link, { price: '2800' }), null)
  assert.match(await (await fetch(at(api, link.url))).text(), /não está ativo/)
})

test('an amount that the payer types is within the bounds', async () => {
  const client = await api.client()
  const link = await make(client, { amount: undefined, openAmount: { min: 1000, max: 5000 } })
  for (const amount of ['', '0', '-10', '9,99', '50,01', '99999999999999', 'x']) {
    assert.equal((await post(link, { amount })).status, 422, amount)
  }
  for (const amount of ['10', '50,00']) assert.ok(await buy(link, { amount }), amount)
  const free = await make(client, { amount: undefined, openAmount: {} })
  assert.equal((await post(free, { amount: '4,99' })).status, 422)
  assert.ok(await buy(free, { amount: '5,00' }))
})

test('a quantity outside the limits is refused', async () => {
  const client = await api.client()
  const link = await make(client, { minQuantity: 2, maxQuantity: 5 })
  for (const quantity of ['', '0', '-1', '1', '6', '2.5', '1e1', '99999999999999999999']) {
    assert.equal((await post(link, { quantity })).status, 422, quantity)
  }
  assert.ok(await buy(link, { quantity: '5' }))
})

test('no link costs less or more than a charge may', async () => {
  const client = await api.client()
  const refused = async (fields: object) =>
    faultsOf(await client.post('/link', { title: 'x', ...fields }))
  assert.match((await refused({ amount: 499 }))[0], /^amount: .* at least 500$/)
  assert.match((await refused({ amount: 100, minQuantity: 4 }))[0], /^amount: /)
  assert.match((await refused({ amount: 999_999_999_999, maxQuantity: 2 }))[0], /^maxQuantity: /)
  assert.match((await refused({ amount: -5 }))[0], /^amount: /)
  assert.match((await refused({}))[0], /^amount: send it/)
  assert.match((await refused({ amount: 500, openAmount: {} }))[0], /^openAmount: .*not both/)
  assert.match((await refused({ openAmount: { min: 900, max: 800 } }))[0], /^openAmount\.max/)
  assert.match((await refused({ openAmount: {}, maxQuantity: 2 }))[0], /^maxQuantity: must be 1/)
  assert.match(
    (await refused({ amount: 500, successUrl: 'javascript:alert(1)' }))[0],
    /^successUrl/,
  )
  const club = await productOf(client, { name: 'Clube', type: 'RECURRING', frequency: 'MONTHLY' })
  const items = [{ productId: club, quantity: 1 }]
  assert.match((await refused({ items }))[0], /^items: a subscription/)
  const other = await productOf(await api.client(), { name: 'Alheio' })
  const [fault] = await refused({ items: [{ productId: other, quantity: 1 }] })
  assert.match(fault, /^items\[0\]\.productId: the company has no such product/)
})

test('an address is made of the title, is unique in a company, and leads on after a change', async () => {
  const client = await api.client()
  const slugs = []
  for (let i = 0; i < 3; i++) slugs.push((await make(client)).slug)
  assert.deepEqual(slugs, ['pao-de-queijo', 'pao-de-queijo-2', 'pao-de-queijo-3'])
  assert.equal((await make(await api.client())).slug, 'pao-de-queijo')
  assert.equal((await make(client, { title: '日本 🎉' })).slug, 'link')
  const wrong = { title: 'x', amount: 500 }
  for (const slug of ['Ação', 'a--b', '-a', 'a/b', '../x', 'a b', 'ｐａｏ', 'x'.repeat(61)]) {
    assert.match(faultsOf(await client.post('/link', { ...wrong, slug }))[0], /^slug: /, slug)
  }
  const link = await make(client, { slug: 'primeiro' })
  const moved = (await client.put(`/link/${link.id}`, { slug: 'segundo' })).body.data
  const old = await fetch(at(api, link.url), { redirect: 'manual' })
  assert.equal(old.status, 302)
  assert.equal(at(api, moved.url), api.url + old.headers.get('location'))
  const taken = await client.post('/link', { ...wrong, slug: 'primeiro' })
  assert.match(faultsOf(taken)[0], /^slug: another link/)
  assert.equal((await client.put(`/link/${link.id}`, { slug: 'primeiro' })).status, 200)
  const shouted = await fetch(at(api, link.url.replace('primeiro', 'PRIMEIRO')), {
    redirect: 'manual',
  })
  assert.equal(shouted.status, 302)
})

test('links that are off or have ended, and companies that are suspended, sell nothing', async () => {
  const client = await api.client({}, {})
  await client.put('/company', {
    contactWhatsapp: '(11) 98765-4321',
    contactEmail: 'oi@loja.example',
  })
  const endsAt = new Date(api.clock.now().getTime() + 60_000).toISOString()
  const link = await make(client, { endsAt })
  const textOf = async () => (await fetch(at(api, link.url))).text()
  assert.match(await textOf(), /Vendas até/)
  api.clock.advance(60)
  const ended = await textOf()
  assert.match(ended, /As vendas terminaram/)
  assert.match(ended, /https:\/\/wa\.me\/5511987654321/)
  assert.match(ended, /mailto:oi@loja\.example/)
  assert.equal(await buy(link), null)
  await client.put(`/link/${link.id}`, { endsAt: null, enabled: false })
  assert.match(await textOf(), /não está ativo/)
  assert.equal(await buy(link), null)
  await client.put(`/link/${link.id}`, { enabled: true })
  assert.match(await textOf(), /Gerar código Pix/)
  await api.rows('update companies set suspended_at = now() where id = $1', [client.company.id])
  assert.match(await textOf(), /não pode receber agora/)
  assert.equal(await buy(link), null)
  assert.equal((await chargesOf(client, link)).length, 0)
})

test('what a merchant writes is text on the page, and never markup', async () => {
  const client = await api.client()
  const evil = '<script>alert(1)</script>"><img src=x>'
  const link = await make(client, { title: evil, description: evil })
  const text = await (await fetch(at(api, link.url))).text()
  assert.doesNotMatch(text, /<script>alert|<img src=x/)
  const back = await (await post(link, { name: evil, taxId: evil })).text()
  assert.doesNotMatch(back, /<script>alert|<img src=x/)
})

test('links of another company, and addresses that nobody has, do not exist', async () => {
  const [client, other] = [await api.client(), await api.client()]
  const link = await make(client)
  assert.equal((await other.get(`/link/${link.id}`)).status, 404)
  assert.equal((await other.put(`/link/${link.id}`, { enabled: false })).status, 404)
  assert.deepEqual((await other.get(`/charge?linkId=${link.id}`)).body.data, [])
  for (const path of [
    `/l/${suffixOf(other.company.id)}/${link.slug}`,
    `/l/${suffixOf(client.company.id)}/nada`,
    `/l/${suffixOf(client.company.id)}/${link.slug}%00`,
    `/l/x/${link.slug}`,
    `/l/${suffixOf(client.company.id)}/${encodeURIComponent("' or 1=1 --")}`,
  ]) {
    assert.equal((await fetch(api.url + path)).status, 404, path)
  }
})

test('a link whose products have become too dear is shown, and sells nothing', async () => {
  const client = await api.client()
  const productId = await productOf(client, { name: 'Pão', price: 500 })
  const fields = { name: 'Ana', taxId: payer().taxId, pixKey: 'ana2@example.com' }
  const recipientId = (await client.post('/recipient', fields)).body.data.id
  const link = await make(client, {
    amount: undefined,
    items: [{ productId, quantity: 1_000_000 }],
    split: [{ recipientId, percent: 1000 }],
  })
  await client.put(`/product/${productId}`, { price: 999_999_999_999 })
  const shown = await client.get(`/link/${link.id}`)
  assert.equal(shown.status, 200, shown.text)
  assert.equal(shown.body.data.split[0].recipientId, recipientId)
  assert.equal((await fetch(at(api, link.url))).status, 200)
  assert.equal(await buy(link, { price: '999999999999000000' }), null)
})

test('a link ends on a day that its page can write', async () => {
  const client = await api.client()
  const link = await make(client)
  for (const endsAt of [
    '9999-12-31T23:59:59-23:00',
    '3000-01-02T12:00:00Z',
    '0000-01-01T00:00:00Z',
  ]) {
    const refused = await client.put(`/link/${link.id}`, { endsAt })
    assert.match(faultsOf(refused)[0], /^endsAt: must be a day/, endsAt)
  }
  await client.put(`/link/${link.id}`, { endsAt: '2999-12-30T23:59:59Z' })
  assert.match(await (await fetch(at(api, link.url))).text(), /Vendas até/)
})

test('an address for shipping is asked for with the payer, and is kept with the charge', async () => {
  const client = await api.client()
  const link = await make(client, { needShipping: true })
  assert.equal((await post(link, {})).status, 422)
  const address = {
    postalCode: '01310-100',
    address: 'Avenida Paulista',
    number: '1000',
    district: 'Bela Vista',
    city: 'São Paulo',
    state: 'SP',
  }
  assert.ok(await buy(link, address))
  const [charge] = await chargesOf(client, link)
  assert.equal(charge.shipping.address, 'Avenida Paulista')
})

test('a sale at a real bank has the code of the bank, and none of it is removed again', async () => {
  const client = await openBanked(api)
  const link = await make(client, { stock: 1 })
  const bought = await Promise.all([buy(link), buy(link), buy(link)])
  assert.equal(bought.filter((location) => location !== null).length, 1)
  const charges = await chargesOf(client, link)
  assert.equal(charges.length, 1)
  assert.ok(charges[0].brCode)
})

test('a split of a link is that of its charges', async () => {
  const client = await api.client()
  const made = await client.post('/recipient', {
    name: 'Ana',
    taxId: payer().taxId,
    pixKey: 'ana@example.com',
  })
  assert.equal(made.status, 201, made.text)
  const recipientId = made.body.data.id
  const link = await make(client, { split: [{ recipientId, percent: 1000 }] })
  assert.equal(link.split[0].value, 150)
  await buy(link)
  const [charge] = await chargesOf(client, link)
  assert.equal(charge.split[0].value, 150)
  const dear = { title: 'x', amount: 500, split: [{ recipientId, amount: 501 }] }
  assert.match(faultsOf(await client.post('/link', dear))[0], /^split: /)
})

test('unknown fields of a body are named, and lists go on by pages', async () => {
  const client = await api.client()
  const made = await client.post('/link', { title: 'x', amount: 500, price: 1 })
  assert.equal(made.headers.get('x-ignored-fields'), 'price')
  await make(client, { enabled: false })
  const { body, headers } = await client.get('/link?limit=1')
  assert.equal(body.data.length, 1)
  assert.match(headers.get('link') ?? '', /after=link_/)
  const off = (await client.get('/link?enabled=false')).body.data
  assert.deepEqual(
    off.map(({ state }: Link) => state),
    ['OFF'],
  )
})
