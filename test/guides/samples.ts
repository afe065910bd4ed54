import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

export const ROOT = join(import.meta.dirname, '..', '..')

/** The languages of the samples, and how a block of code names each. */
export const LANGUAGES = { curl: 'sh', TypeScript: 'ts', Python: 'python', PHP: 'php' } as const

export type Language = keyof typeof LANGUAGES

/** The same in each language. */
export type Sample = Record<Language, string>

export type Page = { path: string; text: string; samples: Sample[] }

const FENCE = '```'
const ONE = Object.entries(LANGUAGES)
  .map(([name, lang]) => `\\*\\*${name}\\*\\*\\n\\n${FENCE}${lang}\\n([\\s\\S]*?)${FENCE}\\n`)
  .join('\\n')

/** The pages in English; those in Portuguese have the same samples. A decision has none. */
const OTHERS = ['docs/decisions/**', 'docs/pt/**']
export const PAGES: Page[] = globSync('docs/**/*.md', { cwd: ROOT, exclude: OTHERS })
  .sort()
  .map((path) => {
    const text = readFileSync(join(ROOT, path), 'utf8')
    return { path, text, samples: samplesOf(text) }
  })

function samplesOf(text: string): Sample[] {
  return [...text.matchAll(new RegExp(ONE, 'g'))].map(([, curl, ts, python, php]) => ({
    curl: curl!,
    TypeScript: ts!,
    Python: python!,
    PHP: php!,
  }))
}

/** What is left of a page without its samples. */
export const withoutSamples = ({ text }: Page): string => text.replace(new RegExp(ONE, 'g'), '')

/** A file that a sample says to save, by the comment that it begins with. */
const FILE = /^(?:<\?php\n)?(?:#|\/\/) (vintem\.\w+)\n/

export const fileOf = (code: string): string | null => FILE.exec(code)?.[1] ?? null

/** The samples of a page in one language, which continue each other, as one program. */
export function programOf({ samples }: Page, language: Language): string {
  const parts = samples.map((sample) => sample[language]).filter((code) => fileOf(code) === null)
  if (language !== 'PHP') return parts.join('\n')
  return `<?php\n${parts.map((code) => code.replace(/^<\?php\n/, '')).join('\n')}`
}

export const textOf = (name: string): string =>
  PAGES.find(({ path }) => path === `docs/guides/${name}.md`)!.text

/** The blocks of code below the heading of a framework in the guide of receivers. */
export function blocksOf(framework: string): string[] {
  const sections = textOf('receive-webhooks').split(/^## /m)
  const section = sections.find((text) => text.startsWith(`${framework}\n`))!
  return [...section.matchAll(/```\w+\n([\s\S]*?)```/g)].map(([, text]) => text!)
}
