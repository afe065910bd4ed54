import type { FastifyReply } from 'fastify'
import type { Static } from 'typebox'
import { FIRST_TEXTS, type ReminderTexts } from '../../core/letters/reminders.ts'
import { letterOf } from '../../core/reminders/letter.ts'
import {
  CHANNELS,
  FIRST_DAY,
  LAST_DAY,
  MAX_RULES,
  MAX_SUBJECT,
  MAX_TEXT,
  SUGGESTED_DAYS,
  sortOf,
} from '../../core/reminders/rules.ts'
import type { RemindersView } from '../../core/reminders/view.ts'
import type { Language } from '../../lib/language.ts'
import type { Letter } from '../../lib/mailer.ts'
import { toCents } from '../../lib/money.ts'
import { problem } from '../../lib/problems.ts'
import { addDays, localDateOf } from '../../pix/local-time.ts'
import { checkbox, fieldsOf } from '../forms.ts'
import { type Html, html } from '../html.ts'
import { sendContent } from '../letter-content.ts'
import type { Form } from '../site.ts'
import { backLink, type FormFault, tryForm } from './form-parts.ts'
import { card, nothing, pill, table } from './parts.ts'
import { makeLink } from './record-pages.ts'
import { REMINDERS } from './reminders-texts.ts'
import { sendSettings } from './settings.ts'
import type { DashboardRoute, Visit } from './visit.ts'

const PATH = '/settings/reminders'
const LANGUAGES: readonly Language[] = ['pt', 'en']

type Reminders = Static<typeof RemindersView>
/** A rule as the API shows it. Without a day it is that of failed charges. */
type Rule = Reminders['failedCharges'] & { day?: number }

/** What names a rule in addresses: its day, `failed` or `new`. */
const keyOf = ({ day }: Rule): string => (day === undefined ? 'failed' : String(day))

const read = async (visit: Visit): Promise<Reminders> =>
  (await visit.operate<Reminders>('getReminders')).data

async function list(visit: Visit): Promise<FastifyReply> {
  const { language, url } = visit
  const texts = REMINDERS[language]
  const { rules, failedCharges } = await read(visit)
  const mayChange = visit.can('company:write')
  const columns = [
    {
      title: texts.when,
      kind: 'main' as const,
      of: (rule: Rule) =>
        html`<a href="${url(`${PATH}/rule?rule=${keyOf(rule)}`)}">${whenOf(rule, language)}</a>`,
    },
    { title: texts.channel, of: ({ channel }: Rule) => texts.channels[channel] },
    {
      title: texts.state,
      of: ({ enabled }: Rule) => pill(enabled ? texts.on : texts.off, enabled ? 'good' : 'calm'),
    },
  ]
  const suggestion =
    rules.length === 0 &&
    mayChange &&
    visit.formOf(
      url(`${PATH}/suggestion`),
      html`<p class="soft">${texts.suggestion}</p><button class="button quiet slim">${texts.suggest}</button>`,
    )
  const due = html`<p class="soft">${texts.intro}</p>${table(texts.due, columns, rules, nothing(language, texts.none))}${suggestion}`
  const failed = html`<p class="soft">${texts.failedIntro}</p>${table(texts.failed, columns, [failedCharges])}`
  return sendSettings(visit, '/reminders', {
    title: texts.title,
    actions:
      mayChange && rules.length < MAX_RULES && makeLink(visit, `${PATH}/rule?rule=new`, texts.make),
    done: texts.done,
    body: html`${card(texts.due, due)}${card(texts.failed, failed)}`,
  })
}

const whenOf = ({ day }: Rule, language: Language): string => {
  const { failedRule, day: dayText } = REMINDERS[language]
  return day === undefined ? failedRule : dayText(day)
}

/** The rule that an address names, and where it is in the list. */
async function findRule(visit: Visit, key = 'new'): Promise<{ all: Reminders; rule: Rule | null }> {
  const all = await read(visit)
  if (key === 'new') return { all, rule: null }
  const rule = key === 'failed' ? all.failedCharges : all.rules.find(({ day }) => `${day}` === key)
  if (!rule) throw problem('route_not_found')
  return { all, rule }
}

const fieldName = (language: Language, part: keyof ReminderTexts) => `${language}-${part}`
/** A preview shows something whatever a form says. */
const aboutOf = (day: number | undefined) =>
  day === undefined
    ? { occasion: 'COLLECTION_FAILED' as const, day: 0 }
    : { occasion: 'DUE_DATE' as const, day: Math.min(Math.max(day, FIRST_DAY), LAST_DAY) || 0 }

/** What the form has at first: our own texts where the company has written none. */
function typedOf(rule: Rule): Form {
  const { day, enabled, channel, texts = {} } = rule
  const typed: Form = { day: String(day ?? ''), channel, ...(enabled && { enabled: 'yes' }) }
  for (const language of LANGUAGES) {
    const { subject, text } = texts[language] ?? FIRST_TEXTS[language][sortOf(aboutOf(day))]
    typed[fieldName(language, 'subject')] = subject
    typed[fieldName(language, 'text')] = text
  }
  return typed
}

/** The rule that a form says. Texts that are empty, or ours, are not kept: ours may get better. */
function ruleOf(form: Form, key: string): Rule {
  const day = key === 'failed' ? undefined : Number(form.day || 'none')
  const ours = (language: Language) => FIRST_TEXTS[language][sortOf(aboutOf(day))]
  const all = LANGUAGES.map((language): [Language, ReminderTexts] => {
    const part = (name: keyof ReminderTexts) =>
      (form[fieldName(language, name)] ?? '').replaceAll('\r\n', '\n').trim()
    const [subject, text] = [part('subject'), part('text')]
    const { subject: ourSubject, text: ourText } = ours(language)
    return [language, { subject: subject || ourSubject, text: text || ourText }]
  })
  const own = all.filter(([language, words]) => !isOurs(language, words))
  return {
    ...(day === undefined ? {} : { day }),
    enabled: form.enabled !== undefined,
    channel: form.channel as Rule['channel'],
    ...(own.length > 0 && { texts: Object.fromEntries(own) }),
  }
}

/** Also if they are those of another day, because the day was changed and the words were not. */
const isOurs = (language: Language, { subject, text }: ReminderTexts): boolean =>
  Object.values(FIRST_TEXTS[language]).some(
    (ours) => ours.subject === subject && ours.text === text,
  )

async function showRule(visit: Visit): Promise<FastifyReply> {
  const key = visit.query.rule ?? 'new'
  const { rule } = await findRule(visit, key)
  const first: Rule = rule ?? { day: SUGGESTED_DAYS[0]!, enabled: true, channel: 'EMAIL' }
  return sendRule(visit, key, typedOf(first), first, null)
}

function sendRule(
  visit: Visit,
  key: string,
  typed: Form,
  rule: Rule,
  fault: FormFault | null,
): FastifyReply {
  const { language } = visit
  const texts = REMINDERS[language]
  const form = visit.can('company:write') && card(null, ruleForm(visit, key, typed, fault))
  const title = key === 'new' ? texts.make : whenOf(rule, language)
  return sendSettings(visit, '/reminders', {
    title,
    back: backLink(visit, PATH, texts.title),
    fault,
    body: html`<div class="columns settings">${form}<div class="stack">${previews(visit, key, rule)}</div></div>`,
  })
}

function ruleForm(visit: Visit, key: string, typed: Form, fault: FormFault | null): Html {
  const texts = REMINDERS[visit.language]
  const wrong = (name: string, text: string) => ({
    fault: fault?.isWrong(name) ? text : null,
    wrong: text,
  })
  const days = Array.from({ length: LAST_DAY - FIRST_DAY + 1 }, (_, i) => FIRST_DAY + i)
  const when =
    key === 'failed'
      ? []
      : [
          {
            name: 'day',
            label: texts.when,
            value: typed.day ?? '',
            options: days.map((day) => ({ value: String(day), label: texts.day(day) })),
            ...wrong('day', texts.dayTaken),
          },
        ]
  const channel = {
    name: 'channel',
    label: texts.channel,
    value: typed.channel ?? '',
    hint: texts.channelHint,
    options: CHANNELS.map((value) => ({ value, label: texts.channels[value] })),
    ...wrong('channel', texts.channel),
  }
  const words = LANGUAGES.flatMap((language) => [
    {
      name: fieldName(language, 'subject'),
      label: texts.subject(texts.languages[language]),
      value: typed[fieldName(language, 'subject')] ?? '',
      maxlength: MAX_SUBJECT,
      isFilledIn: true,
      ...wrong(`texts.${language}.subject`, texts.wrongSubject),
    },
    {
      name: fieldName(language, 'text'),
      label: texts.text(texts.languages[language]),
      value: typed[fieldName(language, 'text')] ?? '',
      maxlength: MAX_TEXT,
      rows: 6,
      isFilledIn: true,
      hint: texts.placeholders,
      ...wrong(`texts.${language}.text`, texts.wrongText),
    },
  ])
  const isOn = typed.enabled !== undefined
  const enabled = checkbox({ name: 'enabled', label: texts.enabled, isOn })
  const remove = !['new', 'failed'].includes(key)
  return visit.formOf(
    visit.url(`${PATH}/rule?rule=${key}`),
    html`${fieldsOf([...when, channel])}${enabled}${fieldsOf(words)}
<div class="actions"><button class="button slim" name="act" value="save">${texts.save}</button><button class="button quiet slim" name="act" value="preview">${texts.preview}</button>${remove && html`<button class="button quiet danger slim" name="act" value="remove">${texts.remove}</button>`}</div>`,
    { kind: 'card-form' },
  )
}

/** The letters of a rule with invented data, in both languages. */
function previews(visit: Visit, key: string, rule: Rule): Html[] {
  const texts = REMINDERS[visit.language]
  const isSaved = visit.request.method === 'GET' && key !== 'new'
  return LANGUAGES.map((language) => {
    const { subject, text } = sampleOf(visit, rule, language)
    const address = visit.url(`${PATH}/letter?rule=${key}&words=${language}`)
    const link =
      isSaved &&
      html`<p class="small"><a href="${address}" target="_blank" rel="noopener">${texts.asMail}</a></p>`
    return card(
      texts.previewIn(texts.languages[language]),
      html`<p><strong>${subject}</strong></p><pre class="letter-text" tabindex="0">${text}</pre>${link}`,
    )
  })
}

const SAMPLE = { amount: 15_000, fine: 300, toDueDay: 3 }

function sampleOf({ app, company }: Visit, rule: Rule, language: Language): Letter {
  const about = aboutOf(rule.day)
  const today = localDateOf(app.clock.now())
  const fine = about.day > 0 ? SAMPLE.fine : 0
  const none = toCents(0)
  const original = toCents(SAMPLE.amount)
  const total = toCents(SAMPLE.amount + fine)
  return letterOf(company, { ...about, texts: rule.texts ?? {} }, language, {
    to: company.email,
    payerName: 'Maria da Silva',
    amounts: { original, total, fine: toCents(fine), interest: none, discount: none, rebate: none },
    dueDate: addDays(today, -about.day),
    description: null,
    devMode: false,
    url: `${app.publicUrl}/pay/…`,
    unsubscribeUrl: `${app.publicUrl}/reminders/…`,
    nextTry: addDays(today, SAMPLE.toDueDay),
  })
}

async function showLetter(visit: Visit): Promise<FastifyReply> {
  const { rule } = await findRule(visit, visit.query.rule ?? 'failed')
  const language = visit.query.words === 'en' ? 'en' : 'pt'
  if (!rule) throw problem('route_not_found')
  return sendContent(visit.reply, sampleOf(visit, rule, language).html)
}

async function saveRule(visit: Visit): Promise<FastifyReply> {
  const { form, query } = visit
  const key = query.rule ?? 'new'
  const { all, rule: before } = await findRule(visit, key)
  const rule = ruleOf(form, key)
  if (form.act === 'preview') return sendRule(visit, key, form, rule, null)
  const isRemoved = form.act === 'remove'
  const others = all.rules.filter(({ day }) => day !== before?.day)
  const { day, ...how } = rule
  // The changed rule is first, so that faults are those of its fields.
  const rules = isRemoved ? others : [{ day: day!, ...how }, ...others]
  const body = key === 'failed' ? { failedCharges: how } : { rules }
  const { fault } = await tryForm(() => visit.operate('changeReminders', { body, once: form.once }))
  if (!fault) return visit.redirect(PATH, isRemoved ? 'removed' : 'saved')
  return sendRule(visit, key, form, before ?? rule, ofRule(fault, key))
}

/** The faults by the fields of the form. Of two rules with one day, the second is named. */
const ofRule = (fault: FormFault, key: string): FormFault => ({
  ...fault,
  isWrong: (name) =>
    fault.isWrong(key === 'failed' ? `failedCharges.${name}` : `rules[0].${name}`) ||
    (name === 'day' &&
      fault.problem.items.some(({ description }) => /^rules\[\d+\]\.day: /.test(description))),
})

async function suggest(visit: Visit): Promise<FastifyReply> {
  const { rules } = await read(visit)
  if (rules.length > 0) return visit.redirect(PATH)
  const suggested = SUGGESTED_DAYS.map((day) => ({ day, enabled: false, channel: 'EMAIL' }))
  const body = { rules: suggested }
  await visit.operate('changeReminders', { body, once: visit.form.once })
  return visit.redirect(PATH, 'suggested')
}

export const remindersRoutes: DashboardRoute[] = [
  { method: 'GET', path: PATH, needs: 'company:read', handle: list },
  { method: 'GET', path: `${PATH}/rule`, needs: 'company:read', handle: showRule },
  { method: 'POST', path: `${PATH}/rule`, needs: 'company:write', handle: saveRule },
  { method: 'POST', path: `${PATH}/suggestion`, needs: 'company:write', handle: suggest },
  { method: 'GET', path: `${PATH}/letter`, needs: 'company:read', handle: showLetter },
]
