import type { Language } from '../lib/language.ts'
import type { Author, RecordType } from './activity/rules.ts'
import type { App } from './app.ts'
import type { Company, Scope } from './companies/rules.ts'

/**
 * Whose records are read or changed, with the app of the place they are in, what the person or
 * agent may do, and who they are.
 */
export type Actor = { app: App; company: Company; scopes: readonly Scope[]; author: Author }

/** The kind of record that an operation changes, and what it does in words. */
export type Changes = { record: RecordType } & Record<Language, string>

/** An operation of the API, as the reference names it. */
export type Operation = {
  operationId: string
  method: string
  path: string
  changes?: Changes | undefined
}

export type OperationInput = {
  params?: Record<string, string>
  /** As in a URL: every value is a text. */
  query?: Record<string, string>
  body?: object
  /** The text that one change has for itself. If it is sent again, nothing is done again. */
  once?: string | undefined
}

/**
 * What the operation answers, the cursor of the next page if it is a list, and whether it was done
 * before and this is the answer of that time.
 */
export type Operated<Data> = { data: Data; next: string | null; isRepeated: boolean }

/** Carries out an operation of the API, by its operationId. It throws what the API answers. */
export type Operate = <Data>(
  operationId: string,
  actor: Actor,
  input?: OperationInput,
) => Promise<Operated<Data>>

/**
 * Does what is no operation of the API once for each text. If it is asked for again, it answers
 * what it answered before. `act` must be repeatable, because it commits by itself.
 */
export type ActOnce = <Data>(
  app: App,
  company: Company,
  asked: { name: string; input: object; once: string },
  act: () => Promise<Data>,
) => Promise<Data>
