import type { Language } from '../../lib/language.ts'
import { oneLine } from '../../lib/one-line.ts'
import { qrDataUrl } from '../../pix/qr.ts'
import { type Html, html, type Shown } from '../html.ts'
import { icon } from '../layout.ts'
import { card } from './parts.ts'
import type { Visit } from './visit.ts'

/** The address of a page of ours, and the words with which somebody sends it. */
export type Shared = {
  address: string
  /** What it is, such as "Cobrança de R$ 10,00": the subject of an e-mail. */
  title: string
  /** In large letters above the QR code. Null: the payer chooses the amount. */
  amount: string | null
  /** The whole message. If it lacks the address, that is added at its end. */
  text: string
  /** Who gets it, if that is known and the person may see it. */
  to?: { phone?: string | undefined; email?: string | undefined }
  /** More buttons, such as one that sends our own e-mail. */
  more?: Shown
  /** Where the QR code is shown, for the compact part. */
  page?: string
}

/** What a page with the part below loads. A page with the compact one needs no `print.js`. */
export const SHARE = { styles: ['share.css'], scripts: ['share.js', 'print.js'] }
export const COMPACT_SHARE = { styles: SHARE.styles, scripts: ['share.js'] }

/** All ways to send an address: copied, by WhatsApp, e-mail or another app, scanned, printed. */
export function sharePart(visit: Pick<Visit, 'language'>, shared: Shared): Html {
  const { address, amount } = shared
  const texts = TEXTS[visit.language]
  const print = html`<button type="button" class="button quiet js" data-print>${icon('print')}<span>${texts.print}</span></button>`
  return card(
    texts.title,
    html`<div class="share-ways">${copyButton(visit, address, '')}${ways(visit, shared, '')}${shared.more}${print}</div>
<div class="share-code">${amount !== null && html`<p class="share-amount">${amount}</p>`}<p class="qr"><img src="${qrDataUrl(address)}" alt="${texts.qr}" width="256" height="256"></p><p class="soft small">${texts.scan}</p></div>
<div class="field share-address"><label for="share-address">${texts.address}</label><input id="share-address" class="code" readonly value="${address}" translate="no"></div>`,
    'share',
  )
}

/** The same in one row of buttons, for the page of what is shared. */
export const compactShare = (visit: Pick<Visit, 'language'>, shared: Shared): Html =>
  html`<div class="actions share-row">${copyButton(visit, shared.address, ' slim')}${ways(visit, shared, ' slim')}${
    shared.page !== undefined &&
    html`<a class="button quiet slim" href="${shared.page}">${icon('qr')}<span>${TEXTS[visit.language].more}</span></a>`
  }</div>`

function copyButton({ language }: Pick<Visit, 'language'>, text: string, kind: string): Html {
  const texts = TEXTS[language]
  return html`<button type="button" class="button js${kind}" data-copy="${text}" data-copied="${texts.copied}">${icon('copy')}<span aria-live="polite"><span>${texts.copy}</span></span></button>`
}

/** WhatsApp, e-mail and, on a phone, any other app. We ask none of them for anything. */
function ways({ language }: Pick<Visit, 'language'>, shared: Shared, kind: string): Html {
  const texts = TEXTS[language]
  const { title } = shared
  const text = messageOf(shared)
  return html`<a class="button quiet${kind}" href="${whatsAppUrl(text, shared.to?.phone)}" target="_blank" rel="noopener noreferrer">${icon('chat')}<span>WhatsApp</span></a>
<button type="button" class="button quiet${kind}" data-share="${text}" data-share-title="${title}" hidden>${icon('share')}<span>${texts.share}</span></button>
<a class="button quiet${kind}" href="${mailUrl(title, text, shared.to?.email)}">${icon('mail')}<span>${texts.mail}</span></a>`
}

const messageOf = ({ text, address }: Pick<Shared, 'text' | 'address'>): string =>
  text.includes(address) ? text : `${text.trimEnd()}\n${address}`

/** Half of a character, as JSON can have it, is no text that an address can hold. */
const encoded = (text: string): string => encodeURIComponent(text.toWellFormed())

/** Opens WhatsApp with a text for a number of Brazil, or for whoever the person then chooses. */
export const whatsAppUrl = (text: string, phone?: string): string =>
  `https://wa.me/${phone && /^\d{10,11}$/.test(phone) ? `55${phone}` : ''}?text=${encoded(text)}`

/** The lines of a mail end as its standard says. A subject of two lines might write a field. */
const mailUrl = (subject: string, text: string, to = ''): string =>
  `mailto:${encoded(to).replace('%40', '@')}?subject=${encoded(oneLine(subject))}&body=${encoded(text.replaceAll('\n', '\r\n'))}`

const pt = {
  title: 'Enviar ao cliente',
  copy: 'Copiar link',
  copied: 'Link copiado',
  mail: 'Abrir no e-mail',
  share: 'Outro app',
  more: 'QR Code do link',
  print: 'Imprimir',
  qr: 'QR Code do link de pagamento',
  scan: 'O cliente aponta a câmera e abre a página de pagamento.',
  address: 'Link',
}

const en: typeof pt = {
  title: 'Send to the customer',
  copy: 'Copy link',
  copied: 'Link copied',
  mail: 'Open in e-mail',
  share: 'Another app',
  more: 'QR code of the link',
  print: 'Print',
  qr: 'QR code of the payment link',
  scan: 'The customer points the camera at it and opens the payment page.',
  address: 'Link',
}

const TEXTS: Record<Language, typeof pt> = { pt, en }
