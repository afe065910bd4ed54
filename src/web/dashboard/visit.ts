import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Company, Scope } from '../../core/companies/rules.ts'
import type { FullApp } from '../../core/full-app.ts'
import type { Operated, OperationInput } from '../../core/operate.ts'
import type { Needs, Person, Role, Session } from '../../core/people/rules.ts'
import type { Language } from '../../lib/language.ts'
import type { Html } from '../html.ts'
import type { Page } from '../layout.ts'
import type { Form, Site } from '../site.ts'
import type { Section } from './texts.ts'

/** Somebody who is signed in, and what they ask for. */
export type SignedIn = {
  site: Site
  request: FastifyRequest
  reply: FastifyReply
  person: Person
  session: Session
  language: Language
  /** What the form has. Empty if the page is only looked at. */
  form: Form
  params: Record<string, string>
  query: Record<string, string | undefined>
  /** A form of this session. It has the fields without which it is refused. */
  formOf(action: string, content: Html, options?: FormOptions): Html
}

export type FormOptions = {
  /** A class. */
  kind?: string
  /** For forms with a file. */
  hasFile?: boolean
}

/** A page of the dashboard, without what all of them have. */
export type DashboardPage = Pick<Page, 'title' | 'body' | 'status' | 'data'> & {
  /** The section that the menu marks. */
  here: Section
  /** Scripts of this page in `web/`, beside `actions.js`. */
  scripts?: string[]
}

/** Somebody who is signed in at a page of one company. */
export type Visit = SignedIn & {
  /** With the company's clock and its share of the database. */
  app: FullApp
  company: Company
  role: Role
  scopes: readonly Scope[]
  /** Whether the person may see or do what needs this. */
  can(needs: Needs): boolean
  /** Carries out an operation of the API as this person. */
  operate<Data>(operationId: string, input?: OperationInput): Promise<Operated<Data>>
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
  /** Whether the person must just have proved who they are, by password or passkey. */
  confirmed?: true
  /** Whether it moves money, for which a live company's people need a second factor. */
  movesMoney?: true
  /** The largest form, if it is not that of the API. */
  bodyBytes?: number
  handle(visit: Visit): Promise<FastifyReply> | FastifyReply
}
