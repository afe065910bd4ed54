import { CATALOGUE, invalid, Problem } from '../lib/problems.ts'

/**
 * Shared code reports what an operator can fix with an Error of its own or a plain one, and
 * PostgreSQL and the system answer with theirs. What is left are failed assertions and the errors
 * of JavaScript.
 */
export function isBug(error: unknown): boolean {
  if (!(error instanceof Error)) return true
  const ofJavaScript = [TypeError, RangeError, ReferenceError, SyntaxError]
  return (
    ofJavaScript.some((kind) => error instanceof kind) || /^assertion failed/.test(error.message)
  )
}

/** A fault in plain words, every violation on a line of its own. */
export function textOfError(error: unknown): string {
  if (error instanceof Problem) {
    // The catalogue speaks to clients of the API here.
    if (error.message === CATALOGUE.service_unavailable[1])
      return 'The database went away meanwhile. Try again.'
    return error.items.map(({ description }) => sentence(description)).join('\n')
  }
  return sentence((error as Error).message)
}

/** What a part of a sentence says, as a whole one. */
export const asSentence = (text: string): string =>
  sentence(text.replace(/^./u, (first) => first.toUpperCase()))

const sentence = (text: string): string => (/[.!?:]$/.test(text) ? text : `${text}.`)

/** Rules name the field of the API (taxId); the operator typed an option (--tax-id). */
export function asTyped(fault: string): string {
  return fault.replace(/^\w+(?=:)/, (field) => {
    return `--${field.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`
  })
}

/** Runs a command whose faults then name the options that were typed. */
export async function inOptions<R>(act: () => Promise<R>): Promise<R> {
  try {
    return await act()
  } catch (error) {
    if (!(error instanceof Problem) || error.code !== 'invalid_value') throw error
    const [first, ...others] = error.items.map(({ description }) => asTyped(description))
    throw invalid(first!, ...others)
  }
}

/** Throws all that is wrong at once, if anything is. */
export function requireNone(faults: (string | null)[]): void {
  const [first, ...others] = faults.filter((fault) => fault !== null)
  if (first) throw invalid(first, ...others)
}
