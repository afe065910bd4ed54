import type { Uuid } from '../../lib/ids.ts'
import type { Language } from '../../lib/language.ts'
import { type ErrorItem, Problem } from '../../lib/problems.ts'
import type { LocalDate } from '../../pix/local-time.ts'
import { placeholderFaults } from '../letters/placeholders.ts'
import { PLACEHOLDERS, type ReminderSort, type ReminderTexts } from '../letters/reminders.ts'

/** The due date of a charge, or a charge of a subscription that was not collected. */
export const OCCASIONS = ['DUE_DATE', 'COLLECTION_FAILED'] as const
export type Occasion = (typeof OCCASIONS)[number]

/** EMAIL: an event and a mail to the payer. WEBHOOK: the event alone. */
export const CHANNELS = ['EMAIL', 'WEBHOOK'] as const
export type Channel = (typeof CHANNELS)[number]

/** When a company reminds its payers, and in which words. */
export type ReminderRule = {
  companyId: Uuid
  occasion: Occasion
  /** From the due date; below zero, before it. 0 if a collection has failed. */
  day: number
  enabled: boolean
  channel: Channel
  /** What the company has written itself, by language. */
  texts: Partial<Record<Language, ReminderTexts>>
}

export const [FIRST_DAY, LAST_DAY] = [-30, 30]
export const MAX_RULES = 10
export const MAX_SUBJECT = 150
export const MAX_TEXT = 2000

/** What a company without rules is offered. */
export const SUGGESTED_DAYS = [-3, 0, 1, 5]

/** Which text a rule begins with. */
export const sortOf = ({ occasion, day }: Pick<ReminderRule, 'occasion' | 'day'>): ReminderSort => {
  if (occasion === 'COLLECTION_FAILED') return 'failed'
  return day < 0 ? 'before' : day === 0 ? 'today' : 'after'
}

/** Why there is no mail: the rule wants none, or the payer has no address, or wants none. */
export const UNMAILED = ['CHANNEL', 'NO_ADDRESS', 'UNSUBSCRIBED'] as const
export type Unmailed = (typeof UNMAILED)[number]

/** What names a reminder of a charge: each is said once. */
export type ReminderKey = {
  companyId: Uuid
  chargeId: Uuid
  occasion: Occasion
  /** The day of its rule, or which attempt has failed; 0: all of them. */
  number: number
}

export type Reminder = ReminderKey & {
  saidAt: Date
  /** Null if there is none, for the reason that follows. */
  mailId: Uuid | null
  unmailed: Unmailed | null
}

/** The days on which charges with a due date have a reminder. */
export const daysOf = (rules: ReminderRule[]): number[] =>
  rules
    .filter(({ occasion, enabled }) => occasion === 'DUE_DATE' && enabled)
    .map(({ day }) => day)
    .sort((a, b) => a - b)

/** Of a debit that has failed: the day of the next one. Null: there is none. */
export type FailedAttempt = { number: number; nextTry: LocalDate | null }

type Named = { path: string; texts: ReminderRule['texts'] }

/** Throws if a text has a placeholder that no letter knows, or the link where it cannot be. */
export function requirePlaceholders(rules: Named[]): void {
  const faults = rules.flatMap(({ path, texts }) =>
    Object.entries(texts).flatMap(([language, { subject, text }]) => [
      ...subjectFaults(`${path}.texts.${language}.subject`, subject),
      ...placeholderFaults(`${path}.texts.${language}.text`, text, PLACEHOLDERS),
    ]),
  )
  const [first, ...others] = faults
  if (first) throw new Problem([first, ...others])
}

const subjectFaults = (path: string, text: string): ErrorItem[] => [
  ...placeholderFaults(path, text, PLACEHOLDERS),
  ...(text.includes('{link}')
    ? [
        {
          code: 'unknown_placeholder' as const,
          description: `${path}: {link} cannot be in a subject; put it into the text`,
        },
      ]
    : []),
]
