import assert from 'node:assert/strict'
import { test } from 'node:test'
import { post } from '../../src/ledger/post.ts'
import { chargePaid, chargeReleased } from '../../src/ledger/recipes.ts'
import { toCents } from '../../src/lib/money.ts'
import { carryOutRefunds, payOutWithdrawals, releaseDueCharges } from '../../src/worker/due.ts'
import { type Client, payer, startApi } from '../support/api.ts'
import { type Member, signIn } from '../support/dashboard.ts'
import { makeCharge, makePaid, makeUnmatched } from '../support/payments.ts'
import { makeRecipient, makeSettled } from '../support/splits.ts'
import { makeSubscription } from '../support/subscriptions.ts'
import { cancel, confirmed, start } from '../support/withdrawals.ts'

const api = await startApi()
const EMAIL = 'maria@example.com'
const FORMULA = '=HYPERLINK("x")'

async function linesOf(
  member: Member,
  path: string,
): Promise<{ heading: string; lines: string[] }> {
  const { status, text, headers } = await member.get(path)
  assert.equal(status, 200, text)
  assert.match(headers.get('content-disposition')!, /^attachment; filename="[\w-]+\.csv"$/)
  const [heading, ...lines] = text.trimEnd().split('\r\n')
  return { heading: heading!, lines }
}

/** The entries of the activity log about files, the oldest first. */
const taken = ({ company }: Client) =>
  api.rows<{ author_name: string; details: object }>(
    `select author_name, details from activity
     where company_id = $1 and action = 'file.download' order by id`,
    [company.id],
  )

test('the file of charges has whole tax ids and addresses for those who may see them', async () => {
  const client = await api.client()
  await makeCharge(client, 1990, { customer: payer({ email: EMAIL }) })
  for (const role of ['owner', 'finance', 'support'] as const) {
    const { lines } = await linesOf(await signIn(api, client.company, { role }), '/charges.csv')
    assert.match(lines[0]!, /;529\.982\.247-25;.*;maria@example\.com$/, role)
  }
  const viewer = await signIn(api, client.company, { role: 'viewer' })
  const { lines } = await linesOf(viewer, '/charges.csv')
  assert.match(lines[0]!, /;\*\*\*\.\*\*\*\.247-25;.*;m\*\*\*@example\.com$/)
})

test('whoever takes a file with data of people leaves an entry, without such data in it', async () => {
  const client = await api.client()
  await makePaid(api, client, 1990)
  await makePaid(api, client, 2990)
  const owner = await signIn(api, client.company)
  await owner.get('/charges.csv?status=COMPLETED&q=Maria')
  await owner.get('/customers.csv?q=529.982.247-25')
  await owner.get('/subscriptions.csv')
  await owner.get('/subscriptions.csv?state=approved&q=Maria')
  assert.deepEqual(
    (await taken(client)).map(({ details }) => details),
    [
      { file: 'charges', filters: ['status=COMPLETED', 'q'], lines: 2 },
      { file: 'customers', filters: ['q'] },
      { file: 'subscriptions', filters: [] },
      { file: 'subscriptions', filters: ['state=approved', 'q'] },
    ],
  )
  const { text } = await owner.get('/settings/activity?action=file.download')
  assert.match(text, /Arquivo com dados de clientes baixado/)
  assert.match(text, /Cobranças · 2 linhas · Filtros: status=COMPLETED, q/)
})

test('the file of customers has what their page shows, and all of them', async () => {
  const client = await api.client()
  const names = [FORMULA, ...Array.from({ length: 120 }, (_, i) => `Cliente ${i}`)]
  for (const name of names) {
    const body = { ...payer({ name, email: EMAIL }), status: 'ACTIVE', phone: '11999998888' }
    assert.equal((await client.post('/client', body)).status, 201)
  }
  const owner = await signIn(api, client.company)
  const { heading, lines } = await linesOf(owner, '/customers.csv')
  assert.match(heading, /^Cliente;Nome;CPF\/CNPJ;E-mail;Telefone;/)
  assert.equal(new Set(lines.map((line) => line.split(';')[0])).size, names.length)
  assert.match(
    lines.at(-1)!,
    /;"'=HYPERLINK\(""x""\)";529\.982\.247-25;maria@example\.com;'?\(11\) 99999-8888;Ativo/,
  )
  const viewer = await signIn(api, client.company, { role: 'viewer' })
  const masked = await linesOf(viewer, '/customers.csv?q=Cliente+7')
  assert.ok(masked.lines.length >= 1 && masked.lines.length < 50)
  assert.ok(
    masked.lines.every((line) => !/529\.?982/.test(line) && line.includes('***.***.247-25')),
  )
  assert.ok(masked.lines.every((line) => !line.includes(EMAIL) && !/99999-?8888/.test(line)))
  assert.ok(masked.lines.every((line) => line.includes('m***@example.com;(**) *****-8888;')))
})

test('a file of a search that finds too many is refused, so that none looks complete', async () => {
  const client = await api.client()
  const bodies = Array.from({ length: 101 }, (_, i) => ({
    ...payer({ name: `Pessoa ${i}`, email: EMAIL, phone: '11999998888' }),
    status: 'ACTIVE',
    postalCode: '01310100',
  }))
  await Promise.all(bodies.map((body) => client.post('/client', body)))
  const owner = await signIn(api, client.company)
  const { status, location } = await owner.get('/customers.csv?q=pessoa')
  assert.equal(status, 303)
  assert.equal(location, `${owner.home}/customers?q=pessoa`)
  const { text } = await owner.get('/customers?q=pessoa')
  assert.match(text, /Há mais clientes assim/)
  await makeCharge(client, 1990, { customer: payer({ name: 'Pessoa 7' }) })
  for (const [file, list, search] of [
    ['/customers.csv', '/customers', `q=${encodeURIComponent(EMAIL)}`],
    ['/subscriptions.csv', '/subscriptions', 'q=pessoa'],
    ['/charges.csv', '/charges', 'q=pessoa'],
  ]) {
    const refused = await owner.get(`${file}?${search}`)
    assert.equal(refused.status, 303, `${file}?${search}`)
    assert.equal(refused.location, `${owner.home}${list}?${search}`)
    assert.match((await owner.get(`${list}?${search}`)).text, /Há mais clientes assim/, list)
  }
  assert.match((await owner.get('/charges?q=pessoa')).text, /class="count">\d+\+</)
  const all = await linesOf(owner, '/customers.csv')
  assert.equal(all.lines.length, 101)
  assert.match(all.lines[0]!, /;01310-100;/, 'no spreadsheet takes it for a number')
  assert.deepEqual(
    (await taken(client)).map(({ details }) => details),
    [{ file: 'customers', filters: [] }],
  )
})

test('the file of subscriptions has those of the chosen state', async () => {
  const client = await api.client()
  await makeSubscription(client, { name: FORMULA })
  const owner = await signIn(api, client.company)
  const { heading, lines } = await linesOf(owner, '/subscriptions.csv')
  assert.match(heading, /^Assinatura;Cliente;CPF\/CNPJ;E-mail;Produto;Situação;Valor;Frequência/)
  assert.equal(lines.length, 1)
  assert.match(
    lines[0]!,
    /^rec_\w{26};Maria da Silva;529\.982\.247-25;maria@example\.com;"'=HYPERLINK/,
  )
  assert.deepEqual((await linesOf(owner, '/subscriptions.csv?state=canceled')).lines, [])
})

test('refunds are listed by period and state, with totals, and as a file', async () => {
  const client = await api.client()
  const paid = await makePaid(api, client, 5000)
  const other = await makePaid(api, client, 3000)
  const endToEndId = await makeUnmatched(api, client, 700)
  await client.post(`/refund/${paid.id}`, { value: 1234 })
  await client.post(`/payment/unmatched/${endToEndId}/refund`)
  await carryOutRefunds.run(api.app)
  await client.post(`/refund/${other.id}`, { value: 100 })
  const owner = await signIn(api, client.company)
  const { text } = await owner.get('/refunds')
  assert.match(text, /2 devolvidas<\/dt><dd><strong><span class="money">R\$ 19,34/)
  assert.match(text, /1 em andamento<\/dt><dd><span class="money">R\$ 1,00/)
  assert.ok(text.includes(`/charges/${paid.id}"`))
  assert.ok(text.includes(`href="${owner.home}/unmatched/${endToEndId}"`))
  const open = await owner.get('/refunds?status=PROCESSING')
  assert.ok(!open.text.includes(paid.id) && open.text.includes(other.id))
  const { heading, lines } = await linesOf(owner, '/refunds.csv?status=COMPLETED')
  assert.match(heading, /^Devolução;Solicitada em;Situação;Valor;Pagador;Cobrança;/)
  assert.deepEqual(
    lines.map((line) => line.split(';').slice(2, 4)),
    [
      ['Devolvida', '7,00'],
      ['Devolvida', '12,34'],
    ],
  )
  const before = await owner.get('/refunds?from=2026-01-01&to=2026-01-31')
  assert.match(before.text, /Nenhuma devolução neste período/)
  const english = await signIn(api, client.company, { language: 'en', role: 'support' })
  assert.match((await english.get('/refunds')).text, /2 refunded/)
})

test('withdrawals are listed by period and state, with what was sent apart from what was not', async () => {
  const client = await api.client()
  await confirmed(api, client, 1000)
  await payOutWithdrawals.run(api.app)
  await cancel(client, await start(client, 300))
  const open = await start(client, 2000)
  const owner = await signIn(api, client.company)
  const { text } = await owner.get('/balance/withdrawals')
  assert.match(text, /1 saque concluído<\/dt><dd><strong><span class="money">R\$ 10,00/)
  assert.match(text, /1 em andamento<\/dt><dd><span class="money">R\$ 20,00/)
  assert.match(text, /1 não realizado<\/dt><dd><span class="money">R\$ 3,00/)
  const { heading, lines } = await linesOf(owner, '/balance/withdrawals.csv?status=COMPLETED')
  assert.match(heading, /^Saque;Solicitado em;Situação;Valor;Chave Pix de destino;/)
  assert.equal(lines.length, 1)
  assert.match(lines[0]!, /;Concluído;10,00;.*;E\d{8}/)
  const rows = async (query: string) =>
    [...(await owner.get(`/balance/withdrawals?${query}`)).text.matchAll(/<tr><td class="main"/g)]
      .length
  assert.deepEqual(await Promise.all(['', 'status=CANCELED', 'to=2026-01-01'].map(rows)), [3, 1, 0])
  assert.match(text, new RegExp(`class="button slim" href="[^"]*${open}">Ver saque em andamento`))
  for (const path of ['/balance', '/balance/withdrawals']) {
    assert.doesNotMatch((await owner.get(path)).text, /balance\/withdraw"/, path)
  }
})

test('a completed withdrawal has a receipt, and no other one has', async () => {
  const client = await api.client()
  const id = await confirmed(api, client, 1000)
  const owner = await signIn(api, client.company)
  const page = `/balance/withdrawals/${id}`
  for (const path of ['receipt', 'charges', 'charges.csv']) {
    assert.equal((await owner.get(`${page}/${path}`)).location, `${owner.home}${page}`, path)
  }
  assert.doesNotMatch((await owner.get(page)).text, /Comprovante/)
  await payOutWithdrawals.run(api.app)
  const { text } = await owner.get(`${page}/receipt`)
  for (const part of ['R$ 10,00', id, 'Ambiente de testes', 'data-print']) {
    assert.ok(text.includes(part), part)
  }
  assert.match(text, /<code>E[0-9A-Za-z]{31}<\/code>/)
})

test('the charges of a withdrawal are printed together, however many pages they are', async () => {
  const client = await api.client()
  const { id: companyId } = client.company
  const sold = Array.from({ length: 60 }, (_, i) => ({
    endToEndId: `E${i}`,
    chargeId: null,
    amount: toCents(100 + i),
  }))
  const entries = sold.flatMap((one) => [chargePaid(one), chargeReleased(one)])
  await api.app.db.transaction((tx) => post(tx, companyId, entries, api.clock.now()))
  api.clock.advance(60)
  const id = await confirmed(api, client, 1000)
  await payOutWithdrawals.run(api.app)
  const owner = await signIn(api, client.company)
  assert.equal((await contentsOf(owner, id)).length, 50)
  const { text } = await owner.get(`/balance/withdrawals/${id}/charges`)
  assert.match(text, /href="[^"]+\/charges\?print=all">Imprimir<\/a>/)
  assert.match(text, /print-only">Esta é uma parte da lista, com 50 linhas/)
  assert.equal((await contentsOf(owner, id, '?print=all')).length, 60)
})

/** The charges that a withdrawal contains, by their amounts as the page has them. */
async function contentsOf(owner: Member, id: string, query = ''): Promise<string[]> {
  const { text } = await owner.get(`/balance/withdrawals/${id}/charges${query}`)
  const cells = text.matchAll(/<td class="number" data-title="Valor liberado">.*?R\$ ([\d.,]+)/gs)
  return [...cells].map(([, amount]) => amount!)
}

test('a withdrawal contains what was released since the completed one before it, once', async () => {
  const client = await api.client()
  const owner = await signIn(api, client.company)
  const sell = async (amount: number) => {
    await makePaid(api, client, amount)
    api.clock.advance(61)
    await releaseDueCharges.run(api.app)
    api.clock.advance(60)
  }
  const withdraw = async () => {
    const id = await confirmed(api, client, 1000)
    await payOutWithdrawals.run(api.app)
    api.clock.advance(60)
    return id
  }
  await sell(1111)
  await sell(2222)
  const first = await withdraw()
  await sell(3333)
  await cancel(client, await start(client, 100))
  // A payout to a recipient is of the recipient's money, so it separates nothing.
  const recipientId = await makeRecipient(client)
  await makeSettled(api, client, 10_000, [{ recipientId, amount: 4000 }])
  await client.post(`/recipient/${recipientId}/withdraw`, { value: 4000 })
  await payOutWithdrawals.run(api.app)
  api.clock.advance(60)
  await sell(4444)
  const second = await withdraw()
  await sell(5555)
  assert.deepEqual(await contentsOf(owner, first), ['22,22', '11,11'])
  assert.deepEqual(await contentsOf(owner, second), ['44,44', '60,00', '33,33'])
  const { text } = await owner.get(`/balance/withdrawals/${second}/charges`)
  assert.match(text, /depois do saque anterior, de .*O saldo é um só/)
  assert.match(text, /3 cobranças<\/dt><dd><span class="money">R\$ 137,77/)
  const { lines } = await linesOf(owner, `/balance/withdrawals/${second}/charges.csv`)
  assert.deepEqual(
    lines.map((line) => line.split(';')[3]),
    ['33,33', '60,00', '44,44'],
  )
  // The file of charges says the same of each of them.
  const charges = await linesOf(owner, '/charges.csv')
  const withdrawnAt = charges.lines.map((line) => line.split(';').at(-8)!)
  assert.equal(withdrawnAt.filter((at) => at === '').length, 1)
  assert.equal(new Set(withdrawnAt).size, 3)
  // Support sees no withdrawals, in files neither.
  const support = await signIn(api, client.company, { role: 'support' })
  const theirs = await linesOf(support, '/charges.csv')
  assert.deepEqual(
    theirs.lines.map((line) => line.split(';').at(-8)!),
    withdrawnAt.map(() => ''),
  )
})
