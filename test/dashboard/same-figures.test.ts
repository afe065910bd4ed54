import assert from 'node:assert/strict'
import { test } from 'node:test'
import { readCsv } from '../../src/lib/csv.ts'
import { readReais } from '../../src/lib/money.ts'
import { connectAgent } from '../support/agents.ts'
import { type Client, startApi } from '../support/api.ts'
import { approvedSubscription, statesOf } from '../support/billing.ts'
import { type Member, signIn } from '../support/dashboard.ts'
import { decide, openDispute } from '../support/disputes.ts'
import { requireFigures } from '../support/figures.ts'
import { lastCode } from '../support/mail.ts'
import { linkTo } from '../support/pages.ts'
import {
  makeCharge,
  makeCode,
  makePaid,
  makeUnmatched,
  pay,
  returnOf,
} from '../support/payments.ts'
import { dataOf, makeRecipient, makeSettled, requireClean } from '../support/splits.ts'
import { runTasks } from '../support/tasks.ts'
import { confirm, confirmed } from '../support/withdrawals.ts'

const api = await startApi()

/** Sets the clock to a moment of São Paulo. */
const goTo = (moment: string): void =>
  api.clock.advance((Date.parse(`${moment}-03:00`) - api.clock.now().getTime()) / 1000)

async function payLink(client: Client, total: number): Promise<void> {
  const link = await api.call('POST', new URL(await linkTo(api, client, { total })).pathname)
  assert.ok(link.status < 400, link.text)
  const [{ id }] = dataOf(await client.get('/charge?limit=1'))
  await pay(api, dataOf(await client.get(`/charge/${id}`)).brCode)
}

async function payRecipient(client: Client): Promise<void> {
  const recipientId = await makeRecipient(client)
  await makeSettled(api, client, 6000, [{ recipientId, percent: 5000 }])
  const { withdrawId } = dataOf(await client.post(`/recipient/${recipientId}/payout`))
  dataOf(await confirm(client, withdrawId, await lastCode(api, client.company.id)))
}

/** Two subscriptions, of which the bank debits one on 24 August, and tries the other in vain. */
async function subscribe(client: Client): Promise<[paid: string, unpaid: string]> {
  const paid = await approvedSubscription(api, client)
  const unpaid = await approvedSubscription(api, client, { price: 8800 }, false)
  await runTasks(api)
  return [paid.id, unpaid.id]
}

/** 20 to 24 August: sales of each kind, refunds, a bank's return, disputes, and a payout. */
async function trade(client: Client): Promise<{ failing: string }> {
  const [debited, failing] = await subscribe(client)
  const refunded = await makePaid(api, client, 10_000)
  await pay(api, (await makeCode(client, 2500)).brCode)
  await payLink(client, 4000)
  const terms = { dueDate: '2026-08-21', fine: { type: 'PERCENT', value: 200 } }
  const overdue = await makeCharge(client, 8000, terms)
  const kept = await makeUnmatched(api, client, 700)
  const sentBack = await makeUnmatched(api, client, 900)
  const named = await makeCharge(client, 1200, { expiresIn: 20 * 86_400 })
  const settled = await pay(api, named.brCode, { amount: 1100 })
  goTo('2026-08-23T10:00:00')
  dataOf(await client.post(`/refund/${refunded.id}`, { value: 1500 }))
  const unmatched = '/payment/unmatched'
  dataOf(await client.post(`${unmatched}/${sentBack}/refund`))
  dataOf(await client.post(`${unmatched}/${kept}/accept`))
  dataOf(await client.post(`${unmatched}/${settled}/accept`, { chargeId: named.id }))
  dataOf(
    await client.post(returnOf((await makePaid(api, client, 3300)).endToEndId), { value: 300 }),
  )
  await runTasks(api)
  goTo('2026-08-24T23:59:59')
  await pay(api, overdue.brCode)
  await payRecipient(client)
  await runTasks(api)
  assert.deepEqual(await statesOf(client, debited), ['COMPLETED PAID'])
  assert.deepEqual(await statesOf(client, failing), ['OPEN PROCESSING'])
  return { failing }
}

/** 31 August: a dispute that is lost beside a refund, one that is open, and a withdrawal. */
async function endMonth(client: Client): Promise<void> {
  goTo('2026-08-31T22:00:00')
  const disputed = await makePaid(api, client, 5000)
  dataOf(await client.post(`/refund/${disputed.id}`, { value: 2000 }))
  await runTasks(api)
  const lost = await openDispute(client, disputed.endToEndId)
  await decide(client, lost.id, 'lost')
  await openDispute(client, (await makePaid(api, client, 1700)).endToEndId)
  await makeUnmatched(api, client, 650)
  goTo('2026-08-31T23:59:58')
  await confirmed(api, client, 3000)
  await runTasks(api)
}

type Sums = { received: number; returned: number; withdrawn: number; net: number }
type Balances = { opening: number; closing: number }
type Raw = {
  kind: string
  debit: string
  credit: string
  amount: number
  /** The kind of the charge, if it is of one. */
  sold: string | null
}

/** What the postings of a period say, of all money and of what is available. */
async function recount({ company }: Client, from: string, to: string) {
  const rows = await api.rows<Raw & { at: 'before' | 'in' }>(
    `select p.kind, debit, credit, p.amount, c.kind as sold,
       case when p.created_at < ($2::date + time '03:00') at time zone 'UTC' then 'before' else 'in' end as at
     from postings p left join charges c on c.company_id = p.company_id and c.id = p.charge_id
     where p.company_id = $1
       and p.created_at < ($3::date + interval '1 day 3 hours') at time zone 'UTC'`,
    [company.id, from, to],
  )
  const sum = (isOf: (row: (typeof rows)[number]) => boolean) =>
    rows.filter(isOf).reduce((all, { amount }) => all + amount, 0)
  const isIn = ({ at }: { at: string }) => at === 'in'
  const received = sum((row) => isIn(row) && row.debit === 'bank' && row.kind !== 'OPENING')
  const withdrawn = sum((row) => isIn(row) && row.kind === 'WITHDRAWAL_PAID')
  const returned = sum((row) => isIn(row) && row.credit === 'bank') - withdrawn
  const held = (account: string, isPlus: boolean, when: (row: { at: string }) => boolean) => {
    const [raises, lowers] = isPlus
      ? (['credit', 'debit'] as const)
      : (['debit', 'credit'] as const)
    return (
      sum((one) => when(one) && one[raises] === account) -
      sum((one) => when(one) && one[lowers] === account)
    )
  }
  const of = (account: string, isPlus: boolean): Balances => ({
    opening: held(account, isPlus, (row) => !isIn(row)),
    closing: held(account, isPlus, () => true),
  })
  return {
    subscriptions: sum((row) => isIn(row) && row.debit === 'bank' && row.sold === 'RECURRING'),
    sums: { received, returned, withdrawn, net: received - returned } satisfies Sums,
    total: of('bank', false),
    available: of('available', true),
    entered: sum((row) => isIn(row) && row.credit === 'available'),
    left: sum((row) => isIn(row) && row.debit === 'available'),
  }
}

const textOf = (markup: string): string =>
  markup.replaceAll(/<[^>]+>/g, ' ').replaceAll(/\s+/g, ' ')
/** −1.234,56, with or without the sign of money. */
const centsOf = (text: string): number =>
  (/[−-]/.test(text) ? -1 : 1) * readReais(text.replace(/[−+\s-]/g, '').replace('R$', ''))!

/** The first amounts after these titles. */
function amountsIn<T extends string>(text: string, titles: Record<T, string>): Record<T, number> {
  const found = Object.entries<string>(titles).map(([name, title]) => {
    const at = new RegExp(`${title} (?:\\d+ )?([−+] )?R\\$ ([−\\d.,]+)`).exec(text)
    assert.ok(at, `${title} in ${text}`)
    return [name, centsOf(`${at[1] ?? ''}${at[2]}`)]
  })
  return Object.fromEntries(found)
}

const page = async (member: Member, path: string): Promise<string> => {
  const { status, text } = await member.get(path)
  assert.equal(status, 200, text)
  return text
}
const mainOf = (text: string) => textOf(/<main.*<\/main>/s.exec(text)![0])

const GROSS = { received: 'Recebido bruto', returned: 'Devolvido' }

const rowsOf = (text: string): Record<string, string>[] => {
  const [heading, ...rows] = readCsv(text.replace('\uFEFF', '')).map(({ cells }) => cells)
  return rows.map((cells) => Object.fromEntries(heading!.map((name, i) => [name, cells[i] ?? ''])))
}
const sumOf = (rows: Record<string, string>[], column: string): number =>
  rows.reduce((all, row) => all + (row[column] ? centsOf(row[column]!) : 0), 0)

/** The same period on every page, in every file, in the API and for agents. */
async function compare(client: Client, member: Member, from: string, to: string): Promise<void> {
  const counted = await recount(client, from, to)
  const { sums, subscriptions, total, available, entered, left } = counted
  const period = `from=${from}&to=${to}`

  const report = mainOf(await page(member, `/reports?${period}`))
  const shown = amountsIn(report, { ...GROSS, net: 'Líquido', withdrawn: 'Sacado' })
  assert.deepEqual(shown, sums, 'the report')
  const parts = rowsOf(await page(member, `/reports.csv?${period}`))
  assert.deepEqual(
    {
      received: sumOf(parts, 'Recebido bruto'),
      returned: sumOf(parts, 'Devolvido'),
      withdrawn: sumOf(parts, 'Sacado'),
      net: sumOf(parts, 'Líquido'),
    },
    sums,
    'the file of the report',
  )
  assert.equal(sumOf(parts, 'Assinatura'), subscriptions, 'subscriptions in the file')

  const agent = await connectAgent(api, client)
  for (const group of ['day', 'month']) {
    const listed = dataOf(await client.get(`/account-balance/figures?${period}&group=${group}`))
    const { figures } = await agent.data('list_figures', { from, to, group })
    assert.deepEqual(figures, listed, `agents by ${group}`)
    const add = (of: (one: (typeof listed)[number]) => number) =>
      listed.reduce((all: number, one: (typeof listed)[number]) => all + of(one), 0)
    assert.deepEqual(
      {
        received: add(({ received }) => received.sum),
        returned: add(({ returned }) => returned.sum),
        withdrawn: add(({ withdrawn }) => withdrawn.sum),
        net: add(({ net }) => net),
      },
      sums,
      `the API by ${group}`,
    )
    assert.equal(
      add(({ bySource }) => bySource.RECURRING.sum),
      subscriptions,
      `subscriptions by ${group}`,
    )
    const totalOf = (balance: Record<string, number>) =>
      Object.values(balance).reduce((all, one) => all + one, 0)
    const ends = { opening: totalOf(listed[0].opening), closing: totalOf(listed.at(-1).closing) }
    assert.deepEqual(ends, total, `the balances of the API by ${group}`)
  }

  const statement = mainOf(await page(member, `/balance?${period}`))
  assert.deepEqual(
    amountsIn(statement.slice(statement.indexOf('Saldo inicial')), {
      opening: 'Saldo inicial',
      entered: 'Entradas',
      left: 'Saídas',
      closing: 'Saldo final',
    }),
    { ...available, entered, left: 0 - left },
    'the statement',
  )
  const lines = rowsOf(await page(member, `/balance/movements.csv?${period}`))
  assert.deepEqual([sumOf(lines, 'Entrada'), sumOf(lines, 'Saída')], [entered, left], 'its file')
  const ofx = await page(member, `/balance/movements.ofx?${period}`)
  const amounts = [...ofx.matchAll(/<TRNAMT>(-?)(\d+)\.(\d\d)</g)].map(([, sign, reais, cents]) =>
    Number(`${sign}${reais}${cents}`),
  )
  const moved = amounts.reduce((all, one) => all + one, 0)
  const [, balance] = /<LEDGERBAL><BALAMT>([^<]+)/.exec(ofx)!
  assert.deepEqual(
    {
      opening: Math.round(Number(balance) * 100) - moved,
      closing: Math.round(Number(balance) * 100),
    },
    available,
    'OFX',
  )
  const entries = rowsOf(await page(member, `/balance/statement.csv?${period}`))
  const newest = entries.at(0)!
  assert.equal(centsOf(newest['Saldo disponível']!), available.closing, 'the file of entries')
}

/** Subscriptions that are overdue: in the report, in the count of their tab, and in its list. */
async function compareOverdue(member: Member, ids: string[]): Promise<void> {
  const report = mainOf(await page(member, '/reports'))
  assert.match(report, new RegExp(`Em atraso agora ${ids.length} `))
  const list = await page(member, '/subscriptions?state=overdue')
  assert.match(mainOf(list), new RegExp(`Em atraso ${ids.length} `))
  const mrr = { mrr: 'Receita mensal \\(MRR\\)' }
  assert.deepEqual(amountsIn(mainOf(list), mrr), amountsIn(report, mrr))
  assert.deepEqual([...new Set(list.match(/rec_\w{26}/g))], ids)
}

test('a lively month is the same to the cent on every page, in every file, the API and for agents', async () => {
  const client = await api.client()
  const { failing } = await trade(client)
  await endMonth(client)
  const today = await signIn(api, client.company, { role: 'owner' })
  const lastDay = await recount(client, '2026-08-31', '2026-08-31')
  const shownToday = amountsIn(mainOf(await page(today, '')), { ...GROSS, net: 'Líquido' })
  const { withdrawn: _, ...ofToday } = lastDay.sums
  assert.deepEqual(shownToday, ofToday, 'Today')
  await compare(client, today, '2026-08-01', '2026-08-31')
  await compareOverdue(today, [failing])

  goTo('2026-09-01T00:00:00')
  await makePaid(api, client, 99_999)
  goTo('2026-09-05T12:00:00')
  const member = await signIn(api, client.company, { role: 'owner' })
  // The bank has given up, and the day is still unpaid.
  await runTasks(api)
  assert.deepEqual(await statesOf(client, failing), ['EXPIRED EXPIRED'])
  await compareOverdue(member, [failing])
  const { sums, subscriptions, total } = await recount(client, '2026-08-01', '2026-08-31')
  assert.equal(subscriptions, 1990)
  const closing = mainOf(await page(member, '/closing/2026-08'))
  assert.deepEqual(
    amountsIn(closing, {
      opening: 'Saldo inicial',
      ...GROSS,
      withdrawn: 'Sacado',
      closing: 'Saldo final',
    }),
    {
      ...total,
      received: sums.received,
      returned: 0 - sums.returned,
      withdrawn: 0 - sums.withdrawn,
    },
    'the closing',
  )
  const file = rowsOf(await page(member, '/closing/2026-08.csv'))
  const summary = file.filter(({ Seção }) => Seção === 'Resumo')
  const inFile = (what: string) =>
    sumOf(
      summary.filter((row) => row.Descrição === what),
      'Valor',
    )
  assert.deepEqual(
    [inFile('Recebido bruto'), inFile('Devolvido'), inFile('Sacado'), inFile('Saldo final')],
    [sums.received, 0 - sums.returned, 0 - sums.withdrawn, total.closing],
    'the file of the closing',
  )
  for (const [from, to] of [
    ['2026-08-01', '2026-08-31'],
    ['2026-08-24', '2026-08-24'],
    ['2026-08-31', '2026-08-31'],
    ['2026-09-01', '2026-09-01'],
  ]) {
    await compare(client, member, from!, to!)
  }
  // By hand: 1990 of a subscription, sales 10000 + 2500 + 4000 + 8160 + 3 x 500 + 700 + 900 +
  // 1100 + 3300 + 6000 + 5000 + 1700 + 650. Back: 1500 + 900 + 300 + 2000 + 3000 of the dispute.
  // Out: 3000 of both.
  assert.deepEqual(sums, { received: 47_500, returned: 7700, withdrawn: 6000, net: 39_800 })
  await requireFigures(api, client)
  await requireClean(api, client)
})
