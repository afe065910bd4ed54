import { isBusinessDay } from '../../src/pix/business-days.ts'
import { addDays, type LocalDate, localDateOf } from '../../src/pix/local-time.ts'
import type { Body } from './answers.ts'
import type { Books, Charge, Due, Parts, Rate } from './books.ts'
import { toCents } from './scheme.ts'

export const dueOf = ({ calendario, valor }: Body): Due => {
  const { original: _, ...terms } = valor
  const { dataDeVencimento: on, validadeAposVencimento: daysAfter = 30 } = calendario
  return { on, daysAfter, ...terms }
}

/** What the document calls violations of a charge with a due date. */
export function dueFaults({ clock }: Books, createdAt: Date | null, body: Body): string[] {
  const { on, daysAfter, abatimento, desconto } = dueOf(body)
  const original = toCents(body.valor.original)
  const takesAll = (modalidade: number, valorPerc: string) =>
    toCents(valorPerc) >= (modalidade === 1 ? original : 10_000)
  return [
    ...(on < localDateOf(createdAt ?? clock.now())
      ? ['O campo cobv.calendario.dataDeVencimento é anterior à data de criação da cobrança.']
      : []),
    ...(daysAfter < 0
      ? ['O campo cobv.calendario.validadeAposVencimento é menor do que zero.']
      : []),
    ...(abatimento && takesAll(abatimento.modalidade, abatimento.valorPerc)
      ? ['O objeto cobv.valor.abatimento representa um valor maior ou igual ao da cobrança.']
      : []),
    ...(desconto ? discountFaults(desconto, on, takesAll) : []),
  ]
}

function discountFaults(
  { modalidade, valorPerc, descontoDataFixa = [] }: NonNullable<Due['desconto']>,
  on: LocalDate,
  takesAll: (modalidade: number, valorPerc: string) => boolean,
): string[] {
  const isDated = modalidade <= 2
  const rules: [isWrong: boolean, rule: string][] = [
    [isDated && valorPerc !== undefined, 'tem modalidade 1 ou 2, porém valorPerc preenchido.'],
    [isDated && descontoDataFixa.length === 0, 'tem modalidade 1 ou 2, porém nenhuma data.'],
    [!isDated && valorPerc === undefined, 'tem modalidade de 3 a 6, porém nenhum valorPerc.'],
    [!isDated && descontoDataFixa.length > 0, 'tem modalidade de 3 a 6, porém datas.'],
    [descontoDataFixa.some(({ data }) => data > on), 'tem data posterior à data de vencimento.'],
    [
      descontoDataFixa.some((one) => takesAll(modalidade, one.valorPerc)) ||
        (valorPerc !== undefined && takesAll(modalidade <= 4 ? 1 : 2, valorPerc)),
      'representa um valor maior ou igual ao da cobrança.',
    ],
  ]
  return rules.flatMap(([isWrong, rule]) =>
    isWrong ? [`O objeto cobv.valor.desconto ${rule}`] : [],
  )
}

/** What is to be paid on a day, by the document and this bank's calendar, counted day by day. */
export function partsOn({ style }: Books, { amount, due }: Charge, day: LocalDate): Parts {
  const { multa, juros, abatimento, desconto } = due!
  const isOpen = (one: LocalDate) => isBusinessDay(one) && !style.holidays.includes(one)
  const firstOpen = (one: LocalDate): LocalDate => (isOpen(one) ? one : firstOpen(addDays(one, 1)))
  const last = firstOpen(due!.on)
  const isLate = day >= firstOpen(addDays(last, 1))
  const parts = { original: amount, multa: 0, juros: 0, abatimento: 0, desconto: 0 }
  if (abatimento) parts.abatimento = once(amount, abatimento)
  const left = amount - parts.abatimento
  if (multa && isLate) parts.multa = once(left, multa)
  if (juros && isLate) parts.juros = interest(left, juros, daysIn(last, day), isOpen)
  if (desconto && day <= last) {
    parts.desconto = desconto.descontoDataFixa
      ? untilDay(left, desconto, day, { written: due!.on, last })
      : forEarly(left, desconto as Rate, daysIn(day, last), isOpen)
  }
  return parts
}

export const totalOf = ({ original, multa, juros, abatimento, desconto }: Parts): number =>
  original + multa + juros - abatimento - desconto

/** The days after one day, with the other. */
function daysIn(from: LocalDate, to: LocalDate): LocalDate[] {
  const days: LocalDate[] = []
  for (let day = addDays(from, 1); day <= to; day = addDays(day, 1)) days.push(day)
  return days
}

/** A fraction of cents in whole cents. Half a cent counts as one. */
const rounded = (numerator: bigint, denominator: bigint): number => {
  const whole = numerator / denominator
  return Number((numerator % denominator) * 2n >= denominator ? whole + 1n : whole)
}

const once = (cents: number, { modalidade, valorPerc }: Rate): number =>
  modalidade === 1
    ? toCents(valorPerc)
    : rounded(BigInt(cents) * BigInt(toCents(valorPerc)), 10_000n)

/** A day, a month and a year: of calendar days, then of days with banks. */
const PERIODS = [1n, 30n, 365n, 1n, 21n, 252n]

function interest(
  cents: number,
  { modalidade, valorPerc }: Rate,
  days: LocalDate[],
  isOpen: (day: LocalDate) => boolean,
): number {
  const counted = modalidade >= 5 ? days.filter(isOpen) : days
  const kind = (modalidade - 1) % 4
  if (kind === 0) return counted.length * toCents(valorPerc)
  const period = PERIODS[kind - 1 + (modalidade >= 5 ? 3 : 0)]!
  const sum = counted.reduce((all) => all + BigInt(cents) * BigInt(toCents(valorPerc)), 0n)
  return rounded(sum, 10_000n * period)
}

function forEarly(
  cents: number,
  { modalidade, valorPerc }: Rate,
  days: LocalDate[],
  isOpen: (day: LocalDate) => boolean,
): number {
  const counted = modalidade % 2 === 0 ? days.filter(isOpen) : days
  const one = BigInt(toCents(valorPerc))
  return modalidade <= 4
    ? counted.length * Number(one)
    : rounded(BigInt(counted.length) * one * BigInt(cents), 10_000n)
}

/** The discount whose day comes next. One until the due date moves with it. */
function untilDay(
  cents: number,
  { modalidade, descontoDataFixa }: NonNullable<Due['desconto']>,
  day: LocalDate,
  { written, last }: { written: LocalDate; last: LocalDate },
): number {
  const open = descontoDataFixa!
    .map(({ data, valorPerc }) => ({ data: data === written ? last : data, valorPerc }))
    .filter(({ data }) => day <= data)
    .sort((a, b) => (a.data < b.data ? -1 : 1))
  return open[0] ? once(cents, { modalidade, valorPerc: open[0].valorPerc }) : 0
}
