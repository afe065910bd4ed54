import type { FastifyRequest } from 'fastify'
import type { Language } from '../lib/language.ts'

const LANGUAGES: Language[] = ['pt', 'en']
/** More languages than any browser sends; the rest of the header is not read. */
const MAX_WISHES = 20

const isLanguage = (text: unknown): text is Language => LANGUAGES.includes(text as Language)

/** The language of a page, and whether the visitor chose it there or it was worked out. */
export type Spoken = { language: Language; chosen: Language | null }

/** The language that the `lang` of a query or of a form names, if any. */
export function chosenLanguage(fields: unknown): Language | null {
  const { lang } = (fields ?? {}) as { lang?: unknown }
  return isLanguage(lang) ? lang : null
}

/** The language that a browser prefers among ours, null when it names none of them. */
export function acceptedLanguage(header: string | undefined): Language | null {
  const wishes = (header ?? '').split(',', MAX_WISHES).map((wish) => {
    const [tag = '', ...parameters] = wish.split(';').map((part) => part.trim().toLowerCase())
    const quality = parameters.find((part) => part.startsWith('q='))?.slice(2)
    return { language: tag.split('-')[0], quality: quality === undefined ? 1 : Number(quality) }
  })
  const known = wishes.filter(({ language, quality }) => isLanguage(language) && quality > 0)
  const [best] = known.sort((a, b) => b.quality - a.quality)
  return (best?.language as Language | undefined) ?? null
}

/** What `?lang=` says, else what the browser prefers, else the language of whose page it is. */
export const languageOf = (request: FastifyRequest, otherwise: Language = 'pt'): Language =>
  chosenLanguage(request.query) ?? acceptedLanguage(request.headers['accept-language']) ?? otherwise

export const spokenOf = (request: FastifyRequest, otherwise: Language): Spoken => ({
  language: languageOf(request, otherwise),
  chosen: chosenLanguage(request.query),
})

/** The address in the language that was chosen, or as it is when none was. */
export const inLanguage = (path: string, chosen: Language | null): string =>
  chosen === null ? path : `${path}${path.includes('?') ? '&' : '?'}lang=${chosen}`
