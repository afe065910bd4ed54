import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type Edition, type Guide, readLibrary } from '../../src/web/guides/library.ts'

/** What has to be there in both languages: that of the client is served as a guide too. */
const IN_BOTH =
  /^(introduction|start|operating|runbooks|(guides|concepts)\/.*|.*client\/README)\.md$/
/** Headings that are names. */
const NAMES = ['Woovi, OpenPix', 'Banco do Brasil']

const { guides } = await readLibrary('http://127.0.0.1:3000')
const fileOf = ({ editions }: Guide) => (editions.en ?? editions.pt)!.file
const both = guides.flatMap((guide) => {
  const { pt, en } = guide.editions
  return pt && en ? [{ file: fileOf(guide), pt, en }] : []
})

test('what a Brazilian has to read is in Portuguese, and nothing is in Portuguese alone', () => {
  const missing = guides.filter(({ editions }) => editions.en && !editions.pt).map(fileOf)
  assert.deepEqual(
    missing.filter((file) => IN_BOTH.test(file)),
    [],
  )
  assert.deepEqual(guides.filter(({ editions }) => !editions.en).map(fileOf), [])
})

test('both languages of a page have the same sections, in the same order', () => {
  const sections = ({ headings }: Edition) => headings.map(({ depth }) => '#'.repeat(depth))
  for (const { file, pt, en } of both) assert.deepEqual(sections(pt), sections(en), file)
})

test('both languages of a page have the same samples', () => {
  // The words of a drawing and of a formula are translated.
  const WORDS = /│|opening|saldo inicial/
  const own = ({ samples }: Edition) => samples.filter((text) => !WORDS.test(text))
  for (const { file, pt, en } of both) assert.deepEqual(own(pt), own(en), file)
})

test('both languages of a page have the same tables and lists', () => {
  const rows = ({ markdown }: Edition) => markdown.match(/^\|/gm)?.length ?? 0
  const items = ({ markdown }: Edition) => markdown.match(/^ *(?:[-*]|\d+\.) /gm)?.length ?? 0
  for (const { file, pt, en } of both) {
    assert.deepEqual([rows(pt), items(pt)], [rows(en), items(en)], file)
  }
})

test('no heading of a page is left in the other language', () => {
  const own = ({ headings }: Edition) => headings.map(({ text }) => text)
  const same = both.flatMap(({ file, pt, en }) =>
    own(pt)
      .filter((text, i) => text === own(en)[i] && /\s/.test(text) && !NAMES.includes(text))
      .map((text) => `${file}: ${text}`),
  )
  assert.deepEqual(same, [])
})
