import assert from 'node:assert/strict'
import { test } from 'node:test'
import { payer, startApi } from '../support/api.ts'
import { signIn } from '../support/dashboard.ts'
import { makeCharge, makeCode, makePaid, makeUnmatched, pay } from '../support/payments.ts'
import { decode } from '../support/qr.ts'
import { makeSubscription, makeTemplate } from '../support/subscriptions.ts'

const api = await startApi()
const client = await api.client()
const owner = await signIn(api, client.company)

const customer = payer({ email: 'maria@example.com', phone: '11987654321' })
const FORM = { name: 'Maria da Silva', taxId: '529.982.247-25', phone: '11987654321' }

const unescaped = (text: string): string =>
  text.replaceAll('&amp;', '&').replaceAll('&quot;', '"').replaceAll('&#39;', "'")

/** The addresses of the links of a page that begin so. */
const linksIn = (text: string, start: string): URL[] =>
  [...text.matchAll(/href="([^"]+)"/g)]
    .map(([, href]) => unescaped(href!))
    .filter((href) => href.startsWith(start))
    .map((href) => new URL(href))

const [whatsApp, mailto] = ['https://wa.me/', 'mailto:']
const messageIn = (text: string) => linksIn(text, whatsApp)[0]!.searchParams.get('text')!
const addressIn = (text: string) => /data-copy="([^"]+\/pay\/[^"]+)"/.exec(text)![1]!

test('a new charge and a new link lead to the page on which they are sent', async () => {
  const charge = await owner.post('/new/charge', { ...FORM, amount: '49,90', expiresIn: '3600' })
  const link = await owner.post('/new/link', { ...FORM, total: '19,90', expiresIn: '604800' })
  const open = async (location: string) => (await owner.get(location.slice(owner.home.length))).text
  assert.match(await open(charge.location!), /Cobrança criada\. Copie o link e envie/)
  const text = await open(link.location!)
  assert.match(text, /Link criado\. Copie e envie ao cliente\./)
  assert.match(text, /class="button js" data-copy="[^"]+\/pay\//)
})

test('WhatsApp opens in a new tab, for the payer, with amount and link, and asks us nothing', async () => {
  const { id } = await makeCharge(client, 4990, { customer, description: 'A & B' })
  const { text, headers } = await owner.get(`/charges/${id}/share`)
  const [url] = linksIn(text, whatsApp)
  assert.equal(url!.pathname, '/5511987654321')
  const message = url!.searchParams.get('text')!
  assert.match(message, /^Olá, Maria da Silva! Sua cobrança de .*\nValor: R\$ 49,90\n/)
  assert.ok(message.endsWith(addressIn(text)), message)
  assert.match(text, /href="https:\/\/wa\.me\/[^"]+" target="_blank" rel="noopener noreferrer"/)
  assert.equal(headers.get('referrer-policy'), 'same-origin')
  assert.match(headers.get('content-security-policy')!, /default-src 'none'.*connect-src 'self'/)
})

test('no title writes another line of the head of an e-mail', async () => {
  const made = await client.post('/link', { title: 'Bolo\r\nBcc: x@y.example', amount: 500 })
  const { text } = await owner.get(`/links/${made.body.data.id}`)
  const [url] = linksIn(text, mailto)
  assert.equal(url!.searchParams.get('subject'), 'Bolo Bcc: x@y.example')
  assert.deepEqual([...url!.searchParams.keys()], ['subject', 'body'])
})

test('subscriptions, their links, plans and links for many are sent in all ways, and printed', async () => {
  const made = async (path: string, body: object) => (await client.post(path, body)).body.data.id
  const plan = await made('/charge/plan', {
    total: 9000,
    count: 3,
    firstDueDate: '2027-01-20',
    customer,
  })
  const [subscription, template] = [await makeSubscription(client), await makeTemplate(client)]
  const link = await made('/link', { title: 'Rifa', amount: 1000 })
  const paths = [`/subscriptions/${subscription.id}`, `/subscriptions/${template.id}`]
  for (const path of [...paths, `/plans/${plan}`, `/links/${link}`]) {
    const { text } = await owner.get(path)
    const address = /class="button js" data-copy="([^"]+)"/.exec(text)![1]!
    assert.ok(messageIn(text).endsWith(`\n${address}`), path)
    assert.equal(linksIn(text, mailto).length, 1, path)
    const image = /<img src="(data:image\/png[^"]+)"/.exec(text)![1]!
    assert.equal(await decode(image), address, path)
    assert.match(text, /data-print/)
    for (const script of ['share', 'print'])
      assert.match(text, new RegExp(`src="[^"]*/${script}[.]`), path)
  }
  const { text } = await owner.get(`/plans/${plan}`)
  assert.equal(linksIn(text, whatsApp)[0]!.pathname, '/5511987654321')
  const viewer = await signIn(api, client.company, { role: 'viewer' })
  for (const path of [`/plans/${plan}`, ...paths]) {
    assert.equal(linksIn((await viewer.get(path)).text, whatsApp)[0]!.pathname, '/', path)
  }
})

test('an e-mail is prepared with subject, lines and address', async () => {
  const { id } = await makeCharge(client, 4990, { customer })
  const { text } = await owner.get(`/charges/${id}/share`)
  const [url] = linksIn(text, mailto)
  assert.equal(url!.pathname, 'maria@example.com')
  assert.match(url!.search, /^\?subject=[^&+]+cobran%C3%A7a%20de%20R%24%2049%2C90&body=[^&+]+$/)
  assert.match(url!.searchParams.get('body')!, /R\$ 49,90\r\n/)
  assert.match(text, /action="[^"]+\/mail"/)
})

test('the QR code of the page is the address of the payment page', async () => {
  const { id } = await makeCharge(client, 4990)
  const { text } = await owner.get(`/charges/${id}/share`)
  const image = /<img src="(data:image\/png[^"]+)"/.exec(text)![1]!
  assert.equal(await decode(image), addressIn(text))
  assert.equal((await fetch(addressIn(text).replace(/^.*(?=\/pay\/)/, api.url))).status, 200)
})

test('who may not act on payments sends the link without learning number or address', async () => {
  const { id } = await makeCharge(client, 4990, { customer })
  const viewer = await signIn(api, client.company, { role: 'viewer' })
  for (const path of [`/charges/${id}/share`, `/charges/${id}`]) {
    const { text } = await viewer.get(path)
    assert.equal(linksIn(text, whatsApp)[0]!.pathname, '/', path)
    assert.equal(linksIn(text, mailto)[0]!.pathname, '', path)
    assert.doesNotMatch(text, /11987654321|maria@example|maria%40example/, path)
  }
})

test('a name that is an address of another site, or markup, makes no link and no markup', async () => {
  const names = ['golpe.example.com', '"><img src=x onerror=alert(1)>']
  for (const name of names) {
    const { id } = await makeCharge(client, 4990, { customer: payer({ name }) })
    const { text } = await owner.get(`/charges/${id}/share`)
    assert.doesNotMatch(text, /<img src=x/)
    assert.doesNotMatch(messageIn(text), /golpe\.example/)
  }
})

test('what can no longer be paid is not sent to be paid', async () => {
  const { id } = await makePaid(api, client, 4990)
  assert.match((await owner.get(`/charges/${id}/share`)).location!, new RegExp(`/charges/${id}$`))
  const { id: canceled } = await makeCharge(client, 4990)
  await client.post(`/charge/${canceled}/cancel`)
  const { text } = await owner.get(`/charges/${canceled}`)
  assert.deepEqual(linksIn(text, mailto), [])
})

test('an open charge is sent from its page too, and its payment page opens in another tab', async () => {
  const { id } = await makeCharge(client, 4990, { customer })
  const { text } = await owner.get(`/charges/${id}`)
  assert.match(messageIn(text), /Valor: R\$ 49,90/)
  assert.match(text, new RegExp(`href="[^"]+/charges/${id}/share"`))
  assert.match(text, /href="[^"]+\/pay\/[^"]+" target="_blank" rel="noopener">Abrir página/)
})

test('the receipt of a paid charge is sent by its public link, of a static code too', async () => {
  const { id } = await makePaid(api, client, 4990)
  const code = await makeCode(client, 700)
  await pay(api, code.brCode)
  const { body } = await client.get('/charge?kind=STATIC')
  const sale = body.data[0].id
  for (const one of [id, sale]) {
    const { text } = await owner.get(`/charges/${one}`)
    assert.match(messageIn(text), /recebeu seu Pix de R\$ (49,90|7,00)\. Obrigado!/)
    const page = await fetch(addressIn(text).replace(/^.*(?=\/pay\/)/, api.url))
    assert.match(await page.text(), /comprovante/i)
  }
})

test('support copies what happened in words that a payer understands, without our ids', async () => {
  const paid = await makePaid(api, client, 4990)
  const twice = await pay(api, paid.brCode)
  const explained = async () => {
    const { text } = await owner.get(`/charges/${paid.id}`)
    return unescaped(/<pre class="explain-text"[^>]*>([^<]+)</.exec(text)![1]!)
  }
  const text = await explained()
  assert.match(text, /Recebemos seu Pix de R\$ 49,90/)
  assert.match(text, /Recebemos mais um Pix de R\$ 49,90 .* já estava paga/)
  assert.ok(text.includes(paid.endToEndId) && text.includes(twice))
  assert.ok(!text.includes(paid.id) && !text.includes(paid.id.slice(7)))
  await owner.post(`/unmatched/${twice}/refund`)
  api.clock.advance(1000)
  assert.match(await explained(), /devolução de R\$ 49,90|Devolvemos R\$ 49,90/)
})

test('nothing of other payments is explained', async () => {
  const other = await makeUnmatched(api, client, 700)
  const { id } = await makePaid(api, client, 4990)
  const { text } = await owner.get(`/charges/${id}`)
  assert.ok(!text.includes(other))
})
