import { Problem } from '../lib/problems.ts'

/**
 * Shared code says what an operator can mend with an Error of its own or a plain one, and
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
export function tell(error: unknown): string {
  if (error instanceof Problem) {
    // The catalogue speaks to clients of the API here.
    if (error.code === 'service_unavailable') return 'The database went away meanwhile. Try again.'
    return error.items.map(({ description }) => sentence(description)).join('\n')
  }
  return sentence((error as Error).message)
}

const sentence = (text: string): string => (/[.!?:]$/.test(text) ? text : `${text}.`)
