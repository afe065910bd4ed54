import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import { type Cents, formatReais, toCents } from '../lib/money.ts'
import { EMPTY, effectOn, enter } from './books.ts'
import * as recipes from './recipes.ts'
import { ACCOUNTS, type Account, KINDS, type Kind, type Posting } from './recipes.ts'

/** The page explains the ledger in numbers; here they are calculated. */
const page = readFileSync(new URL('../../docs/concepts/ledger.md', import.meta.url), 'utf8')

type TableRow = Record<string, string>

/** The table below a heading, its cells by the names of their columns. */
function tableUnder(heading: string): TableRow[] {
  const section = page.split(/^## /m).find((text) => text.startsWith(heading))!
  const [names, , ...rows] = section
    .split('\n')
    .filter((line) => line.startsWith('|'))
    .map((line) => line.slice(2, -2).split(' | '))
  return rows.map((cells) =>
    Object.fromEntries(names!.map((name, i) => [name, cells[i]!.replaceAll('`', '')])),
  )
}

const centsOf = (text: string): Cents => toCents(text.replaceAll('.', '').replace(',', ''))
const reaisOf = (amount: number): string => formatReais(amount).replace(/R\$ |(?<=−) /g, '')

/** A posting by the recipe of its type. Of a refund, the page says where it is taken from. */
function postingOf(line: TableRow, amount: Cents, ref = 'x'): Posting {
  const payment = { endToEndId: ref, amount, chargeId: null }
  const order = { ref, amount }
  const made: Record<Kind, () => Posting> = {
    OPENING: () => recipes.opening(amount),
    CHARGE_PAID: () =>
      line.debit === 'bank' ? recipes.chargePaid(payment) : recipes.paymentMatched(payment),
    FINE_PAID: () => recipes.finePaid(payment, 'bank'),
    INTEREST_PAID: () => recipes.interestPaid(payment, 'bank'),
    CHARGE_SETTLED: () => recipes.chargeReleased(payment),
    PAYMENT_UNMATCHED: () => recipes.paymentUnmatched(payment),
    PAYMENT_ACCEPTED: () => recipes.paymentAccepted(payment),
    REFUND_HELD: () => recipes.refundHeld(order, line.debit as Account),
    REFUND_PAID: () => recipes.refundPaid(order),
    REFUND_RELEASED: () => recipes.refundReleased(order, line.credit as Account),
    BANK_RETURN: () => recipes.bankReturn(order, line.debit as Account),
    WITHDRAWAL_HELD: () => recipes.withdrawalHeld(order, line.debit as Account),
    WITHDRAWAL_PAID: () => recipes.withdrawalPaid(order),
    WITHDRAWAL_RELEASED: () => recipes.withdrawalReleased(order, line.credit as Account),
    SPLIT_SETTLED: () => recipes.splitSettled(payment),
    SPLIT_TAKEN: () => recipes.splitTaken(order),
    SPLIT_GIVEN: () => recipes.splitGiven(order),
    DISPUTE_HELD: () => recipes.disputeHeld(order, line.debit as Account),
    DISPUTE_RELEASED: () => recipes.disputeReleased(order, line.credit as Account),
    DISPUTE_ACCEPTED: () => recipes.disputeAccepted(order),
    DISPUTE_LOST: () => recipes.disputeLost(order),
  }
  return made[line.type as Kind]()
}

/** The bank's account is raised by a debit, those of what we owe by a credit. */
const changeOf = (account: string, posting: Posting): number =>
  effectOn(account as Account, posting) * (account === 'bank' ? -1 : 1)

const signed = (change: number): string => `${change > 0 ? '+' : '−'}${reaisOf(Math.abs(change))}`

test('the page has every account and every recipe, in the order of the code', () => {
  const typesOf = (lines: TableRow[]) => lines.map(({ type }) => type)
  assert.deepEqual(
    tableUnder('Accounts').map(({ account }) => account),
    ['bank', ...ACCOUNTS],
  )
  assert.deepEqual(typesOf(tableUnder('Recipes')), KINDS)
  const shown = new Set(typesOf(tableUnder('A story in numbers')))
  assert.deepEqual([...shown].sort(), [...KINDS].sort(), 'and happens in the story')
})

for (const line of tableUnder('Recipes')) {
  test(`the example of ${line.type} is what its recipe books`, () => {
    const [amount, effects] = line.example!.split(': ')
    const named = effects!.split(', ').map((effect) => effect.split(' ')[0]!)
    const own = (side: string) => named.find((name) => line[side]!.split(/, | or /).includes(name))!
    const sides = { ...line, debit: own('debit'), credit: own('credit') }
    const posting = postingOf(sides, centsOf(amount!))
    assert.deepEqual([posting.debit, posting.credit], [sides.debit, sides.credit])
    const booked = named.map((name) => `${name} ${signed(changeOf(name, posting))}`)
    assert.equal(effects, booked.join(', '))
    if (line.type === 'OPENING') assert.equal(posting.ref, line.reference)
  })
}

test('the example in numbers adds up, row by row', () => {
  let books = EMPTY
  let bank = 0
  for (const line of tableUnder('A story in numbers')) {
    const posting = postingOf(line, centsOf(line.amount!), line.entry)
    const { debit, credit } = posting
    books = enter(books, [posting]).books
    bank += changeOf('bank', posting)
    const balances = ACCOUNTS.map((account) => [account, reaisOf(books.balance[account])])
    assert.deepEqual(line, {
      ...line,
      entry: String(books.entries),
      debit,
      credit,
      ...Object.fromEntries(balances),
      bank: reaisOf(bank),
    })
  }
})
