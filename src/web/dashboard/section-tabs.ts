import type { Needs } from '../../core/people/rules.ts'
import { type Html, html } from '../html.ts'
import type { Visit } from './visit.ts'

export type SectionTab = { path: string; title: string; needs: Needs }

/** Links between the pages of one section. Those that the person may not see are left out. */
export function sectionTabs(visit: Visit, label: string, all: SectionTab[], here: string): Html {
  const current = html` aria-current="page"`
  const link = ({ path, title }: SectionTab) =>
    html`<a href="${visit.url(path)}"${path === here && current}>${title}</a>`
  return html`<nav class="section-tabs" aria-label="${label}">${all.filter(({ needs }) => visit.can(needs)).map(link)}</nav>`
}
