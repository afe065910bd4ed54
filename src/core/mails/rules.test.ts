import assert from 'node:assert/strict'
import { test } from 'node:test'
import { budgetsOf, isExpired, mailboxOf, retryAt, sharesOf, takeFrom } from './rules.ts'

const createdAt = new Date('2026-08-20T15:00:00Z')
const MINUTE_MS = 60_000
const after = (minutes: number) => new Date(createdAt.getTime() + minutes * MINUTE_MS)

test('a mail that is not accepted is tried again for a day, less and less often', () => {
  const tries: number[] = []
  let now: Date | null = createdAt
  for (let attempts = 1; now; attempts += 1) {
    tries.push((now.getTime() - createdAt.getTime()) / MINUTE_MS)
    now = retryAt({ attempts, createdAt }, now)
  }
  assert.deepEqual(tries.slice(0, 6), [0, 1, 6, 21, 81, 141])
  assert.equal(tries.at(-1), 1461, 'the last try is the first one past a day')
})

test('a mail expires at its time', () => {
  assert.equal(isExpired({ expiresAt: after(10) }, after(9)), false)
  assert.equal(isExpired({ expiresAt: after(10) }, after(10)), true)
  assert.equal(isExpired({ expiresAt: null }, after(1e6)), false)
})

test('a mail that is a day old to the millisecond is not tried again', () => {
  const last = new Date(after(24 * 60).getTime() - 1)
  assert.deepEqual(retryAt({ attempts: 9, createdAt }, last), new Date(last.getTime() + 3_600_000))
  assert.equal(retryAt({ attempts: 9, createdAt }, after(24 * 60)), null)
})

test('a mailbox is the same however its address is written', () => {
  const forms = ['ana.souza@gmail.com', 'Ana.Souza@Gmail.com', 'anasouza+loja@gmail.com']
  assert.equal(new Set(forms.map(mailboxOf)).size, 1)
  assert.notEqual(mailboxOf('ana@gmail.com'), mailboxOf('ana@gmail.com.br'))
})

test('each kind of mail has budgets of its own, and codes and warnings have none', () => {
  const perDay = { RECIPIENT: 5, COMPANY: 5, ALL: 5 }
  const of = (kind: Parameters<typeof budgetsOf>[0]['kind']) =>
    budgetsOf({ kind, companyId: 'c' }, 'r', perDay).map(({ name }) => name)
  const names = [...of('payment-link'), ...of('receipt'), ...of('invitation')]
  assert.equal(new Set(names).size, 9)
  const free = ['withdrawal-code', 'new-password', 'password-changed', 'access-changed'] as const
  for (const kind of free) assert.deepEqual(of(kind), [], kind)
})

test('a budget gives a fifth of a day at once, then one after another, and never more', () => {
  const fullAt = new Map<string, number>()
  const budget = { of: 'COMPANY', name: 'x', perDay: 24 } as const
  const taken = (minute: number) => takeFrom([budget], fullAt, minute * MINUTE_MS) === null
  let count = 0
  for (let minute = 0; minute < 24 * 60; minute++) if (taken(minute)) count += 1
  assert.equal(count, 5 + 23)
})

test('a mail that one of its budgets has no room for takes nothing from the others', () => {
  const fullAt = new Map([['used', 1e12]])
  const budgets = [
    { of: 'RECIPIENT', name: 'new', perDay: 10 },
    { of: 'ALL', name: 'used', perDay: 10 },
  ] as const
  assert.equal(takeFrom([...budgets], fullAt, 0), 'ALL')
  assert.equal(fullAt.has('new'), false)
})

test('however few connections there are, payers get some and codes find one', () => {
  assert.deepEqual(sharesOf(1), { payers: 1, ofOneCompany: 1 })
  for (let all = 2; all <= 1000; all++) {
    const { payers, ofOneCompany } = sharesOf(all)
    assert.ok(payers >= 1 && payers < all && ofOneCompany >= 1 && ofOneCompany <= payers, `${all}`)
  }
  assert.deepEqual(sharesOf(50), { payers: 46, ofOneCompany: 40 })
})
