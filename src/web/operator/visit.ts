import type { FastifyReply } from 'fastify'
import type { FullFront } from '../../core/full-app.ts'
import type { Asker } from '../../core/places/across.ts'
import type { DashboardPage, SignedIn } from '../dashboard/visit.ts'
import type { Section } from './texts.ts'

/** A page of the operator, without what all of them have. */
export type OperatorPage = Pick<
  DashboardPage,
  'title' | 'body' | 'status' | 'styles' | 'scripts'
> & {
  here: Section | null
}

/** An operator who is signed in. */
export type OperatorVisit = SignedIn & {
  /** Places that do not answer are left out of its lists, and named above the page. */
  app: FullFront & Required<Asker>
  /** The URL of another page of the operator, such as `/companies`. */
  url(path: string): string
  send(page: OperatorPage): FastifyReply
  /** After a form: shows another page, with a sentence about what was done. */
  redirect(path: string, done?: string): FastifyReply
}

export type OperatorRoute = {
  method: 'GET' | 'POST'
  /** After `/operator`. */
  path: string
  /** Whether the person must just have proved who they are, by their second factor. */
  confirmed?: true
  handle(visit: OperatorVisit): Promise<FastifyReply> | FastifyReply
}
