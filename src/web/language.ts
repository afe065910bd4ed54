import type { FastifyRequest } from 'fastify'
import { acceptedLanguage, isLanguage, type Language } from '../lib/language.ts'

/** The language of a page, and the one that the visitor has chosen with `lang`, if any. */
export type PageLanguage = { language: Language; chosen: Language | null }

/** The language that the `lang` of a query or of a form names, if any. */
export function chosenLanguage(fields: unknown): Language | null {
  const { lang } = (fields ?? {}) as { lang?: unknown }
  return isLanguage(lang) ? lang : null
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
