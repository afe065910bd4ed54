import type { FastifyReply } from 'fastify'
import { suffixOf } from '../../lib/ids.ts'
import { notice } from '../dashboard/parts.ts'
import { frameOf } from '../dashboard/shell.ts'
import { DASHBOARD } from '../dashboard/texts.ts'
import { type Html, html } from '../html.ts'
import { sendPage } from '../layout.ts'
import { bottomBar, type Entry, sideMenu } from '../menu.ts'
import { OPERATOR, SECTIONS } from './texts.ts'
import type { OperatorPage, OperatorVisit } from './visit.ts'

/** Sends a page of the operator, with its menu. */
export function sendOperatorPage(visit: OperatorVisit, page: OperatorPage): FastifyReply {
  const { language, url } = visit
  const texts = OPERATOR[language]
  const unreached = [...visit.app.unreached].sort()
  const entries = SECTIONS.map(
    ({ name, path, icon }): Entry => ({
      href: url(path),
      label: texts.sections[name],
      short: texts.short[name] ?? texts.sections[name],
      icon,
      isHere: name === page.here,
    }),
  )
  const groups = [{ title: null, entries }]
  const words = { ...DASHBOARD[language], menu: texts.menu }
  return sendPage(visit.request, visit.reply, visit.site.assets, {
    ...frameOf(visit),
    title: page.title,
    kind: 'dashboard',
    styles: ['dashboard.css', 'lists.css', 'chart.css', ...(page.styles ?? [])],
    scripts: ['actions.js', ...(page.scripts ?? [])],
    aside: sideMenu(words, groups),
    bar: bottomBar(words, groups, entries.slice(0, 4)),
    body: html`${unreached.map((place) => notice(texts.unreached(place), 'bad'))}${page.body}`,
    ...(page.status ? { status: page.status } : {}),
  })
}

/** The name of a company, with a link to its page. */
export const companyLink = (
  { url }: Pick<OperatorVisit, 'url'>,
  id: string,
  name: string | null,
): Html => html`<a href="${url(`/companies/${suffixOf(id)}`)}">${name ?? id}</a>`
