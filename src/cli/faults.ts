import { AssertionError } from 'node:assert'
import { CATALOGUE, invalid, Problem } from '../lib/problems.ts'

/**
 * Failed assertions and errors of JavaScript are bugs. All other errors, also those of PostgreSQL
 * and of the system, have a reason that an operator can fix.
 */
export function isBug(error: unknown): boolean {
  if (!(error instanceof Error)) return true
  const ofJavaScript = [TypeError, RangeError, ReferenceError, SyntaxError, AssertionError]
  return (
    ofJavaScript.some((kind) => error instanceof kind) || /^assertion failed/.test(error.message)
  )
}

/** The text of an error, with each violation on its own line. */
export function textOfError(error: unknown): string {
  if (error instanceof Problem) {
    // The text of the catalogue is for clients of the API.
    if (error.message === CATALOGUE.service_unavailable[1])
      return 'The connection to the database was lost. Try again.'
    return error.items.map(({ description }) => sentence(description)).join('\n')
  }
  return sentence((error as Error).message)
}

/** Adds a capital letter and a full stop. The name of a field stays as it is. */
export const asSentence = (text: string): string =>
  sentence(/^[\w.[\]]+: /.test(text) ? text : text.replace(/^./u, (first) => first.toUpperCase()))

const sentence = (text: string): string => (/[.!?:]$/.test(text) ? text : `${text}.`)

/** Replaces the field of the API (taxId) by the option that the operator typed (--tax-id). */
export function asTyped(fault: string): string {
  return fault.replace(/^\w+(?=:)/, (field) => {
    return `--${field.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`
  })
}

/** Runs a command. Its faults then name the options that were typed. */
export async function inOptions<R>(act: () => Promise<R>): Promise<R> {
  try {
    return await act()
  } catch (error) {
    if (!(error instanceof Problem) || error.code !== 'invalid_value') throw error
    const [first, ...others] = error.items.map(({ description }) => asTyped(description))
    throw invalid(first!, ...others)
  }
}

/** Throws all faults together, if there are any. */
export function requireNone(faults: (string | null)[]): void {
  const [first, ...others] = faults.filter((fault) => fault !== null)
  if (first) throw invalid(first, ...others)
}
