import assert from 'node:assert/strict'
import { test } from 'node:test'
import { startApi } from '../support/api.ts'
import { signIn } from '../support/dashboard.ts'
import { makePaid, makeUnmatched } from '../support/payments.ts'
import { start } from '../support/withdrawals.ts'

const api = await startApi()
const client = await api.client()

test('the four balances are shown, each with what it means', async () => {
  const other = await api.client()
  await makePaid(api, other, 1990)
  await start(other, 5000)
  const page = await (await signIn(api, other.company, { role: 'viewer' })).get('/balance')
  assert.equal(page.status, 200, page.text)
  for (const text of ['R$ 950,00', 'R$ 19,90', 'R$ 50,00', 'R$ 0,00', 'Você já pode sacar']) {
    assert.ok(page.text.includes(text), text)
  }
  const english = await signIn(api, other.company, { language: 'en' })
  assert.match((await english.get('/balance')).text, /You can withdraw this amount now/)
  const support = await signIn(api, other.company, { role: 'support' })
  assert.equal((await support.get('/balance')).status, 403)
})

test('each entry has the balance that was stored with it, and a link to what it is about', async () => {
  const other = await api.client()
  const { id } = await makePaid(api, other, 1990)
  const endToEndId = await makeUnmatched(api, other, 700)
  const withdrawal = await start(other, 5000)
  const owner = await signIn(api, other.company)
  const { text } = await owner.get('/balance/entries')
  assert.match(text, /nº 2.*?\+ R\$ 19,90.*?A liberar.*?R\$ 19,90/s)
  assert.match(text, /nº 3.*?\+ R\$ 5,00.*?A liberar.*?R\$ 24,90/s)
  assert.match(text, /Saque reservado.*?Disponível.*?R\$ 950,00.*?Reservado.*?R\$ 50,00/s)
  for (const path of [
    `/charges/${id}`,
    `/unmatched/${endToEndId}`,
    `/balance/withdrawals/${withdrawal}`,
  ]) {
    assert.ok(text.includes(`href="${owner.home}${path}"`), path)
  }
})

test('a refund links to its charge, or to the unmatched payment that goes back', async () => {
  const other = await api.client()
  const { id } = await makePaid(api, other, 1990)
  await other.post(`/refund/${id}`, { value: 100 })
  const endToEndId = await makeUnmatched(api, other, 700)
  await other.post(`/payment/unmatched/${endToEndId}/refund`)
  const owner = await signIn(api, other.company)
  const { text } = await owner.get('/balance/entries?type=REFUND_HELD')
  const links = [...text.matchAll(/ · <a href="([^"]+)"/g)].map(([, path]) => path)
  assert.deepEqual(links, [`${owner.home}/unmatched/${endToEndId}`, `${owner.home}/charges/${id}`])
})

test('the entries of the ledger are filtered by type and period, in the time of São Paulo', async () => {
  const other = await api.client()
  await makePaid(api, other, 1111)
  api.clock.advance(12 * 3600 + 60)
  await makePaid(api, other, 2222)
  const owner = await signIn(api, other.company)
  const of = async (query: string) => {
    const { text } = await owner.get(`/balance/entries?${query}`)
    return ['R$ 1.000,00', 'R$ 11,11', 'R$ 22,22'].map((amount) => text.includes(`+ ${amount}`))
  }
  const [day, next] = ['2026-08-20', '2026-08-21']
  assert.deepEqual(await of('type=CHARGE_PAID'), [false, true, true])
  assert.deepEqual(await of('type=OPENING'), [true, false, false])
  assert.deepEqual(await of(`to=${day}`), [true, true, false])
  assert.deepEqual(await of(`from=${next}&type=`), [false, false, true])
  assert.deepEqual(await of(`from=${next}&to=${day}`), [false, false, false])
  assert.match(
    (await owner.get(`/balance/entries?from=${next}&to=${day}`)).text,
    /anterior à inicial/,
  )
  assert.match((await owner.get('/balance/entries?from=2026-02-30')).text, /Informe um dia válido/)
  assert.match(
    (await owner.get('/balance/entries?type=BANK_RETURN')).text,
    /corresponde aos filtros/,
  )
  assert.equal((await owner.get('/balance/entries?after=%27&type=x')).status, 200)
})

test('the pages and the file have every entry once, the file in the Brazilian dialect', async () => {
  const owner = await signIn(api, client.company)
  await api.rows(
    `insert into postings (company_id, entry, kind, ref, debit, credit, amount, available, pending,
       held, unmatched, created_at)
     select $1, n, 'CHARGE_PAID', 'E' || n, 'bank', 'pending', n, 100000, n * 7, 0, 0, $2
     from generate_series(2, 260) n`,
    [client.company.id, api.clock.now()],
  )
  const seen: number[] = []
  for (let path: string | undefined = '/balance/entries?type=CHARGE_PAID'; path; ) {
    const { text } = await owner.get(path)
    seen.push(...[...text.matchAll(/nº (\d+)/g)].map(([, entry]) => Number(entry)))
    path = /rel="next" href="([^"]+)"/.exec(text)?.[1]?.replaceAll('&amp;', '&')
    path = path?.slice(owner.home.length)
  }
  assert.deepEqual(
    seen,
    Array.from({ length: 259 }, (_, i) => 260 - i),
  )
  const file = await owner.get('/balance/statement.csv?type=CHARGE_PAID')
  assert.equal(file.headers.get('content-disposition'), 'attachment; filename="extrato.csv"')
  assert.equal(file.headers.get('cache-control'), 'no-store')
  const [heading, ...lines] = file.text.trimEnd().split('\r\n')
  assert.match(heading!, /Lançamento;Data;Tipo;Valor/)
  assert.equal(lines.length, 259)
  assert.match(lines[0]!, /^260;21\/08\/2026 \d\d:\d\d:\d\d;Cobrança paga;2,60;Banco;A liberar;/)
  assert.match(lines[0]!, /;1000,00;18,20;0,00;0,00;/)
})
