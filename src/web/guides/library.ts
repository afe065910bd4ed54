import { existsSync } from 'node:fs'
import { readdir, readFile } from 'node:fs/promises'
import { dirname, join, posix } from 'node:path'
import { setImmediate as pause } from 'node:timers/promises'
import type { Language } from '../../lib/language.ts'
import { ownFile } from '../../lib/own-files.ts'
import { inLanguage } from '../language.ts'
import type { Anchors, Article } from './markdown.ts'

const FOLDER = ownFile('docs')

/** A guide in one language. Its `file` is its path in `docs/`. */
export type Edition = Article & { file: string; language: Language; markdown: string }

/** A page of the guides, in each language that it is written in. */
export type Guide = { path: string; group: string; editions: Partial<Record<Language, Edition>> }

export type Library = {
  /** In the order of the menu. */
  guides: Guide[]
  find(path: string): Guide | null
  /** Where a link of an edition goes, for whom has chosen a language. */
  resolve(edition: Edition, href: string, chosen: Language | null): string | null
}

const INTRODUCTION = 'introduction.md'
/** It is outside of `docs/`, because it belongs to the package. */
const CLIENT = '../packages/client/README.md'
const DECISIONS = 'decisions/README.md'
/** The server of the samples, which is for a reader of these pages the one that shows them. */
const SAMPLE_SERVER = 'http://127.0.0.1:3000'
/** Where it stands for the server of the reader: not where a proxy passes on, nor in a link. */
const IN_SAMPLES = new RegExp(`(?<!proxy_pass |\\]\\()${SAMPLE_SERVER}`, 'g')

/** The Portuguese edition of `guides/webhooks.md` is `pt/guides/webhooks.md`. */
const PORTUGUESE = 'pt/'
/** That of the client has a place of its own. */
const PORTUGUESE_CLIENT = `${PORTUGUESE}guides/client.md`

/**
 * The groups of the menu, and the files of each in their order. A folder has its files that are not
 * named before it.
 */
const GROUPS: [group: string, files: string[]][] = [
  ['Start', [INTRODUCTION, 'start.md', 'guides/go-live.md']],
  [
    'Guides',
    [
      'guides/webhooks.md',
      'guides/receive-webhooks.md',
      'guides/subscriptions.md',
      CLIENT,
      'guides/dashboard.md',
      'guides/',
    ],
  ],
  ['Concepts', ['concepts/']],
  ['Reference', ['reference/']],
  ['Operation', ['operating.md', '']],
  ['Decisions', [DECISIONS, 'decisions/']],
]

/** The groups whose pages the menu lists. The decisions have a page that lists them. */
export const LISTED = GROUPS.map(([group]) => group).filter((group) => group !== 'Decisions')

export const HOME = '/guides'
export const DECISIONS_PATH = `${HOME}/decisions`

/** `guides/webhooks.md` is shown at `/guides/webhooks`, and the introduction at `/guides`. */
function pathOf(file: string): string {
  if (file === INTRODUCTION) return HOME
  if (file === CLIENT) return `${HOME}/client`
  if (file === DECISIONS) return DECISIONS_PATH
  return `${HOME}/${file.replace(/^guides\//, '').replace(/\.md$/, '')}`
}

const portugueseOf = (file: string): string =>
  file === CLIENT ? PORTUGUESE_CLIENT : `${PORTUGUESE}${file}`

/** The file in English, which is that of the guide. */
const originalOf = (file: string): string =>
  file === PORTUGUESE_CLIENT
    ? CLIENT
    : file.startsWith(PORTUGUESE)
      ? file.slice(PORTUGUESE.length)
      : file

/** In the language of its reader, or else in the one that it is written in. */
export const editionOf = ({ editions }: Guide, language: Language): Edition =>
  (editions[language] ?? editions.en ?? editions.pt)!

/** The same guide in the other language, if its headings are the same. */
export function twinOf({ editions }: Guide, { language, headings }: Edition): Edition | null {
  const twin = editions[language === 'pt' ? 'en' : 'pt']
  const depths = (list: Article['headings']) => list.map(({ depth }) => depth).join()
  return twin && depths(twin.headings) === depths(headings) ? twin : null
}

/** The anchors of the other language, so that an address leads to the same place in both. */
export function anchorsOf(guide: Guide, edition: Edition): Anchors {
  const twin = twinOf(guide, edition)
  const own = new Set(edition.headings.map(({ id }) => id))
  const pairs = edition.headings.map(({ id }, i) => [id, twin?.headings[i]?.id] as const)
  return new Map(
    pairs.flatMap(([id, other]) => (other === undefined || own.has(other) ? [] : [[id, other]])),
  )
}

/** Reads all files, and lets other requests be worked on after each. */
export async function readLibrary(publicUrl: string): Promise<Library> {
  const { readArticle } = await import('./markdown.ts')
  const names = await readdir(FOLDER, { recursive: true })
  const files = [...names, CLIENT]
    .map((name) => name.replaceAll('\\', '/'))
    .filter((name) => /\.md$/.test(name) && existsSync(join(FOLDER, name)))
  const read = async (file: string, language: Language): Promise<Edition> => {
    const text = (await readFile(join(FOLDER, file), 'utf8')).normalize('NFC')
    const isRecord = file.startsWith('decisions/')
    const markdown = isRecord ? text : text.replace(IN_SAMPLES, () => publicUrl)
    await pause()
    return { ...readArticle(markdown), file, language, markdown }
  }
  const guides: Guide[] = []
  for (const { file, group } of inOrder([...new Set(files.map(originalOf))])) {
    const editions: Guide['editions'] = {}
    if (files.includes(portugueseOf(file))) editions.pt = await read(portugueseOf(file), 'pt')
    if (files.includes(file)) editions.en = await read(file, 'en')
    guides.push({ path: pathOf(file), group, editions })
  }
  const byPath = new Map(guides.map((guide) => [guide.path, guide]))
  return {
    guides,
    find: (path) => byPath.get(path) ?? null,
    resolve: ({ file }, href, chosen) => resolveLink(file, href, chosen, files),
  }
}

function inOrder(files: string[]): { file: string; group: string }[] {
  const rest = new Set(files.toSorted())
  return GROUPS.flatMap(([group, paths]) =>
    paths.flatMap((path) => {
      const isIn = (file: string) =>
        path.endsWith('.md') ? file === path : dirname(file) === (path.slice(0, -1) || '.')
      const found = [...rest].filter(isIn)
      for (const file of found) rest.delete(file)
      return found.map((file) => ({ file, group }))
    }),
  )
}

/** Pages that npm shows too have whole addresses of files of ours. */
const OWN = 'https://github.com/vintem/vintem/blob/main/'

/**
 * Links to other files become links to their pages, which are shown in the language of the reader,
 * and those to the source become text.
 */
function resolveLink(
  from: string,
  href: string,
  chosen: Language | null,
  files: string[],
): string | null {
  const own = href.startsWith(OWN) ? posix.relative('docs', href.slice(OWN.length)) : null
  if (own === null && /^(https:\/\/|#)/.test(href)) return href
  if (href.startsWith(`${SAMPLE_SERVER}/`)) return href.slice(SAMPLE_SERVER.length)
  const [path = '', anchor] = (own ?? href).split('#')
  const file = own === null ? posix.join(posix.dirname(from), path) : path
  if (!files.includes(file)) return own === null ? null : href
  const page = inLanguage(pathOf(originalOf(file)), chosen)
  return anchor === undefined ? page : `${page}#${anchor}`
}
