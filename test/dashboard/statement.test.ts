import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Ofx } from 'ofx-data-extractor'
import { post } from '../../src/ledger/post.ts'
import {
  disputeHeld,
  opening,
  withdrawalHeld,
  withdrawalReleased,
} from '../../src/ledger/recipes.ts'
import { suffixOf } from '../../src/lib/ids.ts'
import { toCents } from '../../src/lib/money.ts'
import { addDays, localDateOf } from '../../src/pix/local-time.ts'
import { releaseDueCharges } from '../../src/worker/due.ts'
import { type Client, payer, startApi } from '../support/api.ts'
import { signIn } from '../support/dashboard.ts'
import { type Element, elementsOf } from '../support/ofx.ts'
import { makeCharge, makeUnmatched, pay } from '../support/payments.ts'
import { start } from '../support/withdrawals.ts'

const api = await startApi()

/** Markup, a formula, quotes, what reverses a line, and what JSON and XML have to escape. */
const NASTY = `=1+1</NAME><TRNAMT>9</TRNAMT> & "Cia" 'x' \\n {a},] \u202e${'ção '.repeat(20)}`

async function release(): Promise<void> {
  api.clock.advance(32 * 86_400)
  await releaseDueCharges.run(api.app)
}

/** Days of the time of São Paulo, so many after today. */
const day = (later = 0) => addDays(localDateOf(api.clock.now()), later)
const firstDay = () => `${day().slice(0, 8)}01`

/** A company that opened 32 days ago, with a movement of each kind that people make today. */
async function busy(): Promise<Client> {
  const client = await api.client()
  const ids: string[] = []
  for (const [name, amount] of [
    ['Maria da Silva', 1990],
    [NASTY, 25_000],
  ] as const) {
    const charge = await makeCharge(client, amount, { customer: payer({ name }) })
    await pay(api, charge.brCode)
    ids.push(charge.id)
  }
  await release()
  const endToEndId = await makeUnmatched(api, client, 700)
  await client.post(`/payment/unmatched/${endToEndId}/accept`)
  await client.post(`/refund/${ids[0]}`, { value: 500 })
  await start(client, 5000)
  return client
}

const availableOf = async ({ company }: Client) =>
  (
    await api.rows<{ available: number }>('select available from balances where company_id = $1', [
      company.id,
    ])
  )[0]!.available

const textOf = (markup: string) => markup.replace(/<[^>]*>/g, ' ').replace(/\s+/g, ' ')

/** The balances after the lines of a page, as it has them. */
const balancesIn = (text: string): number[] =>
  [...text.matchAll(/class="number line-balance"[^>]*><span class="money">R\$ ([\d.,]+)/g)].map(
    ([, amount]) => Number(amount!.replace(/\D/g, '')),
  )

test('a statement has a line for each movement, with who paid, and what was available then', async () => {
  const client = await busy()
  const owner = await signIn(api, client.company)
  const page = await owner.get('/balance')
  assert.equal(page.status, 200, page.text)
  const text = textOf(page.text)
  // 1,000.00 at the beginning, 269.90 of sales, 7.00 that was kept, 5.00 refunded, 50.00 withdrawn.
  assert.match(text, /Saldo inicial R\$ 1\.000,00 Entradas \+ R\$ 276,90 Saídas − R\$ 55,00/)
  assert.match(text, /Saldo final R\$ 1\.221,90/)
  assert.match(
    text,
    /Saque .{0,60}?− R\$ 50,00 R\$ 1\.221,90.*Devolução Maria da Silva − R\$ 5,00 R\$ 1\.271,90/,
  )
  assert.match(text, /Cobrança recebida Maria da Silva \+ R\$ 19,90/)
  assert.doesNotMatch(text, /Cobrança paga/)
  assert.doesNotMatch(page.text, /<TRNAMT>/)
  const english = await signIn(api, client.company, { language: 'en' })
  assert.match(textOf((await english.get('/balance')).text), /Charge received Maria da Silva/)
})

test('a statement is of the period and the kind of movement that are chosen', async () => {
  const client = await busy()
  const owner = await signIn(api, client.company)
  const of = async (query: string) => textOf((await owner.get(`/balance?${query}`)).text)
  const sales = await of('movement=sales')
  assert.match(sales, /Entradas \+ R\$ 269,90 Saídas R\$ 0,00/)
  assert.doesNotMatch(sales, /Saldo final|Devolução Maria/)
  const before = await of(`from=${day(-40)}&to=${day(-1)}`)
  assert.match(before, /Saldo inicial R\$ 0,00 Entradas \+ R\$ 1\.000,00/)
  assert.match(before, /Saldo final R\$ 1\.000,00/)
  assert.match(await of(`from=${day(-31)}&to=${day(-1)}`), /Nenhum movimento/)
  assert.match(await of(`from=${day()}&to=${day(-1)}`), /anterior à inicial/)
  const wrong = await owner.get(`/balance/movements.ofx?from=${day()}&to=${day(-1)}`)
  assert.equal(wrong.status, 303)
  for (const odd of ['movement=__proto__', 'from=x&to=y', 'after=1%27', 'from=2026-02-30']) {
    assert.equal((await owner.get(`/balance?${odd}`)).status, 200, odd)
  }
  const file = async (period: string) =>
    /movements\.csv\?([^"]+)"/.exec((await owner.get(`/balance?${period}`)).text)![1]
  const last = addDays(firstDay(), -1)
  const lastMonth = `from=${last.slice(0, 8)}01&amp;to=${last}`
  assert.deepEqual(await Promise.all(['', 'period=last', 'period=today'].map(file)), [
    `from=${firstDay()}&amp;to=${day()}`,
    lastMonth,
    `from=${day()}&amp;to=${day()}`,
  ])
  assert.match((await owner.get('/balance')).text, /aria-current="true">Este mês/)
  const narrowed = (await owner.get('/balance?period=last&movement=sales')).text
  assert.match(narrowed, /aria-current="true">Mês passado/)
  assert.match(narrowed, /href="[^"]*\/balance\?period=last"[^>]*><span[^>]*>Remover filtro/)
})

test('pages lead on from each other, and the subtotal of a day does not end with the page', async () => {
  const client = await api.client({ mode: 'live', pixKey: 'dona@example.com' })
  const now = api.clock.now()
  const many = Array.from({ length: 60 }, (_, i) => {
    const order = { ref: `w${i}`, amount: toCents(100 + i) }
    return [withdrawalHeld(order), withdrawalReleased(order)]
  })
  const all = [opening(toCents(500_000)), ...many.flat()]
  await api.app.db.transaction((tx) => post(tx, client.company.id, all, now))
  const owner = await signIn(api, client.company)
  const seen: number[] = []
  const subtotals = new Set<string>()
  for (let path: string | undefined = '/balance'; path; ) {
    const { text } = await owner.get(path)
    seen.push(...balancesIn(text))
    subtotals.add(textOf(/<tr class="line-day">.*?<\/tr>/s.exec(text)![0]).trim())
    path = /rel="next" href="([^"]+)"/.exec(text)?.[1]?.replaceAll('&amp;', '&')
    path = path?.slice(owner.home.length)
  }
  const rows = await api.rows<{ available: number }>(
    'select available from postings where company_id = $1 order by entry desc',
    [client.company.id],
  )
  assert.deepEqual(
    seen,
    rows.map(({ available }) => available),
  )
  assert.equal(subtotals.size, 1, [...subtotals].join(' | '))
  assert.match([...subtotals][0]!, /\+ R\$ 5\.077,70 − R\$ 77,70/)
})

const printLink = (text: string): string =>
  /href="([^"]+)"[^>]*>Imprimir<\/a>/.exec(text)![1]!.replaceAll('&amp;', '&')

test('what is printed has all lines of the period, and says so if it is only a part', async () => {
  const client = await api.client({ mode: 'live', pixKey: 'dona@example.com' })
  const sums = Array.from({ length: 560 }, (_, i) => ({
    ...opening(toCents(100 + i)),
    ref: `o${i}`,
  }))
  const { id } = client.company
  const add = (some: typeof sums) =>
    api.app.db.transaction((tx) => post(tx, id, some, api.clock.now()))
  await add(sums.slice(0, 50))
  const owner = await signIn(api, client.company)
  const whole = await owner.get('/balance')
  assert.match(whole.text, /<button [^>]*data-print>Imprimir/)
  assert.doesNotMatch(whole.text, /parte da lista/)
  await add(sums.slice(50, 80))
  const { text } = await owner.get('/balance?movement=opening')
  assert.match(text, /<p class="print-only">Esta é uma parte da lista, com 50 linhas/)
  const all = await owner.get(printLink(text).slice(owner.home.length))
  const after = (last: number, count: number) =>
    Array.from({ length: count }, (_, i) => (last - i) * (100 + 99 + last - i) * 0.5)
  assert.deepEqual(balancesIn(all.text), after(80, 80))
  assert.match(all.text, /data-print="now"/)
  assert.doesNotMatch(all.text, /parte da lista|rel="next"/)
  await add(sums.slice(80))
  const first = await owner.get('/balance?print=all')
  assert.deepEqual(balancesIn(first.text), after(560, 500))
  assert.match(first.text, /<p>Esta é uma parte da lista, com 500 linhas/)
  assert.match(textOf(first.text), /Entradas \+ R\$ 2\.125,20/)
  const next = /rel="next" href="([^"]+)"/.exec(first.text)![1]!.replaceAll('&amp;', '&')
  const second = await owner.get(next.slice(owner.home.length))
  assert.deepEqual(balancesIn(second.text), after(60, 60))
  assert.match(second.text, /uma parte da lista, com 60 linhas/)
})

/** The elements of OFX 2.2 in the order that its schema prescribes, of those that we write. */
const ORDER: Record<string, string[]> = {
  OFX: ['SIGNONMSGSRSV1', 'BANKMSGSRSV1'],
  SIGNONMSGSRSV1: ['SONRS'],
  SONRS: ['STATUS', 'DTSERVER', 'LANGUAGE', 'FI'],
  STATUS: ['CODE', 'SEVERITY'],
  FI: ['ORG'],
  BANKMSGSRSV1: ['STMTTRNRS'],
  STMTTRNRS: ['TRNUID', 'STATUS', 'STMTRS'],
  STMTRS: ['CURDEF', 'BANKACCTFROM', 'BANKTRANLIST', 'LEDGERBAL', 'AVAILBAL'],
  BANKACCTFROM: ['BANKID', 'ACCTID', 'ACCTTYPE'],
  STMTTRN: ['TRNTYPE', 'DTPOSTED', 'TRNAMT', 'FITID', 'REFNUM', 'NAME', 'MEMO'],
  LEDGERBAL: ['BALAMT', 'DTASOF'],
  AVAILBAL: ['BALAMT', 'DTASOF'],
}
const LENGTHS: Record<string, number> = {
  ORG: 32,
  BANKID: 9,
  ACCTID: 22,
  FITID: 255,
  REFNUM: 32,
  NAME: 32,
  MEMO: 255,
}

/** Whether elements are in the order of the schema, and texts as long as it allows. */
function isAsPrescribed({ name, children, text }: Element): void {
  const names = children.map((child) => child.name)
  if (name === 'BANKTRANLIST') {
    const [start, end, ...lines] = names
    assert.deepEqual([start, end], ['DTSTART', 'DTEND'])
    assert.ok(lines.every((line) => line === 'STMTTRN'))
  } else assert.deepEqual(names, ORDER[name] ?? [], name)
  if (children.length === 0) assert.ok(text.trim() !== '', `${name} is empty`)
  if (name in LENGTHS) assert.ok([...text].length <= LENGTHS[name]!, `${name}: ${text}`)
  if (name.startsWith('DT')) assert.match(text, /^20\d{12}\[-3:BRT\]$/, name)
  if (/AMT$/.test(name)) assert.match(text, /^-?\d+\.\d\d$/, name)
  for (const child of children) isAsPrescribed(child)
}

const find = (element: Element, name: string): Element[] =>
  element.children.flatMap((child) => [
    ...(child.name === name ? [child] : []),
    ...find(child, name),
  ])
const valueIn = (element: Element, name: string): string => find(element, name)[0]!.text

test('OFX is as its schema prescribes, and has the balances and lines of the page', async () => {
  const client = await busy()
  const owner = await signIn(api, client.company)
  const file = await owner.get(`/balance/movements.ofx?from=${day(-5)}&to=${day(3)}`)
  assert.match(file.headers.get('content-type')!, /^application\/x-ofx/)
  assert.equal(
    file.headers.get('content-disposition'),
    `attachment; filename="extrato-${day(-5)}-a-${day(3)}.ofx"`,
  )
  assert.match(
    file.text,
    /^<\?xml version="1\.0" encoding="UTF-8" standalone="no"\?>\n<\?OFX OFXHEADER="200" VERSION="220"/,
  )
  const [document] = elementsOf(file.text)
  isAsPrescribed(document!)
  const lines = find(document!, 'STMTTRN')
  const amounts = lines.map((line) => Math.round(Number(valueIn(line, 'TRNAMT')) * 100))
  assert.deepEqual(amounts, [1990, 25_000, 700, -500, -5000])
  assert.deepEqual(
    lines.map((line) => valueIn(line, 'TRNTYPE')),
    ['CREDIT', 'CREDIT', 'CREDIT', 'DEBIT', 'XFER'],
  )
  const available = await availableOf(client)
  assert.equal(valueIn(find(document!, 'LEDGERBAL')[0]!, 'BALAMT'), (available / 100).toFixed(2))
  const digits = (text: string) => text.replaceAll('-', '')
  assert.equal(valueIn(document!, 'DTSTART'), `${digits(day(-5))}000000[-3:BRT]`)
  assert.equal(valueIn(document!, 'DTEND').slice(0, 8), digits(day()))
  assert.equal(valueIn(document!, 'ACCTID'), suffixOf(client.company.id).slice(-22))
})

test('OFX of days that have not begun does not end before it starts', async () => {
  const client = await api.client()
  const owner = await signIn(api, client.company)
  const { text } = await owner.get(`/balance/movements.ofx?from=${day(40)}&to=${day(50)}`)
  const [document] = elementsOf(text)
  isAsPrescribed(document!)
  assert.ok(valueIn(document!, 'DTEND') >= valueIn(document!, 'DTSTART'), text)
  assert.equal(valueIn(find(document!, 'LEDGERBAL')[0]!, 'BALAMT'), '1000.00')
})

test('another program reads the same balances and lines of an OFX file', async () => {
  const client = await busy()
  const owner = await signIn(api, client.company)
  const { text } = await owner.get('/balance/movements.ofx')
  const ofx = new Ofx(text, { nativeTypes: true })
  const { isValid, errors } = ofx.validate() as unknown as { isValid: boolean; errors: unknown[] }
  assert.ok(isValid, JSON.stringify(errors))
  const lines = ofx.getBankTransferList()
  assert.equal(lines.length, 5)
  const summary = ofx.getTransactionsSummary()
  assert.deepEqual(
    [summary.credit, summary.debit].map((sum) => Math.round(sum * 100)),
    [27_690, 5500],
  )
  const names = lines.map((line) => String((line as unknown as { NAME: string }).NAME))
  assert.equal(names[0], 'Maria da Silva')
  const content = ofx.toJson() as unknown as {
    OFX: { BANKMSGSRSV1: { STMTTRNRS: { STMTRS: Record<string, { BALAMT: number }> } } }
  }
  const { LEDGERBAL, AVAILBAL } = content.OFX.BANKMSGSRSV1.STMTTRNRS.STMTRS
  const available = (await availableOf(client)) / 100
  assert.deepEqual([Number(LEDGERBAL!.BALAMT), Number(AVAILBAL!.BALAMT)], [available, available])
})

test('ids of OFX lines are the same in every file, so that a second import doubles nothing', async () => {
  const client = await busy()
  const owner = await signIn(api, client.company)
  const idsIn = async (query: string) => {
    const { text } = await owner.get(`/balance/movements.ofx?${query}`)
    return [...text.matchAll(/<FITID>([^<]+)/g)].map(([, id]) => id!)
  }
  const all = await idsIn(`from=${day(-40)}&to=${day()}`)
  assert.equal(new Set(all).size, 6)
  api.clock.advance(60)
  const month = await idsIn(`from=${day(-1)}&to=${day(1)}`)
  assert.deepEqual(month, all.slice(1))
  assert.deepEqual(await idsIn('movement=withdrawals'), all.slice(-1))
  const empty = await owner.get('/balance/movements.ofx?from=2026-07-01&to=2026-07-02')
  isAsPrescribed(elementsOf(empty.text)[0]!)
  assert.match(empty.text, /<BALAMT>0\.00/)
})

test('the file for spreadsheets has what is filtered, and no cell that is calculated', async () => {
  const client = await busy()
  const owner = await signIn(api, client.company)
  const { text } = await owner.get('/balance/movements.csv?movement=sales')
  const [heading, ...lines] = text.trimEnd().split('\r\n')
  assert.equal(heading, 'Data;Descrição;Nome;Entrada;Saída;Saldo;Lançamento;Referência;Cobrança')
  assert.equal(lines.length, 2)
  assert.match(
    lines[0]!,
    /^\d\d\/\d\d\/\d{4} \d\d:\d\d:\d\d;Cobrança recebida;Maria da Silva;19,90;;1019,90;/,
  )
  assert.match(lines[1]!, /;"'=1\+1/)
  const all = await owner.get('/balance/movements.csv')
  assert.match(all.text, /;Saque;[^;]+;;50,00;1221,90;/)
})

test('balances below zero are written as such', async () => {
  const client = await api.client({ mode: 'live', pixKey: 'dona@example.com' })
  const held = disputeHeld({ ref: 'dispute_1', amount: toCents(1234) }, 'available')
  await api.app.db.transaction((tx) => post(tx, client.company.id, [held], api.clock.now()))
  const owner = await signIn(api, client.company)
  const { text } = await owner.get('/balance/movements.ofx')
  assert.match(text, /<TRNAMT>-12\.34<.*<LEDGERBAL><BALAMT>-12\.34</s)
  assert.match(textOf((await owner.get('/balance')).text), /Saldo final − R\$ 12,34/)
})
