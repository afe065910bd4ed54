import Type, { type Static } from 'typebox'
import { PLACEHOLDERS } from '../letters/reminders.ts'
import type { RuleChange } from './commands.ts'
import {
  CHANNELS,
  FIRST_DAY,
  LAST_DAY,
  MAX_RULES,
  MAX_SUBJECT,
  MAX_TEXT,
  type ReminderRule,
} from './rules.ts'

const KNOWN = PLACEHOLDERS.map((name) => `{${name}}`).join(', ')

const Texts = Type.Object({
  subject: Type.String({
    minLength: 1,
    maxLength: MAX_SUBJECT,
    pattern: '\\S',
    description: `The subject. It may have ${KNOWN}, except {link}`,
  }),
  text: Type.String({
    minLength: 1,
    maxLength: MAX_TEXT,
    pattern: '\\S',
    description: `Plain text. Each line is a paragraph. It may have ${KNOWN}`,
  }),
})

const HOW = {
  enabled: Type.Boolean({ description: 'Whether payers are reminded' }),
  channel: Type.Enum(CHANNELS, {
    description:
      'EMAIL: the payer gets a mail, and you the event charge.reminder. WEBHOOK: only the event, for messages of your own',
  }),
  texts: Type.Optional(
    Type.Object(
      { pt: Type.Optional(Texts), en: Type.Optional(Texts) },
      { description: 'Your own words by language; without them the mail has ours' },
    ),
  ),
}

const Rule = Type.Object({
  day: Type.Integer({
    minimum: FIRST_DAY,
    maximum: LAST_DAY,
    description:
      'Counted from the due date: -3 is three days before it, 0 the day itself, 5 five days after it',
  }),
  ...HOW,
})
const FailedRule = Type.Object(HOW)

export const RemindersView = Type.Object({
  rules: Type.Array(Rule, { description: 'For charges with a due date, the earliest day first' }),
  failedCharges: Type.Object(HOW, {
    description:
      'For charges of subscriptions: each debit that has failed, and the end of all attempts',
  }),
})

export const RemindersChange = Type.Object({
  rules: Type.Optional(
    Type.Array(Rule, {
      maxItems: MAX_RULES,
      description: 'All rules for charges with a due date. They replace those that are there',
    }),
  ),
  failedCharges: Type.Optional(FailedRule),
})
type Body = Static<typeof RemindersChange>

type Shown = Static<typeof FailedRule>
const showHow = ({ enabled, channel, texts }: Omit<ReminderRule, 'companyId'>): Shown => ({
  enabled,
  channel,
  ...(Object.keys(texts).length > 0 ? { texts } : {}),
})

/** What a company has that never said anything of failed charges. */
const OFF = { occasion: 'COLLECTION_FAILED', day: 0, enabled: false, channel: 'EMAIL' } as const

export function showReminders(rules: ReminderRule[]): Static<typeof RemindersView> {
  const failed = rules.find(({ occasion }) => occasion === 'COLLECTION_FAILED')
  return {
    rules: rules
      .filter(({ occasion }) => occasion === 'DUE_DATE')
      .map((rule) => ({ day: rule.day, ...showHow(rule) })),
    failedCharges: showHow(failed ?? { ...OFF, texts: {} }),
  }
}

/** Days that two rules have, in sentences. */
export function dayFaults({ rules }: { rules?: unknown }): string[] {
  // Of a longer list its length is the fault, and to compare all with all would take long.
  const listed = Array.isArray(rules) && rules.length <= MAX_RULES ? rules : []
  const days = listed.map((rule) => (rule as Body)?.['day' as never])
  return days.flatMap((day, i) =>
    Number.isInteger(day) && days.indexOf(day) < i
      ? `rules[${i}].day: rules[${days.indexOf(day)}] has the day ${day} already; each day has one`
      : [],
  )
}

/** The texts of a body with their paths, whose placeholders are checked. */
export const textsOf = ({ rules = [], failedCharges }: Body) => [
  ...rules.map(({ texts = {} }, i) => ({ path: `rules[${i}]`, texts: given(texts) })),
  ...(failedCharges ? [{ path: 'failedCharges', texts: given(failedCharges.texts ?? {}) }] : []),
]

const given = (texts: NonNullable<Shown['texts']>): ReminderRule['texts'] => ({
  ...(texts.pt && { pt: texts.pt }),
  ...(texts.en && { en: texts.en }),
})

export const readReminders = ({ rules, failedCharges }: Body): RuleChange => ({
  ...(rules && {
    DUE_DATE: rules.map(({ texts = {}, ...rule }) => ({ ...rule, texts: given(texts) })),
  }),
  ...(failedCharges && {
    COLLECTION_FAILED: [{ ...failedCharges, day: 0, texts: given(failedCharges.texts ?? {}) }],
  }),
})
