import { addDays, type LocalDate } from '../../lib/local-time.ts'
import { nextBusinessDay } from '../../pix/business-days.ts'
import { dueDay, firstGeneration, generationDay } from '../../pix/calendar.ts'
import type { Billing } from '../billings/rules.ts'
import type { Recurrence, Terms } from './rules.ts'

/** One of the next debits: which of all it is, from 1, and the day it is due. */
export type Announced = { number: number; on: LocalDate }

type Waiting = Pick<Recurrence, 'firstOn' | 'cycles' | 'lastDueOn'>

/** An agreement that is approved today and has no charge yet. */
const fromToday = ({ dayGenerateCharge }: Terms, today: LocalDate): Waiting => ({
  ...{ firstOn: firstGeneration(today, dayGenerateCharge), cycles: 0, lastDueOn: null },
})

/**
 * The next debits of an agreement: those that are on their way to the payer's bank, then those
 * that are still to be generated, each on a day of its own as `generate` gives it.
 */
export function announce(
  terms: Terms,
  agreed: { agreement: Waiting; open: Pick<Billing, 'cycle' | 'dueOn'>[] } | null,
  today: LocalDate,
  count: number,
): Announced[] {
  const { firstOn, cycles, lastDueOn } = agreed?.agreement ?? fromToday(terms, today)
  const announced = (agreed?.open ?? []).map(({ cycle, dueOn }) => ({
    number: cycle + 1,
    on: dueOn,
  }))
  let last = lastDueOn
  for (let cycle = cycles; announced.length < count; cycle++) {
    const generated = generationDay(firstOn!, terms.frequency, cycle)
    const due = dueDay(generated > today ? generated : today, terms.dayDue)
    last = last === null || due > last ? due : nextBusinessDay(addDays(last, 1))
    announced.push({ number: cycle + 1, on: last })
  }
  return announced.slice(0, count)
}
