import type { Language } from '../../lib/language.ts'
import type { Sign, Suggestion } from './likely-charge.ts'

type Words = {
  named: string
  amount: string
  dayAmount: string
  otherAmount: string
  taxId: (kind: string) => string
  partOfTaxId: (kind: string) => string
  name: string
  locale: string
  soon: string
  minutes: (count: number) => string
  hours: (count: number) => string
  days: (count: number) => string
}

const pt: Words = {
  named: 'indicada no pagamento',
  amount: 'mesmo valor',
  dayAmount: 'mesmo valor pedido naquele dia',
  otherAmount: 'outro valor',
  taxId: (kind) => `mesmo ${kind}`,
  partOfTaxId: (kind) => `mesmos dígitos visíveis do ${kind}`,
  name: 'nome parecido',
  locale: 'pt-BR',
  soon: 'menos de 1 min depois',
  minutes: (count) => `${count} min depois`,
  hours: (count) => `${count} h depois`,
  days: (count) => (count === 1 ? '1 dia depois' : `${count} dias depois`),
}

const en: Words = {
  named: 'named by the payment',
  amount: 'same amount',
  dayAmount: 'same amount as was asked on that day',
  otherAmount: 'another amount',
  taxId: (kind) => `same ${kind}`,
  partOfTaxId: (kind) => `same visible digits of the ${kind}`,
  name: 'similar name',
  locale: 'en',
  soon: 'less than 1 min later',
  minutes: (count) => `${count} min later`,
  hours: (count) => `${count} h later`,
  days: (count) => (count === 1 ? '1 day later' : `${count} days later`),
}

const WORDS: Record<Language, Words> = { pt, en }

const MINUTE_MS = 60_000
const HOUR_MIN = 60
const DAY_MIN = 24 * HOUR_MIN

/** Why a charge is suggested: “same amount and same CPF, 4 min later”. */
export function reasonOf(
  { signs, charge, asked, age_ms, payerKind }: Omit<Suggestion, 'isProbable'>,
  language: Language,
): string {
  const words = WORDS[language]
  const kind = (payerKind ?? 'cpf').toUpperCase()
  const texts: Partial<Record<Sign, string>> = {
    named: words.named,
    amount: asked === charge.amount ? words.amount : words.dayAmount,
    taxId: words.taxId(kind),
    partOfTaxId: words.partOfTaxId(kind),
    // Who has the same tax id has the same name.
    ...(signs.includes('taxId') ? {} : { name: words.name }),
  }
  const parts = signs.flatMap((sign) => texts[sign] ?? [])
  if (!signs.includes('amount')) parts.push(words.otherAmount)
  return `${new Intl.ListFormat(words.locale).format(parts)}, ${laterText(words, age_ms)}`
}

function laterText({ soon, minutes, hours, days }: Words, age_ms: number): string {
  const age_min = Math.floor(age_ms / MINUTE_MS)
  if (age_min < 1) return soon
  if (age_min < HOUR_MIN) return minutes(age_min)
  return age_min < DAY_MIN
    ? hours(Math.floor(age_min / HOUR_MIN))
    : days(Math.floor(age_min / DAY_MIN))
}
