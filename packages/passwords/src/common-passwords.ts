import { COMMON_WORDS } from './common-words.ts'

const WORDS = new Set(COMMON_WORDS.split(/\s+/))
const LONGEST = Math.max(...[...WORDS].map(({ length }) => length))

/** Rows of the keyboard, the alphabet and the digits, in both directions. */
const ROWS = [
  'qwertyuiop',
  'asdfghjkl',
  'zxcvbnm',
  '1234567890',
  'abcdefghijklmnopqrstuvwxyz',
  '1qaz2wsx3edc4rfv5tgb6yhn7ujm8ik9ol0p',
  '1q2w3e4r5t6y7u8i9o0p',
  'qazwsxedcrfvtgbyhnujmikolp',
].flatMap((row) => [row + row, [...(row + row)].reverse().join('')])
const MIN_WALK = 4

/** Characters that people write instead of letters. */
const LETTERS: Record<string, string> = {
  '0': 'o',
  '1': 'i',
  '3': 'e',
  '4': 'a',
  '5': 's',
  '7': 't',
  '@': 'a',
  $: 's',
  '!': 'i',
}

const plain = (text: string): string => text.normalize('NFD').replace(/\p{M}/gu, '').toLowerCase()

const asLetters = (text: string): string => text.replace(/[013457@$!]/g, (one) => LETTERS[one]!)

/** So many common parts, one after the other, are still easy to guess. */
const MAX_PARTS = 3
/** Shorter texts about a person occur in many words. */
const MIN_ABOUT = 4
/** A text of so many characters is easy to guess, however often it is repeated. */
const MAX_REPEATED = 6

/**
 * Whether a password is one of those that are tried first: up to three common words, walks over the
 * keyboard, repetitions, dates or texts that others know of the person, with signs between them
 * and digits instead of letters.
 */
export function isCommon(password: string, about: string[] = []): boolean {
  const text = withoutRepetition(plain(password))
  if (text.length <= MAX_REPEATED || /^\d*$/.test(text)) return true
  if (about.some((one) => plain(one).includes(text))) return true
  const known = new Set(about.flatMap((one) => plain(one).split(/[^a-z0-9]+/)))
  const isKnown = (word: string) => WORDS.has(word) || (word.length >= MIN_ABOUT && known.has(word))
  const longest = Math.max(LONGEST, ...[...known].map(({ length }) => length))
  return countParts(text, isKnown, longest) <= MAX_PARTS
}

/** A text that is one shorter text again and again is as easy to guess as that one. */
function withoutRepetition(text: string): string {
  const period = (text + text).indexOf(text, 1)
  return text.slice(0, period)
}

/** How few common parts the text consists of. Infinity: something in it is not common. */
function countParts(text: string, isKnown: (word: string) => boolean, longest: number): number {
  const fewest = new Array<number>(text.length + 1).fill(Number.POSITIVE_INFINITY)
  fewest[0] = 0
  for (let start = 0; start < text.length; start++) {
    if (fewest[start] === Number.POSITIVE_INFINITY) continue
    const reach = (end: number, cost: number) => {
      fewest[end] = Math.min(fewest[end]!, fewest[start]! + cost)
    }
    reach(start + fillerAt(text, start), 0)
    for (let length = 1; length <= Math.min(longest, text.length - start); length++) {
      const part = text.slice(start, start + length)
      if (isKnown(part) || isKnown(asLetters(part))) reach(start + length, 1)
    }
    for (let end = start + MIN_WALK; end <= text.length; end++) {
      if (!isWalk(text.slice(start, end))) break
      reach(end, 1)
    }
  }
  return fewest[text.length]!
}

/** The length of the signs, of the repeated character, or of the short number that begins here. */
function fillerAt(text: string, start: number): number {
  const filler = /[^a-z0-9]+|(.)\1{2,}|\d{1,8}(?!\d)/y
  filler.lastIndex = start
  return filler.exec(text)?.[0].length ?? 0
}

const isWalk = (text: string): boolean => ROWS.some((row) => row.includes(text))
