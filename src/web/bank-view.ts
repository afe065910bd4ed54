import type { Language } from '../lib/language.ts'
import { formatReais, toCents } from '../lib/money.ts'
import { writtenFields } from '../pix/brcode.ts'
import { formatMoment } from '../pix/local-time.ts'
import { receiverTaxId } from '../pix/tax-id.ts'
import type { AgreementContent, CodeContent, MadePayment, PaymentContent } from './bank-code.ts'
import { BANK } from './bank-texts.ts'
import { type Html, html, type Shown } from './html.ts'
import { icon, inLanguage } from './layout.ts'

/** What was typed into a form, and what is wrong with it. */
export type Entry = {
  code: string
  amount?: string
  /** Of a payment to the Pix key. */
  key?: { amount: string; name: string; taxId: string }
  fault?: { field: Field; text: string }
}
export type Field = 'code' | 'amount' | 'clock' | 'decide' | 'keyAmount' | 'keyTaxId'

const factList = (facts: [name: string, value: Shown][]): Html =>
  html`<dl class="facts">${facts.map(([name, value]) => html`<div><dt>${name}</dt><dd>${value}</dd></div>`)}</dl>`

export const faultLine = (field: Field, { fault }: Entry): Html | false =>
  fault?.field === field &&
  html`<p class="fault" id="${field}-fault" role="alert">${icon('alert')} ${fault.text}</p>`

/** Marks the field at fault for screen readers. */
const marks = (field: Field, entry: Entry): Html =>
  entry.fault?.field === field
    ? html` aria-invalid="true" aria-describedby="${field}-fault" autofocus`
    : html` aria-describedby="${field}-hint"`

export const languageField = (language: Language): Html =>
  html`<input type="hidden" name="lang" value="${language}">`

export function pasteForm(entry: Entry, language: Language): Html {
  const { label, hint, button } = BANK[language].paste
  return html`<form class="stack" action="/bank" method="get">
${languageField(language)}
<div class="field">
<label for="code">${label}</label>
<textarea id="code" name="code" class="code" rows="3" required spellcheck="false" autocomplete="off"${marks('code', entry)}>${entry.code}</textarea>
${faultLine('code', entry)}
<p class="hint" id="code-hint">${hint}</p>
</div>
<button class="button quiet">${button}</button>
</form>`
}

/** A Pix to the key, which names no charge, from whomever one likes. */
export function keyForm(entry: Entry, pixKey: string, language: Language): Html {
  const { key, names, pay } = BANK[language]
  const given = entry.key ?? { amount: '', name: '', taxId: '' }
  return html`<section class="card" aria-labelledby="key">
<h2 id="key">${key.title}</h2>
<p class="soft">${key.text}</p>
<p><code>${pixKey}</code></p>
<form class="stack" action="/bank/key" method="post">
${languageField(language)}
<div class="field"><label for="keyAmount">${pay.amount}</label>
<div class="money"><span aria-hidden="true">R$</span><input id="keyAmount" name="amount" inputmode="decimal" autocomplete="off" required value="${given.amount}"${marks('keyAmount', entry)}></div>
${faultLine('keyAmount', entry)}<p class="hint" id="keyAmount-hint">${key.amountHint}</p></div>
<div class="field"><label for="keyName">${key.name}</label><input id="keyName" name="name" maxlength="255" autocomplete="off" value="${given.name}"></div>
<div class="field"><label for="keyTaxId">${names.taxId}</label><input id="keyTaxId" name="taxId" maxlength="30" autocomplete="off" value="${given.taxId}"${marks('keyTaxId', entry)}>
${faultLine('keyTaxId', entry)}<p class="hint" id="keyTaxId-hint">${key.payerHint}</p></div>
<button class="button quiet">${key.button}</button>
</form></section>`
}

/** What the bank shows of a code, and what its customer can do. */
export function codeCard(
  seen: Exclude<CodeContent, { kind: 'fault' }>,
  entry: Entry,
  canMoveClock: boolean,
  language: Language,
): Html {
  return seen.kind === 'payment'
    ? paymentCard(seen, entry, canMoveClock, language)
    : agreementCard(seen, entry, language)
}

function receiverFacts({ company }: PaymentContent | AgreementContent, language: Language) {
  const { names, bank } = BANK[language]
  const facts: [string, Shown][] = [
    [names.receiver, html`<strong>${company.name}</strong>`],
    [names.taxId, receiverTaxId(company.taxId)],
    [names.city, company.city],
    [names.bank, bank],
  ]
  return facts
}

function paymentCard(
  seen: PaymentContent,
  entry: Entry,
  canMoveClock: boolean,
  language: Language,
): Html {
  const { names, kinds, pay, charge: states } = BANK[language]
  const { asked, charge, read, status } = seen
  const why = states[status]
  const facts: [string, Shown][] = [
    ...receiverFacts(seen, language),
    [names.kind, read.kind === 'static' ? kinds.static : kinds.dynamic],
    ...(charge
      ? [
          [
            status === 'EXPIRED' ? names.expiredAt : names.until,
            formatMoment(charge.expiresAt),
          ] as [string, Shown],
        ]
      : []),
    ...(charge?.description ? [[names.description, charge.description] as [string, Shown]] : []),
    [names.txid, html`<code>${asked.txid}</code>`],
  ]
  return html`<section class="card" aria-labelledby="seen" id="seen-card">
<h2 id="seen">${pay.title}</h2>
<p class="amount">${formatReais(toCents(asked.amount))}</p>
${factList(facts)}
${why && html`<div class="notice warn">${icon('alert')}<p>${why}</p></div>`}
${payForm(seen, entry, canMoveClock, language)}
${fieldTable(entry.code, language)}
</section>`
}

function payForm(
  { asked, charge, status }: PaymentContent,
  entry: Entry,
  canMoveClock: boolean,
  language: Language,
): Html {
  const { pay } = BANK[language]
  const first = { OPEN: pay.button, COMPLETED: pay.again, EXPIRED: pay.late, CANCELED: pay.again }
  const value = entry.amount ?? formatReais(toCents(asked.amount)).slice(3)
  const isOpen = status === 'OPEN'
  return html`<form class="stack" action="/bank/pay" method="post">
${languageField(language)}
<input type="hidden" name="code" value="${entry.code}">
<div class="field">
<label for="amount">${pay.amount}</label>
<div class="money"><span aria-hidden="true">R$</span><input id="amount" name="amount" inputmode="decimal" autocomplete="off" required value="${value}"${marks('amount', entry)}></div>
${faultLine('amount', entry)}
<p class="hint" id="amount-hint">${pay.amountHint}</p>
</div>
<button class="button" name="how" value="once">${first[status]}</button>
${isOpen && html`<button class="button quiet" name="how" value="twice">${pay.twice}</button>`}
${
  isOpen &&
  charge &&
  canMoveClock &&
  html`<button class="button quiet" name="how" value="late" aria-describedby="late-hint">${pay.waitAndPay}</button><p class="hint" id="late-hint">${pay.waitHint}</p>`
}
</form>`
}

function agreementCard(seen: AgreementContent, entry: Entry, language: Language): Html {
  const { names, kinds, agreement: states, frequency, funds, decide } = BANK[language]
  const { agreement, status, recurrence } = seen
  const facts: [string, Shown][] = [
    ...receiverFacts(seen, language),
    [names.kind, kinds.recurrence],
    ...(recurrence ? [[names.product, recurrence.productName] as [string, Shown]] : []),
    [names.frequency, frequency[agreement.frequency]],
    [names.state, html`<strong>${states[status]}</strong>`],
    ...(status === 'APPROVED'
      ? [[names.funds, agreement.funds ? funds.yes : funds.no] as [string, Shown]]
      : []),
    [names.agreement, html`<code>${agreement.externalId}</code>`],
  ]
  const button = (value: Decide, kind = 'quiet') =>
    html`<button class="button ${kind}" name="decide" value="${value}">${decide[value]}</button>`
  const buttons: Html[] =
    status === 'CREATED'
      ? [button('approve', ''), button('empty'), button('reject')]
      : status === 'APPROVED'
        ? [button(agreement.funds ? 'drain' : 'fill'), button('cancel')]
        : []
  return html`<section class="card" aria-labelledby="seen" id="seen-card">
<h2 id="seen">${kinds.recurrence}</h2>
<p class="amount">${formatReais(agreement.value)}</p>
${factList(facts)}
${faultLine('decide', entry)}
${
  buttons.length > 0 &&
  html`<form class="stack" action="/bank/decide" method="post">
${languageField(language)}
<input type="hidden" name="code" value="${entry.code}">
${buttons}
<p class="hint">${funds.hint}</p>
</form>`
}
${fieldTable(entry.code, language)}
</section>`
}

export type Decide = 'approve' | 'empty' | 'fill' | 'drain' | 'reject' | 'cancel'

/** A receipt for each payment that was just made, with how the company has recorded it. */
export function receipts(done: MadePayment[], language: Language): Html[] {
  const { paid, names, reasons } = BANK[language]
  return done.map(({ transfer, payment }) => {
    // One that settles a charge by itself names none all the same.
    const reason = payment?.settled ? null : (payment?.reason ?? null)
    const facts: [string, Shown][] = [
      [names.amount, html`<strong>${formatReais(transfer.amount)}</strong>`],
      [names.at, formatMoment(transfer.at)],
      [names.id, html`<code>${transfer.endToEndId}</code>`],
    ]
    return html`<section class="card receipt" role="status">
<h2 class="title">${icon('check')} ${paid.title}</h2>
${factList(facts)}
<div class="notice ${reason ? 'warn' : 'good'}">${icon(reason ? 'alert' : 'check')}<p>${reason ? `${paid.unmatched} ${reasons[reason]}` : paid.matched}</p></div>
</section>`
  })
}

function fieldTable(code: string, language: Language): Html {
  const { fields, field } = BANK[language]
  return html`<details><summary>${fields.title}</summary>
<table><thead><tr><th scope="col">${fields.id}</th><th scope="col">${fields.name}</th><th scope="col">${fields.value}</th></tr></thead>
<tbody>${writtenFields(code).map(
    ({ id, value }) =>
      html`<tr><th scope="row">${id}</th><td>${field[id]}</td><td><code>${value}</code></td></tr>`,
  )}</tbody></table>
</details>`
}

/** The URL of the page that shows a code. */
export const codeAddress = (code: string, language: Language, done: string[] = []): string => {
  const query = new URLSearchParams({ code })
  if (done.length > 0) query.set('done', done.join('.'))
  return inLanguage(`/bank?${query}`, language)
}
