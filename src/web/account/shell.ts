import type { FastifyReply } from 'fastify'
import { sendOwnPage } from '../dashboard/shell.ts'
import type { SignedIn } from '../dashboard/visit.ts'
import type { Page } from '../layout.ts'

/** Sends a page of somebody's own account. */
export const sendAccountPage = (
  visitor: SignedIn,
  page: Pick<Page, 'title' | 'body' | 'status' | 'scripts' | 'data'>,
): FastifyReply => sendOwnPage(visitor, { ...page, styles: ['account.css'] })
