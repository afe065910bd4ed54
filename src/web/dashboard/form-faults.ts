import type { Language } from '../../lib/language.ts'
import { Problem } from '../../lib/problems.ts'
import type { Html } from '../html.ts'
import { notice } from './parts.ts'
import { problemText } from './problem-texts.ts'
import { DASHBOARD } from './texts.ts'

/** Why a form was refused. */
export type FormFault = {
  problem: Problem
  /** Whether the field breaks its rule, by the name that the API has for it. */
  isWrong(field: string): boolean
  /** The sentence above the form. */
  notice(language: Language): Html
}

const faultOf = (problem: Problem): FormFault => {
  const paths =
    problem.code === 'invalid_value'
      ? problem.items.map(({ description }) => description.split(':')[0]!)
      : []
  return {
    problem,
    isWrong: (field) =>
      paths.some(
        (path) => path === field || path.startsWith(`${field}.`) || path.startsWith(`${field}[`),
      ),
    notice: (language) =>
      notice(
        paths.length > 0 ? DASHBOARD[language].check : problemText(problem.code, language),
        'bad',
      ),
  }
}

/**
 * Does what a form asks for. If it is refused for a reason that the person can change, returns that
 * reason, so that the form is shown again with what was typed. Anything else is thrown.
 */
export async function tryForm<T>(
  act: () => Promise<T>,
): Promise<{ fault: null; done: T } | { fault: FormFault; done: null }> {
  try {
    return { fault: null, done: await act() }
  } catch (error) {
    if (!(error instanceof Problem) || error.status === 404 || error.code === 'internal_error') {
      throw error
    }
    return { fault: faultOf(error), done: null }
  }
}
