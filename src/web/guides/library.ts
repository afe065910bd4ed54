import { existsSync } from 'node:fs'
import { readdir, readFile } from 'node:fs/promises'
import { dirname, join, posix } from 'node:path'
import { setImmediate as pause } from 'node:timers/promises'
import type { Language } from '../../lib/language.ts'
import { ownFile } from '../../lib/own-files.ts'
import { type Article, readArticle } from './markdown.ts'

const FOLDER = ownFile('docs')

/** A page of the guides. Its `file` is its path in `docs/`. */
export type Guide = Article & { file: string; path: string; language: Language; group: string }

export type Library = {
  /** In the order of the menu. */
  guides: Guide[]
  find(path: string): Guide | null
}

const INTRODUCTION = 'introducao.md'
/** It is outside of `docs/`, because it belongs to the package. */
const CLIENT = '../packages/client/README.md'
const DECISIONS = 'decisions/README.md'
/** The server of the samples, which is for a reader of these pages the one that shows them. */
const SAMPLE_SERVER = 'http://127.0.0.1:3000'
/** Where it stands for the server of the reader: not where a proxy passes on, nor in a link. */
const IN_SAMPLES = new RegExp(`(?<!proxy_pass |\\]\\()${SAMPLE_SERVER}`, 'g')

/**
 * The groups of the menu, and the files of each in their order. A folder has its files that are not
 * named before it.
 */
const GROUPS: [group: string, files: string[]][] = [
  ['Start', [INTRODUCTION, 'start.md']],
  [
    'Guides',
    ['guides/webhooks.md', 'guides/subscriptions.md', CLIENT, 'guides/dashboard.md', 'guides/'],
  ],
  ['Concepts', ['concepts/']],
  ['Reference', ['reference/']],
  ['Operation', ['operating.md', '']],
  ['Decisions', [DECISIONS, 'decisions/']],
]

/** The groups whose pages the menu lists. The decisions have a page that lists them. */
export const LISTED = GROUPS.map(([group]) => group).filter((group) => group !== 'Decisions')

export const HOME = '/guides'
export const START = `${HOME}/start`
export const DECISIONS_PATH = `${HOME}/decisions`

/** `guides/webhooks.md` is shown at `/guides/webhooks`, and the introduction at `/guides`. */
function pathOf(file: string): string {
  if (file === INTRODUCTION) return HOME
  if (file === CLIENT) return `${HOME}/client`
  if (file === DECISIONS) return DECISIONS_PATH
  return `${HOME}/${file.replace(/^guides\//, '').replace(/\.md$/, '')}`
}

/** Reads and renders all files, and lets other requests be worked on after each. */
export async function readLibrary(publicUrl: string): Promise<Library> {
  const names = await readdir(FOLDER, { recursive: true })
  const files = [...names, CLIENT]
    .map((name) => name.replaceAll('\\', '/'))
    .filter((name) => /\.md$/.test(name) && existsSync(join(FOLDER, name)))
  const guides: Guide[] = []
  for (const { file, group } of inOrder(files)) {
    const text = (await readFile(join(FOLDER, file), 'utf8')).normalize('NFC')
    const markdown = group === 'Decisions' ? text : text.replace(IN_SAMPLES, () => publicUrl)
    const article = readArticle(markdown, (href) => resolveLink(file, href, files))
    const language = file === INTRODUCTION ? 'pt' : 'en'
    guides.push({ ...article, file, path: pathOf(file), language, group })
    await pause()
  }
  const byPath = new Map(guides.map((guide) => [guide.path, guide]))
  return { guides, find: (path) => byPath.get(path) ?? null }
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

/** Links to other files become links to their pages, and those to the source become text. */
function resolveLink(from: string, href: string, files: string[]): string | null {
  const own = href.startsWith(OWN) ? posix.relative('docs', href.slice(OWN.length)) : null
  if (own === null && /^(https:\/\/|#)/.test(href)) return href
  if (href.startsWith(`${SAMPLE_SERVER}/`)) return href.slice(SAMPLE_SERVER.length)
  const [path = '', anchor] = (own ?? href).split('#')
  const file = own === null ? posix.join(posix.dirname(from), path) : path
  if (!files.includes(file)) return own === null ? null : href
  return anchor === undefined ? pathOf(file) : `${pathOf(file)}#${anchor}`
}
