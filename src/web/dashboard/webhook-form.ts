import { EVENT_TYPES, type EventType } from '../../core/events.ts'
import type { Problem } from '../../lib/problems.ts'
import { boxesOf, fieldsOf } from '../forms.ts'
import { type Html, html } from '../html.ts'
import { EVENT_WORDS } from './event-texts.ts'
import type { FormFault } from './form-faults.ts'
import type { Visit } from './visit.ts'
import { WEBHOOKS } from './webhooks-texts.ts'

/** What a person types of a webhook. */
export type WebhookFields = { name: string; url: string; events: EventType[] }

export const EMPTY: WebhookFields = {
  name: '',
  url: '',
  events: ['charge.paid', 'charge.expired', 'charge.refunded'],
}

export const readWebhook = ({ form }: Visit): WebhookFields => ({
  name: (form.name ?? '').trim(),
  url: (form.url ?? '').trim(),
  events: EVENT_TYPES.filter((type) => form[type] !== undefined),
})

/** Why an address is refused, by the words of the rule that it breaks. */
function urlFault({ items }: Problem, visit: Visit): string {
  const { urlWrong } = WEBHOOKS[visit.language]
  const rule = items.find(({ description }) => description.startsWith('url:'))?.description ?? ''
  if (/user or a password/.test(rule)) return urlWrong.credentials
  if (/private or reserved/.test(rule)) return urlWrong.private
  if (/public name/.test(rule)) return urlWrong.name
  return /must start with https:\/\/$/.test(rule) ? urlWrong.https : urlWrong.form
}

/** The fields of a new webhook, or of one that is changed. */
export function webhookFields(visit: Visit, given: WebhookFields, fault: FormFault | null): Html {
  const { language } = visit
  const texts = WEBHOOKS[language]
  const isLocal = visit.app.config.local
  const wrong = (name: string, text: string) => (fault?.isWrong(name) ? text : null)
  const fields = fieldsOf([
    {
      name: 'name',
      label: texts.name,
      value: given.name,
      fault: wrong('name', texts.nameWrong),
      wrong: texts.nameWrong,
      hint: texts.nameHint,
      autocomplete: 'off',
    },
    {
      name: 'url',
      label: texts.url,
      value: given.url,
      fault: fault && wrong('url', urlFault(fault.problem, visit)),
      wrong: texts.urlWrong.form,
      hint: isLocal ? texts.urlHint.local : texts.urlHint.public,
      autocomplete: 'off',
      maxlength: 2048,
    },
  ])
  const boxes = EVENT_TYPES.map((type) => ({
    name: type,
    label: EVENT_WORDS[language][type],
    note: type,
    isChecked: given.events.includes(type),
  }))
  const events = boxesOf({
    name: 'events',
    title: texts.events,
    hint: texts.eventsHint,
    fault: wrong('events', texts.eventsWrong),
    boxes,
  })
  return html`${fields}${events}`
}
