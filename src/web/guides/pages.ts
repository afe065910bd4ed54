import type { Language } from '../../lib/language.ts'
import { VERSION } from '../../lib/version.ts'
import { navigation } from '../developer.ts'
import { type Html, html, type Shown } from '../html.ts'
import { icon, type Page } from '../layout.ts'
import type { Site } from '../site.ts'
import { TEXTS } from '../texts.ts'
import { DECISIONS_PATH, type Guide, HOME, LISTED, type Library } from './library.ts'
import { type Found, MAX_QUERY, type Part } from './search.ts'
import { GUIDES } from './texts.ts'

const tagOf = (language: Language): string => TEXTS[language].tag

/** A guide with the menu, its contents, and the guides before and after it. */
export function guidePage(site: Site, library: Library, guide: Guide): Page {
  const { language, title } = guide
  const body = html`${contents(guide)}
<article class="card article">
${guide.body}
${neighbours(library, guide)}
</article>`
  return { ...framed(site, library, language, guide.path), title, body }
}

/** What was found for a query. */
export function foundPage(
  site: Site,
  library: Library,
  query: string,
  { found, count }: { found: Found[]; count: number },
  language: Language,
): Page {
  const texts = GUIDES[language]
  const asked = query.slice(0, MAX_QUERY).trim()
  const title = texts.found(count, asked)
  const body = html`<section class="card article" id="found" lang="${tagOf(language)}">
<h1>${title}</h1>
${count === 0 && html`<p>${texts.hint}</p>`}
<ol class="found">${found.map((one) => foundItem(one, language))}</ol>
${count > found.length && html`<p class="soft">${texts.more(found.length)}</p>`}
</section>`
  return { ...framed(site, library, language, HOME, asked), title, body }
}

type Frame = Pick<
  Page,
  'language' | 'kind' | 'styles' | 'scripts' | 'nav' | 'aside' | 'footer' | 'data'
>

function framed(
  { app }: Site,
  library: Library,
  language: Language,
  here: string,
  query = '',
): Frame {
  const { copy, copied } = GUIDES[language]
  return {
    language,
    kind: 'guides',
    styles: ['developer.css', 'guides.css'],
    scripts: ['guides.js'],
    nav: navigation({ language, chosen: null }, 'guides', app.config.local),
    aside: menu(library, language, here, query),
    footer: html`<p>Vintém ${VERSION}</p>`,
    data: { copy, copied },
  }
}

function menu({ guides }: Library, language: Language, here: string, query: string): Html {
  const texts = GUIDES[language]
  const link = (path: string, title: string, own: Language) => {
    const isHere = path === here && query === ''
    return html`<li><a class="menu-link" href="${path}"${own !== language && html` lang="${tagOf(own)}"`}${isHere && html` aria-current="page"`}>${title}</a></li>`
  }
  const groups = LISTED.map((group) => {
    const own = guides.filter((guide) => guide.group === group)
    const links = own.map(({ path, title, language }) => link(path, title, language))
    if (group === 'Reference') links.unshift(link('/docs', texts.api, language))
    if (group === 'Operation') links.push(link(DECISIONS_PATH, texts.groups.Decisions!, language))
    return html`<p class="group" id="group-${group.toLowerCase()}">${texts.groups[group]}</p>
<ul aria-labelledby="group-${group.toLowerCase()}">${links}</ul>`
  })
  return html`<div class="side"><search><form class="search" action="${HOME}">
<label class="hide" for="q">${texts.search}</label>
<input type="search" id="q" name="q" value="${query}" maxlength="${MAX_QUERY}" placeholder="${texts.find}" autocomplete="off">
<button class="button slim" aria-label="${texts.find}">${icon('search')}</button>
</form></search>
<nav aria-label="${texts.menu}"><details class="folded"><summary>${texts.menu}</summary>
${groups}
</details></nav></div>
`
}

/** The headings of the page. */
function contents({ headings, language }: Guide): Shown {
  const shown = headings.filter(({ depth }) => depth <= 3)
  if (shown.length < 2) return null
  const { contents } = GUIDES[language]
  return html`<nav class="contents" aria-label="${contents}"><details class="folded"><summary>${contents}</summary>
<ul>${shown.map(({ id, text, depth }) => html`<li><a class="menu-link${depth === 3 && ' deep'}" href="#${id}">${text}</a></li>`)}</ul>
</details></nav>`
}

function neighbours({ guides }: Library, guide: Guide): Html {
  const at = guides.indexOf(guide)
  const texts = GUIDES[guide.language]
  const link = (to: Guide | undefined, rel: 'prev' | 'next', text: string) =>
    to &&
    html`<a class="${rel}" rel="${rel}" href="${to.path}"><span class="soft small">${text}</span><strong${to.language !== guide.language && html` lang="${tagOf(to.language)}"`}>${to.title}</strong></a>`
  return html`<nav class="neighbours" aria-label="${texts.pages}">${link(guides[at - 1], 'prev', texts.previous)}${link(guides[at + 1], 'next', texts.next)}</nav>`
}

const marked = (parts: Part[]): Html[] =>
  parts.map(({ text, isMatch }) => (isMatch ? html`<mark>${text}</mark>` : html`${text}`))

function foundItem({ guide, section, heading, passage }: Found, language: Language): Html {
  const address = section.id === null ? guide.path : `${guide.path}#${section.id}`
  const title = section.id !== null && html`<span class="soft small">${guide.title}</span>`
  const lang = guide.language !== language && html` lang="${tagOf(guide.language)}"`
  return html`<li${lang}><a href="${address}">${marked(heading)}</a>${title}<p>${marked(passage)}</p></li>\n`
}
