import type { ChargeStatus, PaymentStatus } from '../../core/charges/rules.ts'
import type { Recurrence } from '../../core/recurrences/rules.ts'
import type { SubscriptionWord } from '../../core/recurrences/texts.ts'
import { subscriptionWord } from '../../core/recurrences/words.ts'
import type { Language } from '../../lib/language.ts'
import type { Html } from '../html.ts'
import { pill, type Tone } from './parts.ts'

type ChargeWord = 'open' | 'paid' | 'refunded' | 'partly' | 'expired' | 'canceled'

const CHARGE_WORDS: Record<Language, Record<ChargeWord, string>> = {
  pt: {
    open: 'Em aberto',
    paid: 'Paga',
    refunded: 'Devolvida',
    partly: 'Devolvida em parte',
    expired: 'Expirada',
    canceled: 'Cancelada',
  },
  en: {
    open: 'Open',
    paid: 'Paid',
    refunded: 'Refunded',
    partly: 'Partly refunded',
    expired: 'Expired',
    canceled: 'Canceled',
  },
}

const CHARGE_TONES: Record<ChargeWord, Tone> = {
  open: 'warn',
  paid: 'good',
  refunded: 'calm',
  partly: 'good',
  expired: 'calm',
  canceled: 'calm',
}

type ShownCharge = { status: ChargeStatus; paymentStatus: PaymentStatus; refunded?: number }

function wordOf({ status, paymentStatus, refunded = 0 }: ShownCharge): ChargeWord {
  if (status === 'OPEN') return 'open'
  if (status !== 'COMPLETED') return status === 'EXPIRED' ? 'expired' : 'canceled'
  if (paymentStatus === 'REFUNDED') return 'refunded'
  return refunded > 0 ? 'partly' : 'paid'
}

/** The state of a charge in a word. */
export function chargePill(charge: ShownCharge, language: Language): Html {
  const word = wordOf(charge)
  return pill(CHARGE_WORDS[language][word], CHARGE_TONES[word])
}

export const SUBSCRIPTION_WORDS: Record<Language, Record<SubscriptionWord, string>> = {
  pt: {
    link: 'Link aberto',
    closed: 'Link encerrado',
    created: 'Aguardando autorização',
    approved: 'Ativa',
    rejected: 'Recusada',
    expired: 'Expirada',
    canceled: 'Cancelada',
  },
  en: {
    link: 'Open link',
    closed: 'Closed link',
    created: 'Waiting for authorization',
    approved: 'Active',
    rejected: 'Rejected',
    expired: 'Expired',
    canceled: 'Canceled',
  },
}

const SUBSCRIPTION_TONES: Record<SubscriptionWord, Tone> = {
  link: 'good',
  closed: 'calm',
  created: 'warn',
  approved: 'good',
  rejected: 'bad',
  expired: 'calm',
  canceled: 'calm',
}

export function subscriptionPill(
  recurrence: Pick<Recurrence, 'isTemplate' | 'status' | 'authStatus'>,
  language: Language,
): Html {
  const word = subscriptionWord(recurrence)
  return pill(SUBSCRIPTION_WORDS[language][word], SUBSCRIPTION_TONES[word])
}
