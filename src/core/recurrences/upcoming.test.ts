import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { newId } from '../../lib/ids.ts'
import { toCents } from '../../lib/money.ts'
import type { Frequency } from '../../pix/calendar.ts'
import { addDays, localDateOf } from '../../pix/local-time.ts'
import { type Cycle, follow, generate, type Recurrence, upcomingDebits } from './rules.ts'

const FREQUENCIES: Frequency[] = ['WEEKLY', 'MONTHLY', 'SEMIANNUAL', 'ANNUAL']

const approvedOn = (at: Date, fields: Partial<Recurrence>): Recurrence => {
  const undecided: Recurrence = {
    companyId: newId(),
    id: newId(),
    isTemplate: false,
    originId: null,
    productId: newId(),
    productName: 'Pão todo mês',
    value: toCents(1990),
    frequency: 'MONTHLY',
    dayDue: 3,
    dayGenerateCharge: null,
    customerId: newId(),
    payer: { name: 'Maria', index: Buffer.alloc(16), sealed: Buffer.alloc(40) },
    status: 'OPEN',
    authStatus: 'CREATED',
    externalId: 'RR1',
    brCode: '000201',
    createdAt: at,
    expiresAt: at,
    decidedAt: null,
    firstOn: null,
    cycles: 0,
    lastDueOn: null,
    nextAt: at,
    endReason: null,
    split: null,
    ...fields,
  }
  const decided = {
    externalId: 'RR1',
    brCode: '000201',
    status: 'APPROVED',
    decidedAt: at,
  } as const
  return follow(undecided, decided, at)!.recurrence
}

/** The first cycles, each generated at its moment, and the agreement after them. */
function generated(agreement: Recurrence, count: number): Cycle[] {
  const cycles: Cycle[] = []
  for (let waiting = agreement; cycles.length < count; waiting = cycles.at(-1)!.recurrence) {
    const due = waiting.nextAt! > waiting.decidedAt! ? waiting.nextAt! : waiting.decidedAt!
    cycles.push(generate(waiting, due))
  }
  return cycles
}

const agreements = fc
  .record({
    at: fc.date({ min: new Date('2026-01-01'), max: new Date('2035-01-01'), noInvalidDate: true }),
    frequency: fc.constantFrom(...FREQUENCIES),
    dayDue: fc.integer({ min: 1, max: 7 }),
    dayGenerateCharge: fc.option(fc.integer({ min: 1, max: 28 })),
  })
  .map(({ at, ...terms }) => approvedOn(at, terms))

test('the debits shown before an agreement are those made if it is approved that day', () => {
  fc.assert(
    fc.property(agreements, (agreement) => {
      const days = generated(agreement, 3).map(({ billing }) => billing.dueOn)
      const today = localDateOf(agreement.decidedAt!)
      const debits = upcomingDebits(agreement, null, today, 3)
      assert.deepEqual(
        debits,
        days.map((on, i) => ({ number: i + 1, on, isRetry: false })),
      )
    }),
  )
})

test('an open billing comes before the debits that are not generated yet', () => {
  fc.assert(
    fc.property(agreements, fc.integer({ min: 1, max: 6 }), (agreement, made) => {
      const cycles = generated(agreement, made + 2)
      const { billing, recurrence, charge } = cycles[made - 1]!
      const today = localDateOf(charge.createdAt)
      const debits = upcomingDebits(agreement, { agreement: recurrence, open: [billing] }, today, 3)
      const days = cycles.slice(made - 1).map(({ billing: { cycle, dueOn } }) => ({
        number: cycle + 1,
        on: dueOn,
        isRetry: false,
      }))
      assert.deepEqual(debits, days)
    }),
  )
})

test('no two debits are on one day, even if charges are generated late', () => {
  fc.assert(
    fc.property(agreements, fc.integer({ min: 0, max: 400 }), (agreement, late_days) => {
      const today = addDays(localDateOf(agreement.decidedAt!), late_days)
      const days = upcomingDebits(agreement, { agreement, open: [] }, today, 5).map(({ on }) => on)
      assert.deepEqual(days, [...new Set(days)].sort())
      assert.ok(days[0]! > today)
    }),
  )
})
