import { nearest } from '../../lib/nearest.ts'
import type { ErrorItem } from '../../lib/problems.ts'
import { type Block, paragraph } from './layout.ts'

/** What companies write into their texts in braces, and what each stands for. Null: nothing. */
export type Values = Record<string, string | null>

const ANY = /\{([^{}]*)\}/g
/** The placeholder of the payer's name. */
const NAME = 'nome'

const namesIn = (text: string): string[] => [...text.matchAll(ANY)].map(([, name]) => name!)

/** The placeholders of a text that are not among those that it may have, each once. */
export const unknownPlaceholders = (text: string, known: readonly string[]): string[] => [
  ...new Set(namesIn(text).filter((name) => !known.includes(name))),
]

/** What is wrong with the placeholders of a text. */
export const placeholderFaults = (
  path: string,
  text: string,
  known: readonly string[],
): ErrorItem[] =>
  unknownPlaceholders(text, known).map((name) => {
    const meant = nearest(name, [...known])
    const list = known.map((one) => `{${one}}`).join(', ')
    const advice = meant ? `use {${meant}}` : `use one of ${list}, or leave the braces out`
    const description = `${path}: {${name.slice(0, 40)}} is no placeholder; ${advice}`
    return { code: 'unknown_placeholder', description }
  })

/**
 * What comes in once is not looked at again, because payers choose their names. A line that says
 * something that there is not is left out. Who has no name is greeted without one, and without the
 * comma before it.
 */
export const fill = (text: string, values: Values): string =>
  text
    .split('\n')
    .filter((line) => namesIn(line).every((name) => name === NAME || values[name] !== null))
    .map((line) => (values[NAME] === null ? line.replace(/,?\s*\{nome\}/g, '') : line))
    .join('\n')
    .replace(ANY, (all, name: string) => values[name] ?? all)

/** The paragraphs of a text, with the button where the company has put the link, or after them. */
export function blocksOf(text: string, values: Values, button: Block, facts: Block): Block[] {
  const [before = '', ...after] = text.split('{link}')
  const paragraphs = (part: string) =>
    fill(part, values)
      .split('\n')
      .filter((line) => /\S/.test(line))
      .map(paragraph)
  return [...paragraphs(before), facts, button, ...after.flatMap(paragraphs)]
}
