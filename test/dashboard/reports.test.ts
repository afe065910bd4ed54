import assert from 'node:assert/strict'
import { test } from 'node:test'
import { findCompany } from '../../src/core/companies/store.ts'
import { type Figures, readFigures } from '../../src/core/figures/figures.ts'
import { SOURCES } from '../../src/core/figures/rules.ts'
import { ROLES } from '../../src/core/people/rules.ts'
import { readCsv } from '../../src/lib/csv.ts'
import { formatReais, readReais } from '../../src/lib/money.ts'
import { periodOf } from '../../src/web/dashboard/periods.ts'
import { type Client, payer, startApi } from '../support/api.ts'
import { type Member, signIn } from '../support/dashboard.ts'
import { linkTo, productOf } from '../support/pages.ts'
import { makeCode, makePaid, makeUnmatched, pay } from '../support/payments.ts'
import { runTasks } from '../support/tasks.ts'
import { confirmed } from '../support/withdrawals.ts'

const api = await startApi()
const DAY_S = 24 * 3600

/** Moves the clock of all companies to a moment of São Paulo. */
function goTo(moment: string): void {
  const to = new Date(`${moment}-03:00`).getTime()
  const seconds = (to - api.clock.now().getTime()) / 1000
  assert.ok(seconds >= 0, `${moment} is over`)
  api.clock.advance(seconds)
}

/** The figures of the module for days in São Paulo. */
async function figuresOf({ company }: Client, first: string, last: string): Promise<Figures> {
  const found = (await findCompany(api.app.db, company.id))!
  const [figures] = await readFigures(api.app, found, [periodOf({ first, last })])
  return figures!
}

const textOf = (markup: string): string =>
  markup.replaceAll(/<[^>]+>/g, ' ').replaceAll(/\s+/g, ' ')

/** The figures at the top of a page, by their titles. */
const summaryOf = (page: string): Record<string, string> =>
  Object.fromEntries(
    [...page.matchAll(/<h3>([^<]+)<\/h3><p class="value"><strong>(.*?)<\/strong>/g)].map(
      ([, title, value]) => [title!, textOf(value!).trim()],
    ),
  )

/** The cells of the tables of a page, by the captions. The last line is the total. */
function tablesOf(page: string): Record<string, string[][]> {
  const tables = page.matchAll(
    /<caption class="hide">([^<]+)<\/caption>.*?<\/thead>(.*?)<\/table>/gs,
  )
  return Object.fromEntries(
    [...tables].map(([, caption, rows]) => [
      caption!,
      [...rows!.matchAll(/<tr>(.*?)<\/tr>/gs)].map(([, row]) =>
        [...row!.matchAll(/<t[hd][^>]*>(.*?)<\/t[hd]>/gs)].map(([, cell]) => textOf(cell!).trim()),
      ),
    ]),
  )
}

/** Less than nothing is written with a minus: − R$ 15,00. */
const centsOf = (text: string): number =>
  text.startsWith('− ') ? -readReais(text.slice(2))! : readReais(text)!
const sumOf = (rows: string[][], column: number): number =>
  rows.reduce((all, row) => all + centsOf(row[column]!), 0)

/** A company that has received, refunded and taken out money of all kinds on some days. */
async function trading(): Promise<Client> {
  const client = await api.client()
  const { id } = await makePaid(api, client, 10_000)
  await pay(api, (await makeCode(client, 2_500)).brCode)
  api.clock.advance(DAY_S)
  const url = await linkTo(api, client, { total: 4_000 })
  const link = await api.call('POST', new URL(url).pathname)
  assert.ok(link.status < 400, link.text)
  const { body } = await client.get('/charge?limit=1')
  await pay(
    api,
    body.data[0].brCode ?? (await client.get(`/charge/${body.data[0].id}`)).body.data.brCode,
  )
  await makeUnmatched(api, client, 700)
  assert.equal((await client.post(`/refund/${id}`, { value: 1_500 })).status, 201)
  api.clock.advance(2 * DAY_S)
  await confirmed(api, client, 3_000)
  await runTasks(api)
  return client
}

test('what a report shows is what the module of figures says, and its lines add up to that', async () => {
  const client = await trading()
  const owner = await signIn(api, client.company)
  const page = await owner.get('/reports?from=2026-08-01&to=2026-08-31')
  assert.equal(page.status, 200, page.text)
  const figures = await figuresOf(client, '2026-08-01', '2026-08-31')
  const { received, returned, withdrawn, net, bySource } = figures
  const before = await figuresOf(client, '2026-07-01', '2026-07-31')
  assert.deepEqual([returned.sum, withdrawn.sum], [1_500, 3_000])
  const summary = summaryOf(page.text)
  assert.equal(summary['Recebido bruto'], formatReais(received.sum))
  assert.equal(summary.Devolvido, formatReais(returned.sum))
  assert.equal(summary.Líquido, formatReais(net))
  assert.equal(summary.Sacado, formatReais(withdrawn.sum))
  assert.equal(summary['Ticket médio'], formatReais(Math.round(received.sum / received.count)))

  const tables = tablesOf(page.text)
  const [lines, total] = [tables['Os números']!.slice(0, -1), tables['Os números']!.at(-1)!]
  assert.deepEqual(
    total.slice(2),
    [received.sum, returned.sum, net, withdrawn.sum, before.received.sum].map(formatReais),
  )
  assert.equal(total[1], String(received.count))
  assert.equal(sumOf(lines, 2), received.sum)
  assert.equal(sumOf(lines, 3), returned.sum)
  assert.equal(sumOf(lines, 5), withdrawn.sum)

  const kinds = tables['Por tipo']!
  SOURCES.forEach((source, i) => {
    assert.match(
      kinds[i]![2]!,
      new RegExp(`^${formatReais(bySource[source].sum).replace('$', '\\$')}`),
    )
  })
  assert.equal(kinds.at(-1)![2], formatReais(received.sum))
})

/** Cents as the file writes them: 1234,56. */
const fileCents = (text: string): number => Math.round(Number(text.replace(',', '.')) * 100)

test('the file has the lines of the page', async () => {
  const client = await trading()
  const owner = await signIn(api, client.company)
  for (const by of ['day', 'week']) {
    const search = `from=2026-08-01&to=2026-08-31&by=${by}`
    const lines = tablesOf((await owner.get(`/reports?${search}`)).text)['Os números']!
    const file = await owner.get(`/reports.csv?${search}`)
    assert.match(file.headers.get('content-disposition')!, /relatorio-2026-08-01-2026-08-31\.csv/)
    const [head, ...rows] = readCsv(file.text).map(({ cells }) => cells)
    assert.match(head![0]!, /Início$/)
    assert.equal(rows.length, lines.length - 1)
    const column = (title: string) => head!.indexOf(title)
    rows.forEach((row, i) => {
      const shown = lines[i]!
      assert.equal(row[column('Pagamentos')], shown[1])
      ;['Recebido bruto', 'Devolvido', 'Líquido', 'Sacado'].forEach((title, at) => {
        assert.equal(fileCents(row[column(title)]!), centsOf(shown[at + 2]!), `${title}, line ${i}`)
      })
      const kinds = row.slice(column('Cobrança Pix'), column('Recebido bruto')).map(fileCents)
      const received = fileCents(row[column('Recebido bruto')]!)
      assert.equal(
        kinds.reduce((all, cents) => all + cents, 0),
        received,
      )
    })
  }
})

const receivedIn = async (owner: Member, search: string): Promise<string> =>
  summaryOf((await owner.get(`/reports?${search}`)).text)['Recebido bruto']!

test('a day, a week and a month end at midnight in São Paulo, also in a leap year', async () => {
  const client = await api.client()
  const owner = () => signIn(api, client.company)
  goTo('2027-02-28T23:59:59')
  await makePaid(api, client, 1_000)
  goTo('2027-03-01T00:00:00')
  await makePaid(api, client, 2_000)
  let person = await owner()
  assert.equal(await receivedIn(person, 'period=today'), 'R$ 20,00')
  assert.equal(await receivedIn(person, 'period=month'), 'R$ 20,00')
  assert.equal(await receivedIn(person, 'period=last'), 'R$ 10,00')
  assert.equal(await receivedIn(person, 'period=7d'), 'R$ 30,00')
  goTo('2027-03-07T23:59:59')
  person = await owner()
  assert.equal(await receivedIn(person, 'period=7d'), 'R$ 20,00')
  goTo('2028-02-29T12:00:00')
  await makePaid(api, client, 4_000)
  goTo('2028-03-01T00:00:00')
  await makePaid(api, client, 8_000)
  person = await owner()
  assert.equal(await receivedIn(person, 'period=last'), 'R$ 40,00')
  assert.equal(await receivedIn(person, 'period=month'), 'R$ 80,00')
  assert.equal(await receivedIn(person, 'from=2028-02-29&to=2028-02-29'), 'R$ 40,00')
})

test('a report says what it is compared with, and by how much it differs', async () => {
  const client = await api.client()
  goTo('2028-04-10T10:00:00')
  await makePaid(api, client, 10_000)
  goTo('2028-04-20T10:00:00')
  await makePaid(api, client, 50_000)
  goTo('2028-05-10T10:30:00')
  await makePaid(api, client, 15_000)
  const owner = await signIn(api, client.company)
  const { text } = await owner.get('/reports')
  // What came later in April is not in it.
  assert.match(
    textOf(text),
    /01\/05\/2028 a 31\/05\/2028 comparado com 01\/04\/2028 a 10\/04\/2028 às 10:30/,
  )
  assert.match(textOf(text), /Recebido bruto R\$ 150,00 Aumento de 50% Antes: R\$ 100,00/)
  const last = await owner.get('/reports?period=last')
  assert.match(textOf(last.text), /comparado com 01\/03\/2028 a 31\/03\/2028/)
  assert.doesNotMatch(last.text, /class="change/)
})

test('a longer period before has lines of its own, and they add up to its total', async () => {
  const client = await api.client()
  for (const day of ['2028-10-02', '2028-10-30', '2028-10-31', '2028-11-30']) {
    goTo(`${day}T12:00:00`)
    await makePaid(api, client, 1_000)
  }
  goTo('2028-12-05T12:00:00')
  const owner = await signIn(api, client.company)
  for (const by of ['day', 'week']) {
    const page = await owner.get(`/reports?period=last&by=${by}`)
    const lines = tablesOf(page.text)['Os números']!
    const before = lines.slice(0, -1).filter((line) => line[6])
    assert.equal(sumOf(before, 6), 3_000, by)
    assert.equal(lines.at(-1)![6], 'R$ 30,00')
  }
})

test('a product is compared with what it brought in until the same time of the period before', async () => {
  const client = await api.client()
  const bread = await productOf(client, { name: 'Pão', price: 2_000 })
  const cake = await productOf(client, { name: 'Bolo', price: 3_000 })
  const sell = async (moment: string, productId: string, quantity: number) => {
    goTo(moment)
    const items = [{ productId, quantity }]
    const body = { customer: payer(), items, devMode: true }
    const { id } = (await client.post('/charge/payment-link', body)).body.data
    assert.equal((await client.post(`/charge/${id}/simulate-payment`)).status, 200)
  }
  await sell('2029-04-03T10:00:00', bread, 1)
  await sell('2029-04-10T10:20:00', bread, 1)
  await sell('2029-04-10T10:40:00', bread, 9)
  await sell('2029-05-10T10:29:00', bread, 3)
  await sell('2029-05-10T10:30:00', cake, 1)
  const owner = await signIn(api, client.company)
  const rowsOf = async (search: string) =>
    tablesOf((await owner.get(`/reports?${search}`)).text)['Por produto']
  assert.deepEqual(await rowsOf('period=month'), [
    ['Pão', '3', 'R$ 60,00 Aumento de 50%'],
    ['Bolo', '1', 'R$ 30,00'],
  ])
  assert.deepEqual(await rowsOf('from=2029-04-10&to=2029-04-10'), [['Pão', '10', 'R$ 200,00']])
})

test('days that cannot be shown are refused beside their field, and nothing is read', async () => {
  const client = await api.client()
  const owner = await signIn(api, client.company, { language: 'en' })
  for (const [search, words] of [
    ['from=2028-02-30&to=2028-03-01', 'Enter a valid day.'],
    ['from=2028-03-02&to=2028-03-01', 'The last day is before the first.'],
    ['from=2999-01-01&to=2999-01-02', 'The first day is in the future.'],
    ['from=2020-01-01&to=2028-01-01', 'Choose a period of up to 2 years.'],
  ]) {
    const page = await owner.get(`/reports?${search}`)
    assert.equal(page.status, 400)
    assert.ok(page.text.includes(words!), search)
    assert.doesNotMatch(page.text, /Gross received/)
    const file = await owner.get(`/reports.csv?${search}`)
    assert.equal(file.status, 303)
    assert.ok(file.location!.includes('/reports?from='))
  }
  const odd = await owner.get(`/reports?period=${encodeURIComponent('"><script>')}&by=year`)
  assert.equal(odd.status, 200)
  assert.doesNotMatch(odd.text, /"><script>/)
})

test('only who may read the balance sees reports', async () => {
  const client = await api.client()
  for (const role of ROLES) {
    const member = await signIn(api, client.company, { role })
    const reads = ['owner', 'finance', 'viewer'].includes(role)
    assert.equal((await member.get('/reports')).status, reads ? 200 : 403, role)
    assert.equal((await member.get('')).text.includes(`${member.home}/reports"`), reads, role)
  }
})
