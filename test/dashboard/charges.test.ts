import assert from 'node:assert/strict'
import { test } from 'node:test'
import { fromPublic, suffixOf } from '../../src/lib/ids.ts'
import { payOutWithdrawals, releaseDueCharges } from '../../src/worker/due.ts'
import { payer, startApi } from '../support/api.ts'
import { type Member, signIn } from '../support/dashboard.ts'
import { makeCharge, makeCode, makePaid, pay } from '../support/payments.ts'
import { confirmed } from '../support/withdrawals.ts'

const api = await startApi()

/** The charges on a page, in their order. */
const idsIn = (text: string): string[] =>
  [...text.matchAll(/\/charges\/(charge_\w{26})/g)].map(([, id]) => id!)

async function listed(member: Member, query: Record<string, string> = {}): Promise<string[]> {
  const { status, text } = await member.get(`/charges?${new URLSearchParams(query)}`)
  assert.equal(status, 200, text)
  return idsIn(text)
}

/** The lines of a file, without its heading. */
async function linesOf(member: Member, query: Record<string, string> = {}): Promise<string[][]> {
  const { status, text, headers } = await member.get(`/charges.csv?${new URLSearchParams(query)}`)
  assert.equal(status, 200, text)
  assert.match(headers.get('content-type')!, /text\/csv/)
  const [, ...lines] = text.trimEnd().split('\r\n')
  return lines.map((line) => line.split(';'))
}

test('charges are listed, the newest first, with a masked payer, and nothing of others', async () => {
  const [client, other] = [await api.client(), await api.client()]
  const first = await makeCharge(client, 1990, { externalId: 'order-1', description: 'Bolo' })
  const second = await makePaid(api, client, 2500)
  await makeCharge(other, 500)
  const viewer = await signIn(api, client.company, { role: 'viewer' })
  assert.deepEqual(await listed(viewer), [second.id, first.id])
  const { text } = await viewer.get('/charges')
  assert.match(text, /Maria da Silva.*?\*\*\*\.\*\*\*\.247-25 · Pix · order-1 · Bolo/s)
  assert.doesNotMatch(text, /529\.?982/)
  assert.match(text, /2 cobranças.*?Pago.*?R\$ 25,00.*?Em aberto.*?R\$ 19,90/s)
  assert.doesNotMatch(text, /<span>Cobrar<\/span>/)
  const developer = await signIn(api, client.company, { role: 'developer', language: 'en' })
  assert.match((await developer.get('/charges')).text, /2 charges.*?Paid.*?R\$ 25,00/s)
  assert.match((await developer.get('/charges')).text, /New charge/)
})

test('each filter selects, alone and together, and a wrong one is marked', async () => {
  const client = await api.client()
  const open = await makeCharge(client, 1111)
  const paid = await makePaid(api, client, 2222)
  const dev = await makeCharge(client, 1111, { devMode: true })
  const code = await makeCode(client, 3333)
  await pay(api, code.brCode)
  api.clock.advance(12 * 3600 + 60)
  const late = await makeCharge(client, 1111, { expiresIn: 86_400 })
  const owner = await signIn(api, client.company)
  const [sale] = await listed(owner, { kind: 'STATIC' })
  assert.deepEqual(await listed(owner, { status: 'COMPLETED' }), [sale, paid.id])
  assert.deepEqual(await listed(owner, { status: 'EXPIRED' }), [dev.id, open.id])
  assert.deepEqual(await listed(owner, { payment: 'PROCESSING' }), [late.id])
  assert.deepEqual(await listed(owner, { amount: '11,11', dev: 'none' }), [late.id, open.id])
  assert.deepEqual(await listed(owner, { dev: 'only' }), [dev.id])
  assert.deepEqual(await listed(owner, { from: '2026-08-21' }), [late.id])
  assert.deepEqual(await listed(owner, { by: 'paid', to: '2026-08-20', kind: 'PIX' }), [paid.id])
  assert.deepEqual(await listed(owner, { by: 'paid', from: '2026-08-21' }), [])
  assert.deepEqual((await listed(owner, { status: 'NONE', kind: '' })).length, 5)
  for (const [name, value] of Object.entries({ amount: 'muito', max: '0', from: '2026-02-30' })) {
    const { status, text } = await owner.get(`/charges?${name}=${value}`)
    assert.equal(status, 400)
    // An older address has one amount.
    const marked = name === 'amount' ? 'min' : name
    assert.match(text, new RegExp(`name="${marked}" aria-invalid="true"`))
    assert.deepEqual(idsIn(text), [])
  }
})

test('one box finds a charge by all that people know of it, and says what it looked for', async () => {
  const client = await api.client()
  const charge = await makeCharge(client, 123_456, { externalId: '123456' })
  const txid = suffixOf(fromPublic('charge', charge.id)!)
  const other = await makeCharge(client, 12_345_600, { customer: payer({ taxId: '11144477735' }) })
  const paid = await makePaid(api, client, 777)
  const owner = await signIn(api, client.company)
  const found = async (q: string, as?: string) => {
    const query = { q, ...(as ? { as } : {}) }
    const { text } = await owner.get(`/charges?${new URLSearchParams(query)}`)
    return [/Buscando por ([^<]*)/.exec(text)?.[1] ?? null, idsIn(text)]
  }
  assert.deepEqual(await found('R$ 1.234,56'), ['valor R$ 1.234,56', [charge.id]])
  assert.deepEqual(await found('123456'), ['referência 123456', [charge.id]])
  assert.deepEqual(await found('123456', 'amount'), ['valor R$ 123.456,00', [other.id]])
  assert.deepEqual(await found('123.456'), ['valor R$ 123.456,00', [other.id]])
  assert.deepEqual(await found(txid.toUpperCase()), [`txid ${txid.toUpperCase()}`, [charge.id]])
  assert.deepEqual(await found(paid.endToEndId), [
    `ID da transação (E2E) ${paid.endToEndId}`,
    [paid.id],
  ])
  assert.deepEqual(await found(' 111.444.777-35 '), ['CPF 111.444.777-35', [other.id]])
  assert.deepEqual(await found('11144477735'), ['CPF 111.444.777-35', [other.id]])
  const everybody = [paid.id, other.id, charge.id]
  assert.deepEqual(await found('MARIA@example.com'), ['e-mail MARIA@example.com', everybody])
  const nothing = await owner.get('/charges?q=99999')
  assert.match(nothing.text, /Buscamos por referência 99999, valor R\$ 99\.999,00/)
  const strange = await owner.get(`/charges?${new URLSearchParams({ q: `"><b>&'` })}`)
  assert.match(strange.text, /&quot;&gt;&lt;b&gt;&amp;&#39;/)
})

test('the id of a charge leads to it, and that of another company to nothing', async () => {
  const [client, other] = [await api.client(), await api.client()]
  const { id } = await makeCharge(client, 1990)
  const { id: theirs } = await makeCharge(other, 1990)
  const owner = await signIn(api, client.company)
  assert.equal((await owner.get(`/charges?q=${id}`)).location, `${owner.home}/charges/${id}`)
  const none = await owner.get(`/charges?q=${theirs}`)
  assert.equal(none.status, 200)
  assert.deepEqual(idsIn(none.text), [])
})

test('pages follow each other, also those of a search, and show every charge once', async () => {
  const client = await api.client()
  const made: string[] = []
  for (let i = 0; i < 51; i++) made.unshift((await makeCharge(client, 2000)).id)
  const owner = await signIn(api, client.company)
  for (const query of ['', '?q=20', '?amount=20&status=OPEN', '?from=2026-08-01']) {
    const first = await owner.get(`/charges${query}`)
    const next = /rel="next" href="([^"]+)"/.exec(first.text)![1]!.replaceAll('&amp;', '&')
    const second = await owner.get(next.slice(owner.home.length))
    assert.deepEqual([...idsIn(first.text), ...idsIn(second.text)], made, query)
    assert.doesNotMatch(second.text, /rel="next"/)
  }
})

test('the file has all that is filtered, for spreadsheets in Brazil', async () => {
  const client = await api.client()
  for (let i = 0; i < 101; i++) await makeCharge(client, 2000)
  const formula = await makeCharge(client, 3001, { customer: payer({ name: '=1+1' }) })
  const viewer = await signIn(api, client.company, { role: 'viewer' })
  const all = await linesOf(viewer)
  assert.equal(all.length, 102)
  assert.equal(new Set(all.map(([id]) => id)).size, 102)
  const [line] = await linesOf(viewer, { q: '30,01' })
  const start = [formula.id, '', 'Pix', 'Em aberto', 'Aguardando pagamento', '30,01', '0,00']
  assert.deepEqual(line?.slice(0, 7), start)
  assert.match(line![7]!, /^2\d\/08\/2026 \d\d:\d\d:\d\d$/)
  assert.ok(line!.includes(`'=1+1`))
  assert.ok(line!.includes('***.***.247-25'))
  assert.deepEqual(await linesOf(viewer, { q: 'charge of nobody' }), [])
  const { text } = await viewer.get('/charges.csv')
  assert.match(text, /^Cobrança;Sua referência;.*;Primeiro saque após a liberação;Faltou;/)
  assert.match(text, /^.*;Faltou;Vencimento;Multa;Juros;Desconto;Abatimento;E-mail do pagador\r\n/)
})

test('the file has the first withdrawal after the money was released', async () => {
  const client = await api.client()
  await confirmed(api, client, 1000)
  await payOutWithdrawals.run(api.app)
  const { id } = await makePaid(api, client, 2222)
  api.clock.advance(61)
  await releaseDueCharges.run(api.app)
  const owner = await signIn(api, client.company)
  const last = async () => (await linesOf(owner)).find(([charge]) => charge === id)!.at(-8)
  assert.equal(await last(), '')
  api.clock.advance(60)
  await confirmed(api, client, 2000)
  await payOutWithdrawals.run(api.app)
  assert.match((await last())!, /^2\d\/08\/2026 \d\d:\d\d:\d\d$/)
})

test('a file with wrong filters leads back to them', async () => {
  const client = await api.client()
  const owner = await signIn(api, client.company)
  const { location } = await owner.get('/charges.csv?amount=muito')
  assert.equal(location, `${owner.home}/charges?amount=muito`)
})

test('a name is found by parts of it, in any writing', async () => {
  const [client, other] = [await api.client(), await api.client()]
  const named = (name: string, taxId: string) =>
    makeCharge(client, 1990, { customer: payer({ name, taxId }) })
  const first = await named('João da Conceição', '52998224725')
  // The customer of a tax id keeps the first name, and the charge has its own.
  const second = await named('Zuleica D’Ávila', '52998224725')
  const third = await named('JOANA CONCEICAO', '11144477735')
  await makeCharge(other, 1990, { customer: payer({ name: 'João da Conceição' }) })
  const owner = await signIn(api, client.company)
  const found = (q: string, more = {}) => listed(owner, { q, as: 'name', ...more })
  assert.deepEqual(await found('zuleica avila'), [second.id])
  assert.deepEqual(await found('conceição'), [third.id, second.id, first.id])
  assert.deepEqual(await found('CONCEICAO joana'), [third.id])
  assert.deepEqual(await found('joa conce', { status: 'CANCELED' }), [])
  assert.deepEqual(await found('joaquina'), [])
  assert.deepEqual(await found('% _'), [])
  assert.deepEqual(await found(`joana' & | ! :* \\ "`), [third.id])
  const { text } = await owner.get('/charges?q=joana')
  assert.match(text, /Buscando por nome joana/)
  assert.equal((await linesOf(owner, { q: 'joana' })).length, 1)
})
