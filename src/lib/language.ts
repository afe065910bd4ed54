/** The languages of mails and pages. */
export type Language = 'pt' | 'en'

const LANGUAGES: Language[] = ['pt', 'en']
/** More languages than any browser sends. The rest of the header is not read. */
const MAX_ACCEPTED = 20

export const isLanguage = (text: unknown): text is Language => LANGUAGES.includes(text as Language)

/** The one of our languages that an Accept-Language prefers; null if it names none of them. */
export function acceptedLanguage(header: string | undefined): Language | null {
  if (!header) return null
  const accepted = header.split(',', MAX_ACCEPTED).map((entry) => {
    const [tag = '', ...parameters] = entry.split(';').map((part) => part.trim().toLowerCase())
    const quality = parameters.find((part) => part.startsWith('q='))?.slice(2)
    return { language: tag.split('-')[0], quality: quality === undefined ? 1 : Number(quality) }
  })
  const known = accepted.filter(({ language, quality }) => isLanguage(language) && quality > 0)
  const [best] = known.sort((a, b) => b.quality - a.quality)
  return (best?.language as Language | undefined) ?? null
}

/** How answers name a language. */
export const LANGUAGE_TAGS: Record<Language, string> = { pt: 'pt-BR', en: 'en' }
