import { DEFAULT_COLOR, inkOn } from '../../lib/contrast.ts'
import type { Language } from '../../lib/language.ts'
import type { Letter } from '../../lib/mailer.ts'
import { oneLine, withoutLinks } from '../../lib/one-line.ts'

/** What letters say of the company that they are about. */
export type LetterCompany = {
  name: string
  email: string
  color: string
  mode: 'sandbox' | 'live'
  language: Language
}

/** Somebody who gets a letter, and the language in which they read. */
export type Reader = { email: string; language: Language }

/**
 * A part of a letter. The text part and the HTML part are made from the same blocks, so both say
 * the same.
 */
export type Block =
  | { kind: 'paragraph'; text: string }
  /** On a line of its own, to be copied. */
  | { kind: 'code'; code: string }
  | { kind: 'facts'; facts: Fact[] }
  | { kind: 'button'; label: string; url: string }
  /** What few readers want. */
  | { kind: 'link'; label: string; url: string }

/** A value that names an address on purpose, such as a masked one, to whom it belongs. */
type AsIs = { asIs: string }
export const asIs = (text: string): AsIs => ({ asIs: text })

export type Fact = [name: string, value: string | AsIs]

const shown = (value: string | AsIs): string =>
  typeof value === 'string' ? withoutLinks(value) : oneLine(value.asIs)

type Page = { title: string; blocks: Block[]; footer: string }

/**
 * Every text is one line without addresses that would become links, because strangers and companies
 * choose parts of it, such as names. The address of a button is ours.
 */
const TEXT: { [K in Block['kind']]: (block: Extract<Block, { kind: K }>) => string } = {
  paragraph: ({ text }) => withoutLinks(text),
  code: ({ code }) => oneLine(code),
  facts: ({ facts }) =>
    facts.map(([name, value]) => `${withoutLinks(name)}: ${shown(value)}`).join('\n'),
  button: ({ label, url }) => `${oneLine(label)}:\n${oneLine(url)}`,
  link: ({ label, url }) => `${withoutLinks(label)}:\n${oneLine(url)}`,
}

function textOf(company: LetterCompany, { title, blocks, footer }: Page): string {
  const parts = blocks.map((block) => (TEXT[block.kind] as (block: Block) => string)(block))
  const end = `--\n${withoutLinks(`${company.name} · ${footer}`)}`
  return `${[withoutLinks(title), ...parts, end].join('\n\n')}\n`
}

const ENTITIES: Record<string, string> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
}

const escaped = (text: string): string => oneLine(text).replace(/[&<>"']/g, (c) => ENTITIES[c]!)
const inert = (text: string): string => escaped(withoutLinks(text))

const FONT = 'font-family:-apple-system,Segoe UI,Roboto,Helvetica,Arial,sans-serif'
const PLAIN = 'margin:0 0 16px;font-size:16px;line-height:24px'

const paint = (color: string) => `background-color:${escaped(color)};color:${inkOn(color)}`

type Html = { [K in Block['kind']]: (block: Extract<Block, { kind: K }>, color: string) => string }

const HTML: Html = {
  paragraph: ({ text }) => `<p style="${PLAIN}">${inert(text)}</p>`,
  code: ({ code }) =>
    `<p style="margin:0 0 16px;padding:16px;background-color:#f4f4f5;border-radius:8px;text-align:center;font-size:32px;line-height:40px;font-weight:bold;letter-spacing:6px;font-family:Menlo,Consolas,monospace">${escaped(code)}</p>`,
  facts: ({ facts }) =>
    `<table style="width:100%;margin:0 0 16px;border-collapse:collapse">${facts.map(factRow).join('')}</table>`,
  button: ({ label, url }, color) =>
    `<p style="margin:0 0 16px;text-align:center"><a href="${escaped(url)}" style="display:inline-block;padding:14px 28px;border-radius:8px;${paint(color)};font-size:16px;font-weight:bold;text-decoration:none">${escaped(label)}</a></p>` +
    `<p style="margin:0 0 16px;font-size:14px;line-height:20px;color:#52525b;word-break:break-all">${escaped(url)}</p>`,
  link: ({ label, url }) =>
    `<p style="margin:0 0 16px;font-size:14px;line-height:20px"><a href="${escaped(url)}" style="color:#52525b">${inert(label)}</a></p>`,
}

const factRow = ([name, value]: Fact): string =>
  `<tr><th scope="row" style="padding:8px 8px 8px 0;border-top:1px solid #e4e4e7;text-align:left;vertical-align:top;font-size:14px;line-height:20px;font-weight:normal;color:#52525b">${inert(name)}</th>` +
  `<td style="padding:8px 0;border-top:1px solid #e4e4e7;text-align:right;font-size:14px;line-height:20px;word-break:break-word">${escaped(shown(value))}</td></tr>`

const TAGS = { pt: 'pt-BR', en: 'en' }

/**
 * One column that fits a phone. It loads nothing, so nobody learns when it is read.
 */
function htmlOf(company: LetterCompany, { title, blocks, footer }: Page): string {
  const { color, language, name } = company
  const body = blocks.map((block) =>
    (HTML[block.kind] as (block: Block, color: string) => string)(block, color),
  )
  return `<!doctype html>
<html lang="${TAGS[language]}">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light">
<title>${inert(title)}</title>
</head>
<body style="margin:0;padding:16px;background-color:#f4f4f5;color:#18181b;${FONT}">
<main style="max-width:560px;margin:0 auto;background-color:#ffffff;border-radius:12px;overflow:hidden">
<p style="margin:0;padding:16px 24px;${paint(color)};font-size:16px;font-weight:bold">${inert(name)}</p>
<div style="padding:24px 24px 8px">
<h1 style="margin:0 0 16px;font-size:22px;line-height:28px">${inert(title)}</h1>
${body.join('\n')}
</div>
</main>
<p style="max-width:560px;margin:16px auto;font-size:12px;line-height:18px;color:#52525b;text-align:center">${inert(footer)}</p>
</body>
</html>
`
}

export const paragraph = (text: string): Block => ({ kind: 'paragraph', text })

const MAX_SUBJECT = 150
const MAX_NAME = 60

const cut = (text: string, max: number): string => {
  const characters = [...text]
  return characters.length <= max
    ? text
    : `${characters
        .slice(0, max - 1)
        .join('')
        .trim()}…`
}

/**
 * The name that somebody is greeted by, cut if it is long. Null if it is none, but says something
 * else, such as an address: whoever makes a charge chooses the name of its payer.
 */
export function greetedName(name: string): string | null {
  const shown = withoutLinks(name)
  const isName = /\p{L}/u.test(shown) && shown === name.trim().replace(/\s+/g, ' ')
  return isName ? cut(shown, MAX_NAME) : null
}

const pt = {
  automatic: 'Mensagem automática. Não é necessário responder.',
  /** At the end of every mail to a payer. */
  payerFooter: 'Mensagem automática. Para falar com a loja, responda a este e-mail.',
  sandbox: 'Ambiente de testes: nenhum valor real é movimentado.',
}

const en: typeof pt = {
  automatic: 'This is an automatic message. There is no need to reply.',
  payerFooter: 'This is an automatic message. To reach the store, reply to this email.',
  sandbox: 'Test environment: no real money is moved.',
}

const TEXTS: Record<Language, typeof pt> = { pt, en }

type Contents = {
  to: string
  subject: string
  title: string
  blocks: Block[]
  isTest?: boolean
  /** A letter to a payer has the name of the company as sender, and replies go to the company. */
  toPayer?: boolean
  /** Where its reader says that they want no more of its kind. */
  unsubscribeUrl?: string
}

/** Makes both parts of a letter. If it is about play money, it says so. */
export function compose(company: LetterCompany, contents: Contents): Letter {
  const { to, subject, title, blocks, isTest = company.mode === 'sandbox' } = contents
  const { automatic, payerFooter, sandbox } = TEXTS[company.language]
  const note = isTest ? [paragraph(sandbox)] : []
  const footer = contents.toPayer ? payerFooter : automatic
  const page = { title, blocks: [...blocks, ...note], footer }
  const sender = { name: cut(withoutLinks(company.name), MAX_NAME), replyTo: company.email }
  return {
    to,
    subject: cut(withoutLinks(subject), MAX_SUBJECT),
    text: textOf(company, page),
    html: htmlOf(company, page),
    ...(contents.toPayer && { sender }),
    ...(contents.toPayer && isTest && { isPlayMoney: true }),
    ...(contents.unsubscribeUrl && { unsubscribeUrl: contents.unsubscribeUrl }),
  }
}

/** The sender of letters that are about no company. */
export const service = (language: Language): LetterCompany => ({
  name: 'Vintém',
  email: '',
  color: DEFAULT_COLOR,
  mode: 'live',
  language,
})
