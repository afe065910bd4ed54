import Type, { type Static } from 'typebox'
import { invalid } from '../../lib/problems.ts'
import {
  addDays,
  endOfPeriod,
  localDateOf,
  startOfDay,
  startOfPeriod,
} from '../../pix/local-time.ts'
import type { App } from '../app.ts'
import type { Company } from '../companies/rules.ts'
import { DayOrTime, Timestamp } from '../fields.ts'
import { type Figures, type Period, readFigures } from '../figures/figures.ts'
import { GROUPS, groupsOf } from '../figures/groups.ts'
import { SOURCES, type Sum } from '../figures/rules.ts'
import { BalanceView, showBalance } from './view.ts'

/** More would make an answer of many megabytes. */
const MAX_GROUPS = 366
/** Days that are covered by default. */
const DEFAULT_DAYS = 31

export const FiguresQuery = Type.Object({
  from: Type.Optional(DayOrTime('Booked at or after this moment, or from this day on')),
  to: Type.Optional(DayOrTime('Booked before this moment, or up to the end of this day')),
  group: Type.Optional(
    Type.Enum([...GROUPS], {
      default: 'day',
      description: 'Days, weeks from Monday on, or months, in São Paulo',
    }),
  ),
})

const count = Type.Integer({ description: 'How many payments, refunds or withdrawals' })
const SumView = (description: string) =>
  Type.Object({ count, sum: Type.Integer({ description: 'Cents' }) }, { description })

const SOURCE_TEXTS: Record<(typeof SOURCES)[number], string> = {
  PIX: 'Of Pix charges',
  LINK: 'Of payment links',
  STATIC: 'Of static codes',
  RECURRING: 'Of subscriptions',
  UNMATCHED: 'Of Pix that paid no charge when they arrived, whatever was decided later',
}

export const FiguresView = Type.Object({
  from: Timestamp,
  to: Timestamp,
  received: SumView('All that entered the bank, with fines and interest'),
  bySource: Type.Object(
    Object.fromEntries(SOURCES.map((source) => [source, SumView(SOURCE_TEXTS[source])])) as Record<
      (typeof SOURCES)[number],
      ReturnType<typeof SumView>
    >,
    { description: 'The same by its source: together they are `received`' },
  ),
  returned: SumView('Refunds that were paid, returns by the bank, and disputes that were lost'),
  net: Type.Integer({ description: 'received − returned, in cents' }),
  withdrawn: SumView('Withdrawals and payouts to recipients that were sent'),
  opening: Type.Object(BalanceView.properties, { description: 'The balances before it' }),
  closing: Type.Object(BalanceView.properties, { description: 'The balances after it, until now' }),
})

export type ShownFigures = Static<typeof FiguresView>

const showSum = ({ count, sum }: Sum): Sum => ({ count, sum })

const showFigures = ({ from, to }: Period, figures: Figures): ShownFigures => ({
  from: from.toISOString(),
  to: to.toISOString(),
  received: showSum(figures.received),
  bySource: figures.bySource,
  returned: showSum(figures.returned),
  net: figures.net,
  withdrawn: showSum(figures.withdrawn),
  opening: showBalance(figures.opening),
  closing: showBalance(figures.closing),
})

/** Days of the calendar that we know. */
const [FIRST, LAST] = [startOfDay('2000-01-01'), startOfDay('2999-01-01')]

function periodOf({ from, to }: Static<typeof FiguresQuery>, now: Date): Period {
  const tomorrow = addDays(localDateOf(now), 1)
  const period = {
    from: from === undefined ? startOfDay(addDays(tomorrow, -DEFAULT_DAYS)) : startOfPeriod(from),
    to: to === undefined ? startOfDay(tomorrow) : endOfPeriod(to),
  }
  if (period.from >= period.to) throw invalid('from: must be before to')
  if (period.from < FIRST) throw invalid('from: must be 2000-01-01 or later')
  if (period.to > LAST) throw invalid('to: must be before 2999-01-01')
  return period
}

/** The figures of a period by day, week or month, the oldest first. */
export async function listFigures(
  app: Pick<App, 'db' | 'clock'>,
  company: Company,
  query: Static<typeof FiguresQuery>,
): Promise<ShownFigures[]> {
  const groups = groupsOf(periodOf(query, app.clock.now()), query.group ?? 'day', MAX_GROUPS + 1)
  if (groups.length > MAX_GROUPS) {
    throw invalid(
      `from: there are more than ${MAX_GROUPS} groups; send a later from, an earlier to, or another group`,
    )
  }
  const figures = await readFigures(app, company, groups)
  return groups.map((group, i) => showFigures(group, figures[i]!))
}
