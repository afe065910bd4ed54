import type { Author } from './activity/rules.ts'
import type { Company, Scope } from './companies/rules.ts'

/** Whose records are read or changed, what the person may do, and who they are. */
export type Actor = { company: Company; scopes: readonly Scope[]; author: Author }

/** An operation of the API, as the reference names it. */
export type Operation = { operationId: string; method: string; path: string }

export type OperationInput = {
  params?: Record<string, string>
  /** As in a URL: every value is a text. */
  query?: Record<string, string>
  body?: object
  /** The text that one form has for itself. If the form is sent again, nothing is done again. */
  once?: string | undefined
}

/** What the operation answers, and the cursor of the next page if it is a list. */
export type Operated<Data> = { data: Data; next: string | null }

/** Carries out an operation of the API, by its operationId. It throws what the API answers. */
export type Operate = <Data>(
  operationId: string,
  actor: Actor,
  input?: OperationInput,
) => Promise<Operated<Data>>
