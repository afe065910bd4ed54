import type { Language } from '../../lib/language.ts'
import { type Edition, editionOf, type Guide, type Library, twinOf } from './library.ts'
import type { Section } from './markdown.ts'
import { groupsOf, patternOf } from './synonyms.ts'

/** Longer queries are cut. */
export const MAX_QUERY = 100
const MAX_WORDS = 8
const MAX_FOUND = 20
/** Characters of a passage around the first word that was found. */
const PASSAGE = { before: 60, length: 240 }

/** A part of a text, and whether it was asked for. */
export type Part = { text: string; isMatch: boolean }

export type Found = {
  guide: Guide
  edition: Edition
  section: Section
  heading: Part[]
  passage: Part[]
}

export type Search = (query: string, language: Language) => { found: Found[]; count: number }

/** A section as its reader sees it. `other` is the same section in the other language. */
type Entry = {
  guide: Guide
  edition: Edition
  section: Section
  title: string
  heading: string
  text: string
  other: string
}

/** What a word counts that is in a heading, in the title of the page, or in the text. */
type Weights = { heading: number; title: number; text: number }

const OWN: Weights = { heading: 12, title: 6, text: 4 }
/** A word that means the same. */
const SYNONYM: Weights = { heading: 8, title: 3, text: 2 }
/** Only the other language has it. */
const IN_OTHER = 1
/** Sections of decisions come after equal ones of guides. */
const IN_A_GUIDE = 2

type Word = { text: string; groups: number[] }

/**
 * Searches headings and paragraphs for all words of a query, or for words that mean the same. A
 * search reads each text once for each word, so it takes as long for every query; words that mean
 * the same are looked for once.
 */
export function createSearch(library: Library): Search {
  const entries = { pt: entriesOf(library, 'pt'), en: entriesOf(library, 'en') }
  const found = { pt: rememberGroups(entries.pt), en: rememberGroups(entries.en) }
  return (query, language) => {
    const words = wordsOf(query).map((text): Word => ({ text, groups: groupsOf(text) }))
    if (words.length === 0) return { found: [], count: 0 }
    const groups = words.map((word) => word.groups.map(found[language]))
    const ranked = entries[language]
      .map((entry, i) => ({ entry, rank: rankOf(entry, i, words, groups) }))
      .filter(({ rank }) => rank > 0)
      .sort((a, b) => b.rank - a.rank)
    const asked = words.map(({ text }) => literal(text))
    const wanted = { asked: anyOf(asked), same: anyOf([...asked, ...words.flatMap(patternsOf)]) }
    const shown = ranked.slice(0, MAX_FOUND).map(({ entry }) => {
      const { guide, edition, section, ...folded } = entry
      const heading = mark(section.heading, folded.heading, wanted.same)
      const passage = passageOf(section.text, folded.text, wanted)
      return { guide, edition, section, heading, passage }
    })
    return { found: shown, count: ranked.length }
  }
}

/** As it is typed, in an expression. */
const literal = (text: string): string => text.replace(/[\\^$.*+?()[\]{}|/-]/g, '\\$&')

const patternsOf = ({ groups }: Word): string[] => groups.map(patternOf)

/** If two begin at the same place, the longer one is found. */
const anyOf = (patterns: string[]): RegExp =>
  new RegExp(patterns.toSorted((a, b) => b.length - a.length).join('|'), 'g')

function entriesOf({ guides }: Library, language: Language): Entry[] {
  return guides.flatMap((guide) => {
    const edition = editionOf(guide, language)
    const twin = twinOf(guide, edition)
    const title = fold(edition.title)
    return edition.sections.map((section, i): Entry => {
      const same = twin?.sections[i]
      const other = same ? fold(`${twin.title} ${same.heading} ${same.text}`) : ''
      const { heading, text } = section
      return { guide, edition, section, title, heading: fold(heading), text: fold(text), other }
    })
  })
}

type WordRank = { rank: number; isOwn: boolean }

/** What a group of words counts in each entry. */
type GroupRanks = WordRank[]

/** A group is looked for when it is first asked for. There are as many as in the list. */
function rememberGroups(entries: Entry[]): (group: number) => GroupRanks {
  const known = new Map<number, GroupRanks>()
  return (group) => {
    let ranks = known.get(group)
    if (!ranks) {
      const pattern = new RegExp(patternOf(group))
      ranks = entries.map((entry) => wordRank(entry, (text) => pattern.test(text), SYNONYM))
      known.set(group, ranks)
    }
    return ranks
  }
}

type Has = (text: string) => boolean

/** Zero if the word is missing. It is the section's own if not only the title of the page has it. */
function wordRank(entry: Entry, has: Has, weights: Weights): WordRank {
  if (has(entry.heading)) return { rank: weights.heading, isOwn: true }
  const isOwn = has(entry.text)
  if (has(entry.title)) return { rank: weights.title, isOwn }
  if (isOwn) return { rank: weights.text, isOwn }
  return has(entry.other) ? { rank: IN_OTHER, isOwn: true } : { rank: 0, isOwn: false }
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
function rankOf(entry: Entry, at: number, words: Word[], groups: GroupRanks[][]): number {
  let rank = entry.guide.group === 'Decisions' ? 0 : IN_A_GUIDE
  let own = entry.section.id === null ? 1 : 0
  for (const [i, { text }] of words.entries()) {
    const ranks = [
      wordRank(entry, (own) => own.includes(text), OWN),
      ...groups[i]!.map((ranks) => ranks[at]!),
    ]
    const best = Math.max(...ranks.map(({ rank }) => rank))
    if (best === 0) return 0
    if (ranks.some(({ isOwn }) => isOwn)) own += 1
    rank += best
  }
  return own === 0 ? 0 : rank
}

function passageOf(
  text: string,
  folded: string,
  { asked, same }: { asked: RegExp; same: RegExp },
): Part[] {
  const first = [asked, same].map((words) => folded.search(words)).find(isFound) ?? 0
  const near = Math.max(0, first - PASSAGE.before)
  // Begin and end between two words.
  const start = near === 0 ? 0 : text.indexOf(' ', near) + 1
  const stop = text.lastIndexOf(' ', start + PASSAGE.length)
  const end = start + PASSAGE.length >= text.length || stop <= first ? undefined : stop
  const parts = mark(text.slice(start, end), folded.slice(start, end), same)
  if (start > 0) parts.unshift({ text: '… ', isMatch: false })
  if (end !== undefined) parts.push({ text: ' …', isMatch: false })
  return parts
}

const isFound = (position: number): boolean => position >= 0

/** Cuts a text where words of the query are. */
function mark(text: string, folded: string, words: RegExp): Part[] {
  const parts: Part[] = []
  let from = 0
  for (const { 0: found, index } of folded.matchAll(words)) {
    const end = index + found.length
    if (index > from) parts.push({ text: text.slice(from, index), isMatch: false })
    parts.push({ text: text.slice(index, end), isMatch: true })
    from = end
  }
  if (from < text.length) parts.push({ text: text.slice(from), isMatch: false })
  return parts
}
