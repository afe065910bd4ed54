import { inkOn } from '../../lib/contrast.ts'
import type { Language } from '../../lib/language.ts'
import { oneLine, withoutLinks } from '../../lib/one-line.ts'

/** What letters say of the company that they are about. */
export type LetterCompany = {
  name: string
  email: string
  color: string
  mode: 'sandbox' | 'live'
  language: Language
}

/** A person who gets a letter about their own account. */
export type LetterPerson = { email: string; language: Language }

/** Somebody who gets a letter, and the language in which they read. */
export type Reader = { to: string; language: Language }

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
}

export function textOf(company: LetterCompany, { title, blocks, footer }: Page): string {
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
}

const factRow = ([name, value]: Fact): string =>
  `<tr><th scope="row" style="padding:8px 8px 8px 0;border-top:1px solid #e4e4e7;text-align:left;vertical-align:top;font-size:14px;line-height:20px;font-weight:normal;color:#52525b">${inert(name)}</th>` +
  `<td style="padding:8px 0;border-top:1px solid #e4e4e7;text-align:right;font-size:14px;line-height:20px;word-break:break-word">${escaped(shown(value))}</td></tr>`

const TAGS = { pt: 'pt-BR', en: 'en' }

/**
 * One column that fits a phone. It loads nothing, so nobody learns when it is read.
 */
export function htmlOf(company: LetterCompany, { title, blocks, footer }: Page): string {
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
