import { lastDays } from '../../core/figures/rules.ts'
import {
  type CompanyCounts,
  countCompanies,
  type DayVolume,
  listQuiet,
  type QuietCompany,
  readVolume,
} from '../../core/operator/volume-store.ts'
import { askAll, descending, listOfAll } from '../../core/places/across.ts'
import { formatReais } from '../../lib/money.ts'
import { formatDay, localDateOf } from '../../pix/local-time.ts'
import { barChart, briefReais } from '../dashboard/chart.ts'
import { changeOf } from '../dashboard/comparison.ts'
import { card, formatCount, money } from '../dashboard/parts.ts'
import { type Html, html } from '../html.ts'
import { companyLink } from './shell.ts'
import { OPERATOR } from './texts.ts'
import type { OperatorVisit } from './visit.ts'

const DAYS = 30
/** A company that has received nothing for so many days may be leaving. */
const QUIET_DAYS = 7
const MAX_QUIET = 10

type VolumeOfDay = Omit<DayVolume, 'at'> & { day: string }

type Volume = {
  /** The period and the one before it. */
  days: VolumeOfDay[]
  counts: CompanyCounts
  quiet: QuietCompany[]
}

/** What all live companies have received lately, and how many of them are at work. */
async function readInstallation({ app }: OperatorVisit): Promise<Volume> {
  const days = lastDays(2 * DAYS, app.systemClock.now())
  const before = days[0]!.from
  const period = { before, from: days[DAYS]!.from, quietSince: days.at(-QUIET_DAYS)!.from }
  const [volumes, counts, quiet] = await Promise.all([
    askAll(app, (db) => readVolume(db, before)),
    askAll(app, (db) => countCompanies(db, period)),
    listOfAll(app, (db) => listQuiet(db, period, MAX_QUIET), {
      companyOf: ({ id }) => id,
      compare: descending(({ lastDay }) => lastDay),
      limit: MAX_QUIET,
    }),
  ])
  const byDay = Map.groupBy(volumes.flat(), ({ at }) => at.getTime())
  const shown = days.map(({ day, from }) => {
    const own = byDay.get(from.getTime()) ?? []
    return { day, count: total(own, 'count'), sum: total(own, 'sum') }
  })
  return { days: shown, counts: addUp(counts), quiet }
}

const total = <Name extends string>(rows: Record<Name, number>[], name: Name): number =>
  rows.reduce((all, row) => all + row[name], 0)

const addUp = (counts: CompanyCounts[]): CompanyCounts => ({
  live: total(counts, 'live'),
  new: total(counts, 'new'),
  newBefore: total(counts, 'newBefore'),
  active: total(counts, 'active'),
  activeBefore: total(counts, 'activeBefore'),
  quiet: total(counts, 'quiet'),
})

/** Volume, companies and those that have stopped, on the overview of operators. */
export async function volumeCards(visit: OperatorVisit): Promise<Html> {
  const { language } = visit
  const texts = OPERATOR[language].volume
  const { days, counts, quiet } = await readInstallation(visit)
  if (counts.live === 0) return card(texts.title, html`<p class="soft">${texts.noLive}</p>`)
  const last = (count: number) => days.slice(-count)
  const figure = (title: string, value: Html | string, change: Html | null, more: string) =>
    card(
      null,
      html`<h2 class="soft small">${title}</h2><span><strong>${value}</strong> ${change}</span><p class="soft small">${more}</p>`,
      'figure',
    )
  const received = (title: string, count: number) =>
    figure(
      title,
      money(total(last(count), 'sum')),
      changeOfDays(visit, days, count),
      texts.payments(formatCount(total(last(count), 'count'))),
    )
  return html`<div class="figures">${received(texts.today, 1)}${received(texts.week, 7)}${received(texts.month, DAYS)}${figure(
    texts.active,
    formatCount(counts.active),
    changeOf(counts.active, counts.activeBefore, language),
    texts.ofLive(counts.live),
  )}${figure(
    texts.new,
    formatCount(counts.new),
    changeOf(counts.new, counts.newBefore, language),
    texts.ofLive(counts.live),
  )}</div>
${chartCard(visit, days)}${counts.quiet > 0 && quietCard(visit, quiet, counts.quiet)}`
}

/** Without today, which is not over, and the day that it would be compared with. */
function changeOfDays({ language }: OperatorVisit, days: VolumeOfDay[], count: number) {
  const sumOf = (from: number, to: number) => total(days.slice(from, to), 'sum')
  return changeOf(sumOf(-count, -1), sumOf(-2 * count, -count - 1), language)
}

function chartCard({ language }: OperatorVisit, days: Volume['days']): Html {
  const texts = OPERATOR[language].volume
  const chart = barChart(
    {
      id: 'volume',
      title: texts.chart,
      heading: texts.day,
      bars: days.slice(DAYS).map(({ day, sum, count }, i) => ({
        label: formatDay(day).slice(0, 5),
        name: formatDay(day),
        value: sum,
        before: days[i]!.sum,
        note: texts.payments(formatCount(count)),
      })),
      series: { value: texts.received, before: texts.before },
      brief: briefReais,
      write: formatReais,
    },
    language,
  )
  return card(texts.chart, html`<p class="soft small">${texts.hint}</p>${chart}`)
}

/** Companies that have received before, and nothing for a week. */
function quietCard(visit: OperatorVisit, quiet: QuietCompany[], count: number): Html {
  const texts = OPERATOR[visit.language].volume
  const row = ({ id, name, lastDay }: QuietCompany) =>
    html`<li class="row"><span>${companyLink(visit, id, name)}</span><span class="soft small">${texts.lastDay(formatDay(localDateOf(lastDay)))}</span></li>`
  return card(
    texts.quiet(count),
    html`<p class="soft small">${texts.quietHint(QUIET_DAYS)}</p><ul class="rows">${quiet.map(row)}</ul>`,
  )
}
