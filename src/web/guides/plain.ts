import type { Language } from '../../lib/language.ts'
import { inLanguage } from '../language.ts'
import {
  DECISIONS_PATH,
  type Edition,
  editionOf,
  type Guide,
  LISTED,
  type Library,
} from './library.ts'
import { GUIDES } from './texts.ts'

/** Who reads guides as text, and the address of this server. */
type Reader = { publicUrl: string; language: Language; chosen: Language | null }

const LINK = /(!?)\[([^\]]*)\]\(([^)\s]+)\)/g
const COMMENT = /^<!--[\s\S]*?-->\n\n?/gm
/** Blocks of code, whose fences begin a line or an item of a list. */
const FENCED = /^([ >-]*)(`{3,})[^`\n]*\n[\s\S]*?^[ >]*\2[ \t]*$/gm

/** A guide as Markdown. Its links lead to the Markdown of other guides. */
export function markdownOf(library: Library, edition: Edition, reader: Reader): string {
  const link = (_link: string, image: string, name: string, href: string) => {
    const target = image === '' ? library.resolve(edition, href, reader.chosen) : null
    if (target === null) return name
    return `[${name}](${target.startsWith('/') ? asMarkdown(target, reader) : target})`
  }
  return outsideOfCode(edition.markdown, (text) => text.replace(COMMENT, '').replace(LINK, link))
}

const asMarkdown = (path: string, { publicUrl }: Reader): string =>
  publicUrl + path.replace(/^\/guides[^?#]*/, (guide) => `${guide}.md`)

function outsideOfCode(markdown: string, change: (text: string) => string): string {
  const parts: string[] = []
  let from = 0
  for (const { 0: block, index } of markdown.matchAll(FENCED)) {
    parts.push(change(markdown.slice(from, index)), block)
    from = index + block.length
  }
  return [...parts, change(markdown.slice(from))].join('')
}

/** The guides with what each is about, for agents: https://llmstxt.org. */
export function listOfGuides({ guides }: Library, reader: Reader): string {
  const { publicUrl, language, chosen } = reader
  const { list, groups } = GUIDES[language]
  const isListed = ({ path, group }: Guide) => group !== 'Decisions' || path === DECISIONS_PATH
  const lines = (group: string) =>
    guides
      .filter((guide) => guide.group === group && isListed(guide))
      .map((guide) => {
        const { title, sections } = editionOf(guide, language)
        const address = asMarkdown(inLanguage(guide.path, chosen), reader)
        return `- [${title}](${address}): ${firstSentence(sections[0]!.text)}`
      })
  const other = language === 'pt' ? 'en' : 'pt'
  return [
    '# Vintém',
    `> ${list.about}`,
    `${list.other}: ${publicUrl}${inLanguage('/llms.txt', other)}`,
    ...LISTED.map((group) => `## ${groups[group]}\n\n${lines(group).join('\n')}`),
    `## API\n\n${list.api(publicUrl).join('\n')}`,
    // The name that agents know for what may be left out.
    `## Optional\n\n${lines('Decisions').join('\n')}\n`,
  ].join('\n\n')
}

/** A dot ends it only before a space and a capital. */
const firstSentence = (text: string): string =>
  /^.*?[.:?](?=\s+[\p{Lu}\d]|\s*$)/su.exec(text)?.[0] ?? text
