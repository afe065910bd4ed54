import assert from 'node:assert/strict'
import { globSync, readFileSync } from 'node:fs'
import { dirname, join, relative } from 'node:path'
import { test } from 'node:test'

const ROOT = join(import.meta.dirname, '..')
const CODE = ['src/**/*.ts', 'test/**/*.ts', 'bench/**/*.ts', 'scripts/**/*.ts']
const PACKAGES = ['packages/*/src/*.{ts,js}', 'packages/*/{nodes,credentials}/**/*.ts']
const sources = globSync([...CODE, ...PACKAGES], { cwd: ROOT, exclude: ['**/node_modules'] }).sort()
const textOf = (path: string) => readFileSync(join(ROOT, path), 'utf8')
const product = sources.filter((path) => path.startsWith('src/') && !/\.test/.test(path))

test('no file is longer than 600 lines', () => {
  const long = sources.filter((path) => textOf(path).split('\n').length > 601)
  assert.deepEqual(long, [])
})

test('no line of code is wider than 100 columns, texts aside', () => {
  const wide = sources.flatMap((path) =>
    textOf(path)
      .split('\n')
      .filter((line) => line.length > 100 && !/['"`]/.test(line))
      .map((line) => `${path}: ${line.trim()}`),
  )
  assert.deepEqual(wide, [])
})

test('no function is longer than 70 lines', () => {
  const named = '(?:export )?(?:async )?function'
  const arrow = '(?:export )?const \\w+ = (?:async )?\\([^()]*\\).*=> \\{$'
  const start = new RegExp(`^( *)(?:${named}|${arrow})`)
  const long = product.flatMap((path) => {
    const lines = textOf(path).split('\n')
    return lines.flatMap((line, i) => {
      const found = start.exec(line)
      if (!found) return []
      const indent = found[1] ?? ''
      const length = lines.slice(i).indexOf(`${indent}}`)
      return length > 70 ? [`${path}: ${line.trim()}`] : []
    })
  })
  assert.deepEqual(long, [])
})

/** Imports point one way: a folder may use those of its own rank or below. */
const RANK: [folder: string, rank: number][] = [
  ['packages/', 0],
  ['src/lib/', 0],
  ['src/pix/', 1],
  ['src/db/', 2],
  ['src/provider/', 3],
  ['src/config.ts', 3],
  ['src/ledger/', 3],
  ['src/core/', 4],
  ['src/versions/', 4],
  ['src/http/', 5],
  ['src/worker/', 5],
  ['src/web/', 5],
  ['src/', 6],
]
const rankOf = (path: string) => RANK.find(([folder]) => path.startsWith(folder))![1]

test('imports point one way: main → http, worker, cli → core → ledger, provider → db → pix → lib', () => {
  const upward = product.flatMap((path) => {
    const imports = [...textOf(path).matchAll(/from '(\.[^']+)'/g)].map(([, target]) =>
      relative(ROOT, join(ROOT, dirname(path), target!)),
    )
    return imports
      .filter((target) => rankOf(target) > rankOf(path))
      .map((target) => `${path} → ${target}`)
  })
  assert.deepEqual(upward, [])
})

test('the pages do not know the API and agents, and those do not know the pages', () => {
  const crossing = product.filter((path) => {
    const isEdge = /^src\/(web|http|mcp)\//.test(path)
    const others = path.startsWith('src/web/') ? '(?:http|mcp)' : 'web'
    return isEdge && new RegExp(`from '(?:\\.\\./)+${others}/`).test(textOf(path))
  })
  assert.deepEqual(crossing, [])
})

test('a package knows nothing of the service', () => {
  const packages = sources.filter((path) => path.startsWith('packages/'))
  assert.deepEqual(
    packages.filter((path) => /from '[./]*\/(src|test)\//.test(textOf(path))),
    [],
  )
})

test('a noun never calls the commands of another noun', () => {
  const crossing = product.flatMap((path) => {
    const noun = /^src\/core\/([\w-]+)\//.exec(path)?.[1]
    if (!noun) return []
    return [...textOf(path).matchAll(/from '\.\.\/([\w-]+)\/commands\.ts'/g)]
      .filter(([, other]) => other !== noun)
      .map(([, other]) => `${path} → ${other}`)
  })
  assert.deepEqual(crossing, [])
})

/** Where it is, where providers are created, and what core makes of it. */
const SIMULATOR_USERS = [
  'src/provider/simulator/',
  'src/provider/providers.ts',
  'src/app.ts',
  'src/core/simulated-bank/',
]

test('only core/simulated-bank imports from the simulator', () => {
  const users = product.filter(
    (path) =>
      !SIMULATOR_USERS.some((user) => path.startsWith(user)) &&
      /from '[^']*\/simulator\//.test(textOf(path)),
  )
  assert.deepEqual(users, [])
})

test('only its command imports the moving of companies', () => {
  const users = product.filter(
    (path) => !path.startsWith('src/core/moves/') && /from '[^']*\/moves\//.test(textOf(path)),
  )
  assert.deepEqual(users, ['src/cli/place-move.ts'])
})

test('only charges/record.ts changes a charge', () => {
  const writing = product
    .filter((path) => path !== 'src/core/charges/record.ts')
    .filter((path) => /\bupdate charges\b/.test(textOf(path)))
  assert.deepEqual(writing, [])
})

test('only the ledger names its tables', () => {
  const naming = product.filter(
    (path) =>
      !path.startsWith('src/ledger/') &&
      /\b(from|into|update|join|table)\s+(postings|balances)\b/.test(textOf(path)),
  )
  assert.deepEqual(naming, [])
})

test('only config.ts reads the environment', () => {
  const readers = product.filter(
    (path) => path !== 'src/config.ts' && textOf(path).includes('process.env'),
  )
  assert.deepEqual(readers, [])
})

test('no folder or file is named after what it vaguely helps with', () => {
  const vague = sources.filter((path) => /(^|\/)(utils?|helpers?|managers?|services)\b/.test(path))
  assert.deepEqual(vague, [])
})

/** Objects, and arrays without brackets in them of which no method makes something else. */
const SPREAD_LITERAL = /(?<=[\s([{])\.\.\.(?:\(?\{|\(\[[^.]|\[[^[\]]*\](?!\s*\.))/g

test('literals are written out, and not spread to save lines', () => {
  const found = sources
    .filter((path) => path !== 'test/tidy.test.ts')
    .flatMap((path) =>
      [...textOf(path).matchAll(SPREAD_LITERAL)].map(([text]) => `${path}: ${text}`),
    )
  assert.deepEqual(found, [])
})

test('of a file with long tests some are in npm test, unless its name says that it is long', () => {
  const files = sources.filter((path) => path.endsWith('.test.ts'))
  const isLong = (path: string) => path.endsWith('.long.test.ts')
  const wrong = files.filter((path) => {
    const text = textOf(path)
    if (isLong(path)) return text.includes('/support/long.ts')
    return /^ *longTest\(/m.test(text) && !/^ *test\(/m.test(text)
  })
  assert.deepEqual(wrong, [])
  const { scripts } = JSON.parse(textOf('package.json')) as { scripts: Record<string, string> }
  assert.match(scripts['test:long']!, /test\/run\.ts --long$/)
})

test('the server and both ways to a command keep what is compiled in one folder', () => {
  const texts = [textOf('package.json'), textOf('bin/vintem.mjs')].join('\n')
  const folders = texts.match(/(?<=NODE_COMPILE_CACHE(=|: '))[\w./]+/g)
  assert.deepEqual(folders, Array(3).fill('node_modules/.cache/compiled'))
})
