import type { FastifyReply } from 'fastify'
import { suffixOf } from '../../lib/ids.ts'
import { notice } from '../dashboard/parts.ts'
import { languageForm, personLinks } from '../dashboard/shell.ts'
import { type Html, html } from '../html.ts'
import { sendPage } from '../layout.ts'
import { OPERATOR, SECTIONS } from './texts.ts'
import type { OperatorPage, OperatorVisit } from './visit.ts'

/** Sends a page of the operator, with its menu. */
export function sendOperatorPage(visit: OperatorVisit, page: OperatorPage): FastifyReply {
  const { language, url } = visit
  const texts = OPERATOR[language]
  const unreached = [...visit.app.unreached].sort()
  const current = html` aria-current="page"`
  const menu = html`<nav class="menu" aria-label="${texts.menu}">${SECTIONS.map(
    ({ name, path }) =>
      html`<a href="${url(path)}"${name === page.here && current}>${texts.sections[name]}</a>`,
  )}</nav>`
  return sendPage(visit.request, visit.reply, visit.site.assets, {
    title: page.title,
    language,
    kind: 'dashboard',
    styles: ['dashboard.css', 'chart.css'],
    scripts: ['actions.js'],
    nav: personLinks(visit),
    aside: menu,
    body: html`${unreached.map((place) => notice(texts.unreached(place), 'bad'))}${page.body}`,
    footer: languageForm(visit),
    sameSiteReferrer: true,
    ...(page.status ? { status: page.status } : {}),
  })
}

/** The name of a company, with a link to its page. */
export const companyLink = (
  { url }: Pick<OperatorVisit, 'url'>,
  id: string,
  name: string | null,
): Html => html`<a href="${url(`/companies/${suffixOf(id)}`)}">${name ?? id}</a>`
