import { marked, type Token, type Tokens } from 'marked'
import { type Html, html, type Shown } from '../html.ts'

type Heading = { id: string; text: string; depth: number }

/** What is between two headings, as text. */
export type Section = { id: string | null; heading: string; text: string }

export type Article = {
  title: string
  headings: Heading[]
  sections: Section[]
  /** The code of its samples. */
  samples: string[]
  show(options: { resolve: Resolve; anchors?: Anchors }): Html
}

/** Where a link of the file goes, or null if there is no such page. Then it is shown as text. */
type Resolve = (href: string) => string | null

/** More names of headings, by the names that they have. */
export type Anchors = Map<string, string>

/** Samples of the same in several languages are shown as tabs, in this order. */
const LANGUAGES = ['curl', 'TypeScript', 'Python', 'PHP']

/**
 * A file of Markdown as a page. Every text is escaped by the template, and markup in the file is
 * shown as text.
 */
export function readArticle(markdown: string): Article {
  const tokens = marked.lexer(markdown)
  const headings = headingsOf(tokens)
  const title = headings.get(tokens.find(isHeading) as Tokens.Heading)?.text ?? ''
  const shown = [...headings.values()].filter(({ depth }) => depth > 1)
  return {
    title,
    headings: shown,
    sections: sectionsOf(tokens, headings, title),
    samples: samplesIn(tokens),
    show: ({ resolve, anchors = new Map() }) =>
      html`${createShow(headings, resolve, anchors)(tokens)}`,
  }
}

/** Also those in a list or a quote. */
function samplesIn(tokens: Token[]): string[] {
  const samples: string[] = []
  marked.walkTokens(tokens, (token) => {
    if (token.type === 'code') samples.push(token.text)
  })
  return samples
}

const isHeading = (token: Token): token is Tokens.Heading => token.type === 'heading'

type Headings = Map<Tokens.Heading, Heading>

/** The anchors are those that code hosts make, because the files link to them. */
function headingsOf(tokens: Token[]): Headings {
  const headings: Headings = new Map()
  const used = new Map<string, number>()
  for (const token of tokens.filter(isHeading)) {
    const text = plainText(token.tokens)
    const slug = text
      .toLowerCase()
      .replace(/[^\p{L}\p{N}\p{M}\s_-]/gu, '')
      .replace(/\s/g, '-')
    const count = used.get(slug) ?? 0
    used.set(slug, count + 1)
    const id = count === 0 ? slug : `${slug}-${count}`
    headings.set(token, { id, text, depth: token.depth })
  }
  return headings
}

/** The text of tokens without their markup. */
function plainText(tokens: Token[] = []): string {
  return tokens.map(plainTextOf).join('')
}

function plainTextOf(token: Token): string {
  switch (token.type) {
    case 'table': {
      const { header, rows } = token as Tokens.Table
      return [header, ...rows]
        .map((row) => row.map((cell) => plainText(cell.tokens)).join(' '))
        .join('. ')
    }
    case 'list':
      return (token as Tokens.List).items.map((item) => plainText(item.tokens)).join(' ')
    case 'code':
      return ''
    case 'html':
      return isComment(token.raw) ? '' : token.raw
    case 'space':
    case 'br':
      return ' '
    default:
      return 'tokens' in token ? plainText(token.tokens) : 'text' in token ? String(token.text) : ''
  }
}

function sectionsOf(tokens: Token[], headings: Headings, title: string): Section[] {
  const sections: Section[] = [{ id: null, heading: title, text: '' }]
  for (const token of tokens) {
    const heading = isHeading(token) ? headings.get(token) : undefined
    if (heading && heading.depth > 1) {
      sections.push({ id: heading.id, heading: heading.text, text: '' })
    } else if (!heading) {
      const section = sections.at(-1)!
      section.text = `${section.text} ${plainTextOf(token)}`.replace(/\s+/g, ' ').trim()
    }
  }
  return sections
}

type Show = (tokens: Token[] | undefined) => Shown

function createShow(headings: Headings, resolve: Resolve, anchors: Anchors): Show {
  let groups = 0
  const show: Show = (tokens = []) => {
    const shown: Shown[] = []
    for (let i = 0; i < tokens.length; i++) {
      const samples = samplesAt(tokens, i)
      if (samples.length > 1) {
        groups += 1
        shown.push(tabs(samples, `sample-${groups}`))
        i = samples.at(-1)!.end
      } else {
        const token = tokens[i]!
        shown.push(
          token.type === 'heading'
            ? showHeading(token as Tokens.Heading, show, headings, anchors)
            : showToken(token, show, resolve),
        )
      }
    }
    return shown
  }
  return show
}

type Sample = { language: string; code: string; end: number }

/** Blocks of code that follow each other, each with the name of its language above it. */
function samplesAt(tokens: Token[], start: number): Sample[] {
  const samples: Sample[] = []
  if (languageNamedBy(tokens[start]!) === null) return samples
  const rest = tokens.map((token, at) => ({ token, at })).slice(start)
  const parts = rest.filter(({ token }) => token.type !== 'space')
  for (let i = 0; i + 1 < parts.length; i += 2) {
    const language = languageNamedBy(parts[i]!.token)
    const { token: code, at: end } = parts[i + 1]!
    if (language === null || code.type !== 'code') break
    samples.push({ language, code: code.text, end })
  }
  return samples
}

function languageNamedBy(token: Token): string | null {
  const [name, ...more] = token.type === 'paragraph' ? (token.tokens ?? []) : []
  if (name?.type !== 'strong' || more.length > 0) return null
  return LANGUAGES.includes(name.text) ? name.text : null
}

/** Tabs that need no script: a radio button for each language. */
function tabs(samples: Sample[], group: string): Html {
  const choices = samples.map(({ language }, i) => {
    const id = `${group}-${language.toLowerCase()}`
    const checked = i === 0 && html` checked`
    return html`<input type="radio" name="${group}" id="${id}" value="${language}"${checked}><label for="${id}">${language}</label>`
  })
  const panels = samples.map(
    ({ language, code }) =>
      html`<div class="panel"><p class="hide">${language}</p>${block(code)}</div>`,
  )
  return html`<fieldset class="tabs"><legend class="hide">${LANGUAGES.join(', ')}</legend>${choices}${panels}</fieldset>`
}

/** It can be reached by keys, because it may have to be scrolled. */
const block = (code: string): Html => html`<pre tabindex="0"><code>${code}</code></pre>\n`

function showToken(token: Token, show: Show, resolve: Resolve): Shown {
  switch (token.type) {
    case 'paragraph':
      return html`<p>${show(token.tokens)}</p>\n`
    case 'code':
      return block(token.text)
    case 'list':
      return showList(token as Tokens.List, show)
    case 'table':
      return showTable(token as Tokens.Table, show)
    case 'blockquote':
      return html`<blockquote>${show(token.tokens)}</blockquote>`
    case 'hr':
      return html`<hr>`
    case 'link':
      return showLink(token as Tokens.Link, show, resolve)
    default:
      return showInline(token, show)
  }
}

function showInline(token: Token, show: Show): Shown {
  switch (token.type) {
    case 'space':
      return null
    case 'strong':
      return html`<strong>${show(token.tokens)}</strong>`
    case 'em':
      return html`<em>${show(token.tokens)}</em>`
    case 'del':
      return html`<del>${show(token.tokens)}</del>`
    case 'codespan':
      return html`<code>${token.text}</code>`
    case 'br':
      return html`<br>`
    case 'html':
      return isComment(token.raw) ? null : token.raw
    default:
      return 'tokens' in token ? show(token.tokens) : 'text' in token ? String(token.text) : null
  }
}

const isComment = (text: string): boolean => /^<!--[\s\S]*-->\s*$/.test(text)

/** A heading is a link to itself, so that its address can be copied. */
function showHeading(
  token: Tokens.Heading,
  show: Show,
  headings: Headings,
  anchors: Anchors,
): Html {
  const heading = headings.get(token)
  // One in a quote or a list is no heading of the page.
  if (!heading) return html`<p>${show(token.tokens)}</p>\n`
  const { id, text, depth } = heading
  if (depth === 1) return html`<h1>${text}</h1>\n`
  const other = anchors.get(id)
  const link = html`${other !== undefined && html`<span id="${other}"></span>`}<a class="self" href="#${id}">${text}</a>`
  if (depth === 2) return html`<h2 id="${id}">${link}</h2>\n`
  return depth === 3 ? html`<h3 id="${id}">${link}</h3>\n` : html`<h4 id="${id}">${link}</h4>\n`
}

function showList({ ordered, start, items }: Tokens.List, show: Show): Html {
  const shown = items.map((item) => html`<li>${show(item.tokens)}</li>\n`)
  return ordered ? html`<ol start="${start || 1}">${shown}</ol>\n` : html`<ul>${shown}</ul>\n`
}

function showTable({ header, rows }: Tokens.Table, show: Show): Html {
  const head = header.map(({ tokens }) => html`<th scope="col">${show(tokens)}</th>`)
  const body = rows.map(
    (cells) => html`<tr>${cells.map(({ tokens }) => html`<td>${show(tokens)}</td>`)}</tr>\n`,
  )
  return html`<div class="table" tabindex="0"><table><thead><tr>${head}</tr></thead><tbody>${body}</tbody></table></div>\n`
}

/** An address that is only mentioned, such as that of an example, is shown as text. */
function showLink({ href, tokens, autolink }: Tokens.Link, show: Show, resolve: Resolve): Shown {
  const address = autolink ? null : resolve(href)
  return address === null ? show(tokens) : html`<a href="${address}">${show(tokens)}</a>`
}
