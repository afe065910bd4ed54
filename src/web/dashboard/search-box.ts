import { type Html, html } from '../html.ts'
import { icon } from '../layout.ts'
import { SEARCH } from './search-texts.ts'
import type { Visit } from './visit.ts'

/** Longer texts find nothing. */
export const MAX_SOUGHT = 255

/** The search in the header of each page. `search.js` lets `/` and Ctrl+K lead to it. */
export function searchBox({ language, request, query, url }: Visit): Html {
  const texts = SEARCH[language]
  const action = url('/search')
  const isHere = request.url.split('?')[0] === action
  return html`<form class="find-all" method="get" action="${action}" role="search" aria-label="${texts.label}"><input type="search" id="find-all" name="q" value="${isHere && query.q}" maxlength="${MAX_SOUGHT}" aria-label="${texts.label}" placeholder="${texts.placeholder}" aria-keyshortcuts="/ Control+K" autocomplete="off" spellcheck="false"><button class="plain" title="${texts.button}">${icon('search')}<span class="hide">${texts.button}</span></button></form>`
}
