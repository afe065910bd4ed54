import { maskEmail, maskPhone, punctuatePhone } from '../../pix/masks.ts'
import { maskTaxId } from '../../pix/tax-id.ts'
import { ERASED, foldedWords } from '../customers/rules.ts'

/** All that is known to tell who a payer is. */
export type Traits = {
  taxIds: string[]
  names: string[]
  emails: string[]
  phones: string[]
  /** Streets, numbers, postal codes and all else of addresses. */
  addresses: string[]
  /** The company's own names of charges, where they name the payer. */
  references: string[]
}

export const noTraits = (): Traits => ({
  taxIds: [],
  names: [],
  emails: [],
  phones: [],
  addresses: [],
  references: [],
})

/** What was stored of a person, in a customer, a charge, a subscription or an address. */
type Known = {
  name?: string
  taxId?: string
  email?: string
  phone?: string
  [part: string]: string | undefined
}

const ADDRESS_PARTS = ['postalCode', 'address', 'district', 'number', 'line1', 'city'] as const

/** Adds what is known of a person, each value once. */
export function addTraits(traits: Traits, known: Known): void {
  addTo(traits.taxIds, known.taxId)
  addTo(traits.names, known.name)
  addTo(traits.emails, known.email)
  addTo(traits.phones, known.phone)
  for (const part of ADDRESS_PARTS) addTo(traits.addresses, known[part])
}

export function addTo(values: string[], value: string | null | undefined): void {
  const text = value?.trim() ?? ''
  if (text !== '' && text !== ERASED && !values.includes(text)) values.push(text)
}

export type Matcher = {
  /** A regular expression of JavaScript and PostgreSQL for `tells`, whatever the case. */
  pattern: string
  /** Whether a text has the tax id, an e-mail address or a phone. */
  isAbout(text: string): boolean
  /** The same, or a whole name or street: the text tells who the payer is, or is of a namesake. */
  tells(text: string): boolean
  /** The same, or a part of a name: for texts of their own records. */
  names(text: string): boolean
  /** JSON without what tells who the payer is. */
  without(json: unknown): unknown
}

const BEFORE = '(?<![A-Za-z0-9])'
const AFTER = '(?![A-Za-z0-9])'
/** What may be between two words: in JSON, in an address, or in a form. */
const BETWEEN = '(?:[^A-Za-z0-9]|%20){1,8}'
/** Longer texts name one street; shorter ones, such as "Centro", are of many. */
const MIN_STREET = 10
/** Shorter words of names, and these, name nobody. */
const MIN_WORD = 3
const PARTICLES = ['das', 'dos', 'del', 'von', 'van', 'filho', 'junior', 'neto', 'ltda']
/** Fields in which companies write what they like: a part of the name is enough there. */
const FREE_TEXTS = ['comment', 'description', 'externalId']
/** Matches nothing. */
const NOTHING = '(?!)'

const ACCENTS: Record<string, string> = {
  a: 'áàâãäåÁÀÂÃÄÅ',
  c: 'çÇ',
  e: 'éèêëÉÈÊË',
  i: 'íìîïÍÌÎÏ',
  n: 'ñÑ',
  o: 'óòôõöÓÒÔÕÖ',
  u: 'úùûüÚÙÛÜ',
}

/** A letter with any accent, also as JSON may write it. */
function letterPattern(letter: string): string {
  const accented = ACCENTS[letter]
  const codes = '\\\\u00[0-9a-fA-F]{2}'
  return accented ? `(?:[${letter}${letter.toUpperCase()}${accented}]|${codes})` : letter
}

const wordsPattern = (words: string[]): string =>
  BEFORE + words.map((word) => [...word].map(letterPattern).join('')).join(BETWEEN) + AFTER

/** Digits and letters with or without the punctuation of numbers between them. */
const numberPattern = (number: string): string =>
  BEFORE + [...number].map(escaped).join('[-./ ()]{0,2}') + AFTER

const phonePattern = (phone: string): string =>
  `(?<![0-9])(?:55[-. ()]{0,2})?${[...phone].map(escaped).join('[-. ()]{0,2}')}(?![0-9])`

const mailPattern = (email: string): string =>
  BEFORE + escaped(email).replaceAll('@', '(?:@|%40)') + AFTER

const escaped = (text: string): string => text.replace(/[\\^$.*+?()[\]{}|]/g, '\\$&')

const anyOf = (patterns: string[]): string =>
  patterns.map((one) => `(?:${one})`).join('|') || NOTHING

const lower = (text: string): string => text.trim().toLowerCase()

/** The values as they are, and as answers show them: masked or with punctuation. */
function spellingsOf(traits: Traits): Set<string> {
  const { taxIds, names, emails, phones, addresses, references } = traits
  return new Set(
    [
      ...names,
      ...addresses,
      ...references,
      ...taxIds.flatMap((one) => [one, maskTaxId(one)]),
      ...emails.flatMap((one) => [one, maskEmail(one)]),
      ...phones.flatMap((one) => [one, maskPhone(one), punctuatePhone(one)]),
    ].map(lower),
  )
}

/** Finds a payer in texts. */
export function matcherOf(traits: Traits): Matcher {
  const { taxIds, emails, phones, addresses } = traits
  const sure = [
    ...taxIds.map(numberPattern),
    ...emails.map(mailPattern),
    ...phones.filter((phone) => phone.length >= 10).map(phonePattern),
  ]
  const nameWords = traits.names.map(foldedWords)
  const streets = addresses.filter((text) => text.length >= MIN_STREET).map(foldedWords)
  const whole = [...nameWords, ...streets].filter((words) => words.length > 1)
  const parts = nameWords
    .flat()
    .filter((word) => word.length >= MIN_WORD && !PARTICLES.includes(word))
  const pattern = anyOf([...sure, ...whole.map(wordsPattern)])
  const [about, telling] = [new RegExp(anyOf(sure), 'i'), new RegExp(pattern, 'i')]
  const naming = new RegExp(anyOf(parts.map((part) => wordsPattern([part]))), 'i')
  const spellings = spellingsOf(traits)
  const tells = (text: string) => telling.test(text)

  const names = (text: string) => tells(text) || naming.test(text) || spellings.has(lower(text))

  function without(json: unknown, field = ''): unknown {
    if (typeof json === 'string') {
      const isTheirs = FREE_TEXTS.includes(field)
        ? names(json)
        : tells(json) || spellings.has(lower(json))
      return isTheirs ? ERASED : json
    }
    if (Array.isArray(json)) return json.map((one) => without(one))
    if (json === null || typeof json !== 'object') return json
    return Object.fromEntries(
      Object.entries(json).map(([name, value]) => [name, without(value, name)]),
    )
  }

  return { pattern, isAbout: (text) => about.test(text), tells, names, without }
}
