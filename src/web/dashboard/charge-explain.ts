import { find as findBilling } from '../../core/billings/store.ts'
import { type Explained, explain } from '../../core/charge-history/explain.ts'
import type { History } from '../../core/charge-history/history.ts'
import { checkoutUrl } from '../../core/charges/addresses.ts'
import { findOlder, findRenewal } from '../../core/charges/renewals.ts'
import type { Charge } from '../../core/charges/rules.ts'
import { openPerson } from '../../core/customers/sealing.ts'
import type { Payment } from '../../core/payments/rules.ts'
import { listUnmatchedOf } from '../../core/payments/store.ts'
import type { Refund } from '../../core/refunds/rules.ts'
import { listOfPayments } from '../../core/refunds/store.ts'
import type { Language } from '../../lib/language.ts'
import { type Html, html } from '../html.ts'
import { icon } from '../layout.ts'
import { isShared } from './charge-share.ts'
import { card } from './parts.ts'
import { whatsAppUrl } from './share.ts'
import type { Visit } from './visit.ts'

/** What happened in plain words, to copy or to send, in the language of the company's payers. */
export async function explainCard(visit: Visit, history: History): Promise<Html> {
  const { app, company, language, can } = visit
  const { charge } = history
  const texts = EXPLAIN_CARD[language]
  const unmatched = [...(await olderPayments(visit, charge)), ...history.unmatched]
  const text = explain(
    {
      company,
      charge,
      unmatched,
      refunds: [...history.refunds, ...(await refundsOfPayments(visit, unmatched))],
      disputes: history.disputes,
      collection:
        charge.recurrenceId === null ? null : await findBilling(app.db, company.id, charge.id),
      renewed: await renewedOf(visit, charge),
      link: isShared(charge) ? checkoutUrl(app, charge) : null,
      now: app.clock.now(),
    },
    company.language,
  )
  const { payer } = charge
  const phone =
    payer && can('payments:write') ? openPerson(app.vault, company.id, payer).phone : undefined
  const content = html`<details class="explain"><summary>${texts.title}</summary><p class="hint">${texts.hint}</p>
<pre class="explain-text" tabindex="0" aria-label="${texts.title}">${text}</pre>
<div class="actions"><button type="button" class="button slim js" data-copy="${text}" data-copied="${texts.copied}">${icon('copy')}<span aria-live="polite"><span>${texts.copy}</span></span></button><a class="button quiet slim" href="${whatsAppUrl(text, phone)}" target="_blank" rel="noopener noreferrer">${icon('chat')}<span>WhatsApp</span></a></div></details>`
  return card(null, content)
}

/** The charge that the payer of an expired one has got in its place. */
async function renewedOf({ app, company }: Visit, charge: Charge): Promise<Explained['renewed']> {
  if (charge.status !== 'EXPIRED') return null
  const { current } = await findRenewal(app, company, charge)
  return current.id === charge.id
    ? null
    : { status: current.status, link: checkoutUrl(app, current) }
}

/** So many payments of each code that the payer had before are told of. */
const MAX_OLDER = 10

/** What was paid by the codes that the payer of an unpaid charge had before. */
async function olderPayments({ app }: Visit, charge: Charge): Promise<Payment[]> {
  if (charge.status === 'COMPLETED' || charge.status === 'CANCELED') return []
  const older = await findOlder(app.db, charge)
  const found = older
    .toReversed()
    .map((one) => listUnmatchedOf(app.db, { ...one, endToEndId: null }, MAX_OLDER))
  return (await Promise.all(found)).flat()
}

/** What went back of payments that are of no charge. */
async function refundsOfPayments({ app, company }: Visit, unmatched: Payment[]): Promise<Refund[]> {
  const [first] = unmatched
  if (!first) return []
  // All payments that name one charge are of one source.
  const ids = unmatched.map(({ endToEndId }) => endToEndId)
  const found = await listOfPayments(app.db, company.id, first.source, ids)
  return found.filter(({ chargeId }) => chargeId === null)
}

const pt = {
  title: 'Explicar ao pagador',
  hint: 'Um texto para copiar e responder a quem pagou. Não tem dados internos.',
  copy: 'Copiar texto',
  copied: 'Texto copiado',
}

const en: typeof pt = {
  title: 'Explain to the payer',
  hint: 'A text to copy and send to whoever paid. It has nothing internal.',
  copy: 'Copy text',
  copied: 'Text copied',
}

const EXPLAIN_CARD: Record<Language, typeof pt> = { pt, en }
