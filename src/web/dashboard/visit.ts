import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Author, Changed, Details, OwnAction } from '../../core/activity/rules.ts'
import type { Company, Scope } from '../../core/companies/rules.ts'
import type { Waiting } from '../../core/figures/waiting.ts'
import type { FullApp } from '../../core/full-app.ts'
import type { Operated, OperationInput } from '../../core/operate.ts'
import type { Needs, Person, Role, Session } from '../../core/people/rules.ts'
import type { ControlTx, Tx } from '../../db/database.ts'
import type { Language } from '../../lib/language.ts'
import type { Html } from '../html.ts'
import type { Page } from '../layout.ts'
import type { Form, Site } from '../site.ts'
import type { Section } from './sections.ts'

/** Somebody who is signed in, and what they ask for. */
export type SignedIn = {
  site: Site
  request: FastifyRequest
  reply: FastifyReply
  person: Person
  session: Session
  language: Language
  /** Who they are, for the activity log. */
  author: Author
  /** What the form has. Empty if the page is only looked at. */
  form: Form
  params: Record<string, string>
  query: Record<string, string | undefined>
  /**
   * Adds a change of the person's own access, such as a new password, to the activity log of each
   * company that they belong to. Call it in the transaction of the change.
   */
  recordOwn(control: ControlTx, action: OwnAction, details?: Details): Promise<void>
  /** A form of this session. It has the fields without which it is refused. */
  formOf(action: string, content: Html, options?: FormOptions): Html
}

export type FormOptions = {
  /** A class. */
  kind?: string
  /** For forms with a file. */
  hasFile?: boolean
  /** Whether `form.js` checks its fields and writes punctuation. */
  isChecked?: boolean
}

/** A page of the dashboard, without what all of them have. */
export type DashboardPage = Pick<Page, 'title' | 'body' | 'status' | 'data'> & {
  /** The section that the menu marks, if the page is of one. */
  here: Section | null
  /** Scripts of this page in `web/`, beside `actions.js`. */
  scripts?: string[]
  /** Style sheets of this page in `web/`, beside `dashboard.css`. */
  styles?: string[]
}

/** Somebody who is signed in at a page of one company. */
export type Visit = SignedIn & {
  /** With the company's clock and its share of the database. */
  app: FullApp
  company: Company
  role: Role
  /** What waits for the company's people, for the numbers in the menu. */
  waiting: Waiting
  scopes: readonly Scope[]
  /** Whether the person may see or do what needs this. */
  can(needs: Needs): boolean
  /** Carries out an operation of the API as this person. */
  operate<Data>(operationId: string, input?: OperationInput): Promise<Operated<Data>>
  /**
   * Adds a change to the activity log of the company, as made by this person. Call it in the
   * transaction of the change: `visit.app.db.transaction(async (tx) => { …; await visit.record(tx,
   * 'key.revoke', { type: 'key', id }) })`. `operate` has its entry already. The details name
   * changed fields, amounts or a role, never personal data or secrets. Actions and types of records
   * are listed in `src/core/activity/rules.ts`.
   */
  record(tx: Tx, action: OwnAction, record?: Changed | null, details?: Details): Promise<void>
  /** The URL of another page of this company, such as `/charges`. */
  url(path: string): string
  send(page: DashboardPage): FastifyReply
  /** After a form: shows another page of this company, with a sentence about what was done. */
  redirect(path: string, done?: string): FastifyReply
}

export type DashboardRoute = {
  method: 'GET' | 'POST'
  /** After `/dashboard/:company`. */
  path: string
  needs: Needs
  /** Whether the person must just have proved who they are, by their second factor or password. */
  confirmed?: true
  /** Whether it moves money, or protects it: a live company's people need a second factor. */
  movesMoney?: true
  /** Whether a live company's people need one although no money moves, so also when suspended. */
  needsFactor?: true
  /** The largest form, if it has a file. */
  bodyBytes?: number
  handle(visit: Visit): Promise<FastifyReply> | FastifyReply
}
