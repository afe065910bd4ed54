import type { FastifyReply } from 'fastify'
import { languageForm, personLinks } from '../dashboard/shell.ts'
import type { SignedIn } from '../dashboard/visit.ts'
import type { Page } from '../layout.ts'
import { sendPage } from '../layout.ts'

/** Sends a page of somebody's own account. */
export function sendAccountPage(
  visitor: SignedIn,
  page: Pick<Page, 'title' | 'body' | 'status' | 'scripts' | 'data'>,
): FastifyReply {
  const { site, request, reply, language } = visitor
  return sendPage(request, reply, site.assets, {
    ...page,
    language,
    scripts: ['actions.js', ...(page.scripts ?? [])],
    styles: ['dashboard.css', 'account.css'],
    nav: personLinks(visitor),
    footer: languageForm(visitor),
    sameSiteReferrer: true,
  })
}
