import type { Guide, Library } from './library.ts'
import type { Section } from './markdown.ts'

/** Longer queries are cut. */
export const MAX_QUERY = 100
const MAX_WORDS = 8
const MAX_FOUND = 20
/** Characters of a passage around the first word that was found. */
const PASSAGE = { before: 60, length: 240 }

/** A part of a text, and whether it was asked for. */
export type Part = { text: string; isMatch: boolean }

export type Found = { guide: Guide; section: Section; heading: Part[]; passage: Part[] }

export type Search = (query: string) => { found: Found[]; count: number }

type Entry = { guide: Guide; section: Section; title: string; heading: string; text: string }

/**
 * Searches headings and paragraphs for all words of a query. A search reads each text once for each
 * word, so it takes as long for every query.
 */
export function createSearch({ guides }: Library): Search {
  const entries = guides.flatMap((guide) =>
    guide.sections.map((section): Entry => {
      const { heading, text } = section
      return { guide, section, title: fold(guide.title), heading: fold(heading), text: fold(text) }
    }),
  )
  return (query) => {
    const words = wordsOf(query)
    if (words.length === 0) return { found: [], count: 0 }
    const ranked = entries
      .map((entry) => ({ entry, rank: rankOf(entry, words) }))
      .filter(({ rank }) => rank > 0)
      .sort((a, b) => b.rank - a.rank)
    const found = ranked.slice(0, MAX_FOUND).map(({ entry: { guide, section, ...folded } }) => ({
      guide,
      section,
      heading: mark(section.heading, folded.heading, words),
      passage: passageOf(section.text, folded.text, words),
    }))
    return { found, count: ranked.length }
  }
}

/** The words of a query. A single letter is in almost every text, so it is left out. */
export const wordsOf = (query: string): string[] => [
  ...new Set(
    fold(query.slice(0, MAX_QUERY).normalize('NFC'))
      .split(/\s+/)
      .filter((word) => word.length > 1)
      .slice(0, MAX_WORDS),
  ),
]

/** Without accents and capitals, and as long as the text, so that positions agree. */
const fold = (text: string): string =>
  text
    .replace(/[A-Z]+/g, (capitals) => capitals.toLowerCase())
    .replace(/[^\0-\x7f]/g, (character) => {
      const base = character.normalize('NFD').toLowerCase().charAt(0)
      return base === '' ? character : base
    })

/**
 * Zero if a word is missing. A word in a heading counts more than one in the text. The title of the
 * page may have words too, but alone it finds only the beginning of the page.
 */
function rankOf({ section, title, heading, text, guide }: Entry, words: string[]): number {
  let rank = guide.group === 'Decisions' ? 0 : 1
  let own = section.id === null ? 1 : 0
  for (const word of words) {
    const inHeading = heading.includes(word)
    const isOwn = inHeading || text.includes(word)
    const inTitle = title.includes(word)
    if (!isOwn && !inTitle) return 0
    if (isOwn) own += 1
    rank += inHeading ? 6 : inTitle ? 3 : 2
  }
  return own === 0 ? 0 : rank
}

function passageOf(text: string, folded: string, words: string[]): Part[] {
  const positions = words.map((word) => folded.indexOf(word)).filter((position) => position >= 0)
  const first = positions.length > 0 ? Math.min(...positions) : 0
  const near = Math.max(0, first - PASSAGE.before)
  // Begin and end between two words.
  const start = near === 0 ? 0 : text.indexOf(' ', near) + 1
  const stop = text.lastIndexOf(' ', start + PASSAGE.length)
  const end = start + PASSAGE.length >= text.length || stop <= first ? undefined : stop
  const parts = mark(text.slice(start, end), folded.slice(start, end), words)
  if (start > 0) parts.unshift({ text: '… ', isMatch: false })
  if (end !== undefined) parts.push({ text: ' …', isMatch: false })
  return parts
}

/** Cuts a text where words of the query are. */
function mark(text: string, folded: string, words: string[]): Part[] {
  const parts: Part[] = []
  let from = 0
  for (;;) {
    const [next] = words
      .map((word) => ({ at: folded.indexOf(word, from), length: word.length }))
      .filter(({ at }) => at >= 0)
      .sort((a, b) => a.at - b.at || b.length - a.length)
    if (!next) break
    const { at, length } = next
    if (at > from) parts.push({ text: text.slice(from, at), isMatch: false })
    parts.push({ text: text.slice(at, at + length), isMatch: true })
    from = at + length
  }
  if (from < text.length) parts.push({ text: text.slice(from), isMatch: false })
  return parts
}
