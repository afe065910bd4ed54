import { shownDigits } from '../../pix/tax-id.ts'
import { nameWords, type Person } from './rules.ts'

/**
 * The parts of a name, an e-mail address, a phone and a tax id by which people are found: three
 * characters, two at the beginning of a word of a name, or four digits, each after the letter of
 * its kind. Of a tax id there are only those of the digits that lists show, so that the index says
 * nothing of the others. Names and addresses have one kind, because most addresses repeat the name.
 */
const CHARACTERS = 3
const START = 2
const DIGITS = 4
const TEXT = 't'
/** A person has so many parts at most. Those of numbers are few and come first. */
const MAX_PARTS = 96
/** So many parts of a text are looked for. What is found is compared with all of it. */
const MAX_SOUGHT = 16

/** Addresses of these services are found by what is before the @: too many people have the rest. */
const MAIL_SERVICES = [
  'bol.com.br',
  'gmail.com',
  'globo.com',
  'hotmail.com',
  'icloud.com',
  'ig.com.br',
  'live.com',
  'msn.com',
  'outlook.com',
  'outlook.com.br',
  'proton.me',
  'terra.com.br',
  'uol.com.br',
  'yahoo.com',
  'yahoo.com.br',
]
/** Parts that most addresses have. */
const ENDS = new Set(slices('.com.br', CHARACTERS, TEXT))

/** All parts of a text. It is done for each new payer, so it is a loop. */
function slices(text: string, length: number, kind = ''): string[] {
  const parts: string[] = []
  for (let i = 0; i + length <= text.length; i++) parts.push(kind + text.slice(i, i + length))
  return parts
}

const ofName = (words: string[]): string[] =>
  words.flatMap((word) => slices(word, CHARACTERS, TEXT))

/** The beginnings of words are what people type first, and find words of two letters too. */
const ofStarts = (words: string[]): string[] =>
  words.filter(({ length }) => length >= START).map((word) => `s${word.slice(0, START)}`)

const ofMail = (text: string): string[] =>
  slices(text, CHARACTERS, TEXT).filter((part) => !ENDS.has(part))

const ofDigits = (digits: string): string[] => slices(digits, DIGITS, 'd')

/** The last digits have a kind of their own, because they are what people ask for. */
const ofEnd = (digits: string): string => `e${digits.slice(-DIGITS)}`

/** An address without the name of its service, if that is one of the large ones. */
function indexedMail(email: string): string {
  const at = email.lastIndexOf('@') + 1
  return MAIL_SERVICES.includes(email.slice(at)) ? email.slice(0, at) : email
}

/** All parts by which a person is found. */
export function partsOf({ name, email, phone, taxId }: Person): string[] {
  const numbers = [phone ?? '', shownDigits(taxId)].filter((digits) => digits.length >= DIGITS)
  const words = nameWords(name)
  const parts = [
    ...numbers.flatMap((digits) => [ofEnd(digits), ...ofDigits(digits)]),
    ...ofStarts(words),
    ...ofName(words),
    ...ofMail(indexedMail(email?.toLowerCase() ?? '')),
  ]
  return [...new Set(parts)].slice(0, MAX_PARTS)
}

/** What is looked for: the parts that a person must have, and how the person is compared. */
export type PartsSought = { parts: string[]; isOf(person: Person): boolean }

const sought = (parts: string[], isOf: PartsSought['isOf']): PartsSought | null =>
  parts.length === 0 ? null : { parts: [...new Set(parts)].slice(0, MAX_SOUGHT), isOf }

/** Words of two letters or more that words of a name begin with. */
export function nameStarts(text: string): PartsSought | null {
  const words = nameWords(text)
  return sought([...ofStarts(words), ...ofName(words)], ({ name }) => {
    const named = nameWords(name)
    return words.every((word) => named.some((one) => one.startsWith(word)))
  })
}

/** Words of three letters or more, anywhere in a name. */
export function nameParts(text: string): PartsSought | null {
  const words = nameWords(text)
  return sought(ofName(words), ({ name }) => {
    const folded = nameWords(name).join(' ')
    return words.every((word) => folded.includes(word))
  })
}

/** A part of an e-mail address, before or after the @. */
export function mailParts(text: string): PartsSought | null {
  const part = text.toLowerCase()
  if (/\s/.test(part)) return null
  const at = part.lastIndexOf('@') + 1
  const mayBeService = at > 0 && MAIL_SERVICES.some((name) => name.startsWith(part.slice(at)))
  const indexed = mayBeService ? part.slice(0, at) : part
  return sought(ofMail(indexed), ({ email }) => email?.toLowerCase().includes(part) ?? false)
}

const WRITTEN_DIGITS = /^[\d\s().+/\p{Pd}]*$/u

/** Four digits or more of a phone, or of what lists show of a tax id. */
export function digitParts(text: string): (PartsSought & { end: PartsSought }) | null {
  if (!WRITTEN_DIGITS.test(text)) return null
  const digits = text.replace(/^\s*\+\s*55/, '').replaceAll(/\D/g, '')
  if (digits.length < DIGITS || digits.length > 14) return null
  const numbersOf = ({ phone, taxId }: Person) => [phone ?? '', shownDigits(taxId)]
  return {
    ...sought(ofDigits(digits), (person) =>
      numbersOf(person).some((number) => number.includes(digits)),
    )!,
    end: sought([ofEnd(digits)], (person) =>
      numbersOf(person).some((number) => number.endsWith(digits)),
    )!,
  }
}
