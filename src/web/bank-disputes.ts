import type { Company } from '../core/companies/rules.ts'
import { type Dispute, isOpen } from '../core/disputes/rules.ts'
import { list } from '../core/disputes/store.ts'
import type { FullApp } from '../core/full-app.ts'
import {
  decideAtSimulator,
  openAtSimulator,
  recordOwnDispute,
} from '../core/simulated-bank/disputes.ts'
import type { Transfer } from '../core/simulated-bank/records.ts'
import { fromPublic, newId, toPublic } from '../lib/ids.ts'
import type { Language } from '../lib/language.ts'
import { problem } from '../lib/problems.ts'
import { languageField } from './bank-view.ts'
import { type Html, html } from './html.ts'
import type { Form } from './site.ts'

const TEXTS = {
  pt: {
    open: 'Contestar',
    won: 'Dar razão à loja',
    lost: 'Dar razão ao pagador',
    canceled: 'Retirar',
  },
  en: {
    open: 'Dispute',
    won: 'Decide for the store',
    lost: 'Decide for the payer',
    canceled: 'Withdraw',
  },
} satisfies Record<Language, object>

const DECISIONS = ['won', 'lost', 'canceled'] as const

/** The newest disputes of the local sandbox company. */
export const newestDisputes = (app: FullApp, { id }: Company, limit: number): Promise<Dispute[]> =>
  list(app.db, id, { limit, after: null, status: null, chargeId: null })

/** What the payer of a payment and the bank can do about it. */
export function disputeForm(
  { direction, endToEndId }: Transfer,
  disputes: Dispute[],
  language: Language,
): Html | false {
  if (direction !== 'received') return false
  const texts = TEXTS[language]
  const dispute = disputes.find((one) => one.endToEndId === endToEndId && one.bankId !== null)
  const acts = dispute ? (isOpen(dispute) ? DECISIONS : []) : (['open'] as const)
  if (acts.length === 0) return false
  const subject = dispute ? toPublic('dispute', dispute.id) : endToEndId
  return html`<form class="steps-of-time" action="/bank/dispute" method="post">
${languageField(language)}<input type="hidden" name="subject" value="${subject}">
${acts.map((act) => html`<button class="button quiet slim" name="act" value="${act}">${texts[act]}</button>`)}
</form>`
}

/** Opens a dispute of a payment, or decides one. */
export async function actOnDispute(
  app: FullApp,
  company: Company,
  { subject = '', act = '' }: Form,
): Promise<void> {
  const decision = DECISIONS.find((one) => one === act)
  const done = decision
    ? await decideAtSimulator(app, company, idOf(subject), decision)
    : { told: await openAtSimulator(app, company, subject, {}, `page_${newId()}`) }
  await app.db.transaction((tx) => recordOwnDispute(tx, app, company, done))
}

function idOf(subject: string): string {
  const id = fromPublic('dispute', subject)
  if (!id) throw problem('dispute_not_found')
  return id
}
