import assert from 'node:assert/strict'
import { existsSync, globSync, readFileSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { test } from 'node:test'
import { isValidTaxId, plainTaxId } from '../src/pix/tax-id.ts'

const ROOT = join(import.meta.dirname, '..')

/** Paths in backticks, and constants before the file that has them. */
const NAMED_PATH = /`((?:src|test|web|migrations|packages|scripts)\/[\w./-]*)`/g
const NAMED_CONSTANT = /`([A-Z][A-Z0-9_]+)` (?:\(|in\s+)`(src\/[\w./-]+)`/g

/** Every block that puts a proxy in front of the service; the pages in Portuguese have the same. */
const proxies = globSync('docs/**/*.md', { cwd: ROOT, exclude: ['docs/pt/**'] }).flatMap((path) =>
  [...readFileSync(join(ROOT, path), 'utf8').matchAll(/^```\w*\n([\s\S]*?)^```$/gm)]
    .map(([, text]) => text!)
    .filter((text) => /proxy_pass|reverse_proxy/.test(text)),
)

test('no sample of a proxy publishes the port of operators', () => {
  const kinds = new Set(proxies.map((text) => text.split('\n')[0]))
  assert.deepEqual([...kinds], ['# nginx', '# Caddy'])
  for (const text of proxies) {
    assert.match(text, /127\.0\.0\.1:3000\b/)
    assert.doesNotMatch(text, /metrics|OPERATOR/)
  }
})

const records = globSync('docs/decisions/0*.md', { cwd: ROOT }).sort()
const textOf = (path: string) => readFileSync(join(ROOT, path), 'utf8')

test('every path that the architecture page and the decision records name exists', () => {
  const missing = ['docs/architecture.md', ...records].flatMap((page) => {
    const named = [...textOf(page).matchAll(NAMED_PATH)].map(([, path]) => path!)
    return named.filter((path) => !existsSync(join(ROOT, path))).map((path) => `${page}: ${path}`)
  })
  assert.ok(records.length > 10)
  assert.deepEqual(missing, [])
})

test('the architecture page names every package', () => {
  const page = textOf('docs/architecture.md')
  const folders = globSync('packages/*', { cwd: ROOT })
  assert.ok(folders.length > 5)
  assert.deepEqual(
    folders.filter((folder) => !page.includes(`\`${folder}/\``)),
    [],
  )
})

test('every constant that a decision record names with a file is in that file', () => {
  const named = records.flatMap((page) => [...textOf(page).matchAll(NAMED_CONSTANT)])
  assert.ok(named.length > 30)
  const missing = named.filter(
    ([, name, path]) => !new RegExp(`\\bconst ${name}\\b`).test(textOf(path!)),
  )
  assert.deepEqual(
    missing.map(([text]) => text),
    [],
  )
})

// The changelog names what there was at its time.
const pages = globSync(['*.md', 'docs/**/*.md', 'packages/*/*.md'], { cwd: ROOT }).filter(
  (path) => path !== 'CHANGELOG.md',
)

/** Every link from one document to another, as GitHub resolves it. */
const links = pages.flatMap((page) =>
  [...textOf(page).matchAll(/\]\((?!https?:|mailto:|\/)([^)#\s]*)(?:#([^)\s]+))?[^)]*\)/g)].map(
    ([, path, anchor]) => ({
      page,
      target: path ? join(dirname(page), path) : page,
      anchor,
      text: `${page} → ${path}${anchor === undefined ? '' : `#${anchor}`}`,
    }),
  ),
)
const textsOf = (list: typeof links) => list.map(({ text }) => text)

/** The anchors of the headings of a page, as GitHub names them. */
const anchorsOf = (page: string): string[] =>
  [...textOf(page).matchAll(/^#+ (.+)$/gm)].map(([, heading]) =>
    heading!
      .replace(/\]\([^)]*\)/g, '')
      .toLowerCase()
      .replace(/[^\p{L}\p{N}\s_-]/gu, '')
      .replaceAll(' ', '-'),
  )

test('every link between documents leads to a file, and to a heading of it', () => {
  assert.deepEqual(textsOf(links.filter(({ target }) => !existsSync(join(ROOT, target)))), [])
  const lost = links.filter(
    ({ target, anchor }) =>
      anchor !== undefined && !anchorsOf(target).includes(decodeURIComponent(anchor)),
  )
  assert.deepEqual(textsOf(lost), [])
})

test('a page in Portuguese leads to pages in Portuguese', () => {
  const portugueseOf = (path: string) =>
    path === 'packages/client/README.md'
      ? 'docs/pt/guides/client.md'
      : path.replace(/^docs\/(?!pt\/)/, 'docs/pt/')
  const foreign = links.filter(({ page, target }) => {
    const other = portugueseOf(target)
    return (
      /^docs\/pt\/|pt-BR/.test(page) &&
      other !== target &&
      target.endsWith('.md') &&
      existsSync(join(ROOT, other))
    )
  })
  assert.deepEqual(textsOf(foreign), [])
})

test('no decision is named that is gone', () => {
  const numbers = new Set(records.map((path) => Number(/(\d{4})-/.exec(path)![1])))
  const code = globSync('{src,test,bench,scripts,packages}/**/*.{ts,mjs}', { cwd: ROOT })
  const gone = [...pages, ...code]
    .filter((path) => !path.includes('node_modules'))
    .flatMap((path) =>
      [...textOf(path).matchAll(/\bdecision (\d+)\b|decisions\/0*(\d+)-/gi)]
        .filter(([, number, file]) => !numbers.has(Number(number ?? file)))
        .map(([text]) => `${path}: ${text}`),
    )
  assert.deepEqual(gone, [])
})

/** Who reads the guides of a server, or of the last release, has no clone. */
const NOT_INSTALLABLE =
  /not (?:yet )?on\s+npm|on\s+npm\s+yet|não est(?:á|ão)\s+no\s+npm|(?:never run|nunca rode) `npx vintem|client:build/

test('no page says that a package cannot be installed, and the first command needs no clone', () => {
  const pages = globSync(['README*.md', 'docs/**/*.md', '{packages,scripts}/*/README.md'], {
    cwd: ROOT,
    exclude: ['docs/decisions/**'],
  })
  assert.deepEqual(
    pages.filter((path) => NOT_INSTALLABLE.test(textOf(path))),
    [],
  )
  for (const path of [
    'README.md',
    'README.pt-BR.md',
    'docs/introduction.md',
    'docs/pt/introduction.md',
  ]) {
    const [, first] = /```sh\n([\s\S]*?)```/.exec(textOf(path))!
    assert.equal(first, 'npx vintem start\n', path)
    assert.ok(textOf(path).includes('`npm install @vintem/client`'), path)
  }
})

test('the list of decisions has all of them', () => {
  const list = textOf('docs/decisions/README.md')
  assert.deepEqual(
    records.filter((path) => !list.includes(`(${basename(path)})`)),
    [],
  )
})

/** The one sample that a live company refuses; `docs/guides/testing.md` says so. */
const REFUSED = '12345678901'

test('all samples have tax ids that a live company accepts, and one that it refuses', () => {
  const files = globSync(
    [
      '*.md',
      'docs/*.md',
      'docs/guides/*.md',
      'docs/pt/**/*.md',
      'packages/client/*.md',
      'src/http/routes/*.ts',
      'src/cli/**/*.ts',
      'examples/**/*.*',
    ],
    { cwd: ROOT },
  )
  const named = files.flatMap((path) => {
    const text = readFileSync(join(ROOT, path), 'utf8')
    return [...text.matchAll(/taxId\W{1,8}?(\w[\w./-]{10,17})\b/g)].map(([, taxId]) => ({
      path,
      taxId: plainTaxId(taxId!),
    }))
  })
  const samples = named.filter(({ taxId }) => /^\w*\d{2}$/.test(taxId))
  assert.ok(samples.length > 20)
  assert.deepEqual(
    samples.filter(({ taxId }) => !isValidTaxId(taxId)),
    [],
  )
  const guide = readFileSync(join(ROOT, 'docs/guides/testing.md'), 'utf8')
  assert.match(guide, new RegExp(`\`${REFUSED}\` \\| 400`))
  assert.equal(isValidTaxId(REFUSED), false)
})
