import { nextBusinessDay } from '../../pix/business-days.ts'
import { dueDay, firstGeneration, generationDay } from '../../pix/calendar.ts'
import { addDays, type LocalDate } from '../../pix/local-time.ts'
import { type Billing, debitDay } from '../billings/rules.ts'
import type { Recurrence, Terms } from './rules.ts'

/** A debit that is not made yet: its number in the agreement, from 1, and its day. */
export type UpcomingDebit = { number: number; on: LocalDate; isRetry: boolean }

type Waiting = Pick<Recurrence, 'firstOn' | 'cycles' | 'lastDueOn'>

/** An agreement that would be approved today. */
const fromToday = ({ dayGenerateCharge }: Terms, today: LocalDate): Waiting => ({
  firstOn: firstGeneration(today, dayGenerateCharge),
  cycles: 0,
  lastDueOn: null,
})

/**
 * The next debits of an agreement: first the billings that have not ended and still have a day,
 * then the charges that are not generated yet, on the days that `generate` gives them.
 */
export function upcomingDebits(
  terms: Terms,
  agreed: { agreement: Waiting; open: Pick<Billing, 'cycle' | 'dueOn' | 'nextAt'>[] } | null,
  today: LocalDate,
  count: number,
): UpcomingDebit[] {
  const { firstOn, cycles, lastDueOn } = agreed?.agreement ?? fromToday(terms, today)
  const debits = (agreed?.open ?? []).flatMap((billing): UpcomingDebit[] => {
    const on = debitDay(billing, today)
    return on ? [{ number: billing.cycle + 1, on, isRetry: on !== billing.dueOn }] : []
  })
  let last = lastDueOn
  for (let cycle = cycles; debits.length < count; cycle++) {
    const generated = generationDay(firstOn!, terms.frequency, cycle)
    const due = dueDay(generated > today ? generated : today, terms.dayDue)
    last = last === null || due > last ? due : nextBusinessDay(addDays(last, 1))
    debits.push({ number: cycle + 1, on: last, isRetry: false })
  }
  return debits.slice(0, count)
}
