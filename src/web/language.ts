import type { FastifyRequest } from 'fastify'
import type { Language } from '../lib/language.ts'

const LANGUAGES: Language[] = ['pt', 'en']
/** More languages than any browser sends. The rest of the header is not read. */
const MAX_ACCEPTED = 20

const isLanguage = (text: unknown): text is Language => LANGUAGES.includes(text as Language)

/** The language of a page, and the one that the visitor has chosen with `lang`, if any. */
export type PageLanguage = { language: Language; chosen: Language | null }

/** The language that the `lang` of a query or of a form names, if any. */
export function chosenLanguage(fields: unknown): Language | null {
  const { lang } = (fields ?? {}) as { lang?: unknown }
  return isLanguage(lang) ? lang : null
}

/** The one of our languages that the browser prefers; null if it names none of them. */
export function acceptedLanguage(header: string | undefined): Language | null {
  const accepted = (header ?? '').split(',', MAX_ACCEPTED).map((entry) => {
    const [tag = '', ...parameters] = entry.split(';').map((part) => part.trim().toLowerCase())
    const quality = parameters.find((part) => part.startsWith('q='))?.slice(2)
    return { language: tag.split('-')[0], quality: quality === undefined ? 1 : Number(quality) }
  })
  const known = accepted.filter(({ language, quality }) => isLanguage(language) && quality > 0)
  const [best] = known.sort((a, b) => b.quality - a.quality)
  return (best?.language as Language | undefined) ?? null
}

/** The language of `?lang=`, else the one that the browser prefers, else that of the company. */
export const languageOf = (request: FastifyRequest, otherwise: Language = 'pt'): Language =>
  chosenLanguage(request.query) ?? acceptedLanguage(request.headers['accept-language']) ?? otherwise

export const pageLanguageOf = (request: FastifyRequest, otherwise: Language): PageLanguage => ({
  language: languageOf(request, otherwise),
  chosen: chosenLanguage(request.query),
})

/** The path with the language that was chosen, or unchanged if none was. */
export const inLanguage = (path: string, chosen: Language | null): string =>
  chosen === null ? path : `${path}${path.includes('?') ? '&' : '?'}lang=${chosen}`
