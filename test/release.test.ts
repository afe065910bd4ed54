import assert from 'node:assert/strict'
import { argon2Sync, randomBytes } from 'node:crypto'
import { existsSync, globSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { test } from 'node:test'
import { gzipSync } from 'node:zlib'
import { parse } from 'yaml'
import { changesOf, PACKAGES } from '../scripts/release.ts'
import { readConfig } from '../src/config.ts'
import { argon2idInJavaScript } from '../src/lib/older-node.ts'
import { findUnsafe } from '../src/safety.ts'
import { temporaryFolder } from './support/process.ts'

const ROOT = join(import.meta.dirname, '..')
const read = (path: string) => readFileSync(join(ROOT, path), 'utf8')

test('files of ours are found by names of package.json, each of which is used', () => {
  const { imports } = JSON.parse(read('package.json')) as { imports: Record<string, string> }
  const sources = globSync('src/**/*.ts', { cwd: ROOT }).map(read).join('\n')
  for (const [name, path] of Object.entries(imports)) {
    assert.ok(existsSync(join(ROOT, path)), path)
    assert.ok(sources.includes(`'${name}'`), name)
  }
  const elsewhere = globSync('src/**/*.ts', { cwd: ROOT })
    .filter((path) => !path.endsWith('.test.ts'))
    .filter((path) => /import\.meta\.(dirname|url|filename)/.test(read(path)))
  assert.deepEqual(elsewhere, [], 'these would look for files beside the bundle')
})

test('the changes of a version are its part of the changelog', () => {
  const changelog = '# Changes\n\n## Unreleased\n\n- three\n\n## 1.1.0 (2026-01-02)\n\n- two\n'
  assert.equal(changesOf('1.1.0', changelog), '## 1.1.0 (2026-01-02)\n\n- two\n')
  assert.equal(changesOf('Unreleased', changelog), '## Unreleased\n\n- three\n')
  assert.equal(changesOf('1.1', changelog), null)
  assert.ok(changesOf('Unreleased') ?? changesOf(JSON.parse(read('package.json')).version))
})

test('each package is built by a file that exports build', () => {
  for (const name of ['cli', 'client', 'element', 'medusa', 'n8n', 'vendure', 'vintem'])
    assert.ok(PACKAGES.includes(name), name)
  for (const name of PACKAGES) {
    assert.match(read(`scripts/${name}/build.ts`), /^export (async function|const) build\b/m)
  }
})

test('the custom element weighs less than 10 KB, and brings nothing with it', () => {
  const file = read('web/element.js')
  assert.ok(gzipSync(file, { level: 9 }).length < 10_000)
  assert.doesNotMatch(file, /^import |import\(/m)
  assert.equal(JSON.parse(read('packages/element/package.json')).dependencies, undefined)
})

test('a release is published with the proof of where it comes from, and without a token', () => {
  const workflow = read('.github/workflows/release.yml')
  assert.match(workflow, /id-token: write/)
  assert.match(workflow, /npm publish --provenance/)
  assert.doesNotMatch(workflow, /NODE_AUTH_TOKEN|secrets\./)
})

test('nothing is published before all quick tests have passed', () => {
  const { jobs } = parse(read('.github/workflows/release.yml'))
  assert.equal(jobs.test.uses, './.github/workflows/test.yml')
  assert.equal(jobs.publish.needs, 'test')
  assert.match(read('.github/workflows/test.yml'), /run: \.ci\/run$/m)
  assert.match(read('.github/workflows/test.yml'), /^ {2}workflow_call:$/m)
})

/** The packages of each row of the page: a folder with a package.json, and names in it. */
const TRIED: Record<string, [folder: string, ...names: string[]]> = {
  '`@hey-api/openapi-ts`': ['test/ecosystem/generators', '@hey-api/openapi-ts'],
  Bruno: ['test/ecosystem/bruno', '@usebruno/cli'],
  Express: ['test/ecosystem/receivers', 'express'],
  Fastify: ['test/ecosystem/receivers', 'fastify'],
  'Kubernetes’ schemas (`kubernetes-models`)': ['test/ecosystem/helm', 'kubernetes-models'],
  'Medusa, with PostgreSQL and without Redis': ['test/ecosystem/medusa', '@medusajs/medusa'],
  'n8n, on PostgreSQL': ['test/ecosystem/n8n', 'n8n'],
  'n8n’s tool `@n8n/node-cli`': ['packages/n8n-nodes-vintem', '@n8n/node-cli'],
  Nest: ['test/ecosystem/receivers', '@nestjs/core'],
  newman: ['test/ecosystem/newman', 'newman'],
  Next: ['test/ecosystem/receivers', 'next'],
  '`openapi-typescript`, with `openapi-fetch`': ['test/ecosystem/generators', 'openapi-typescript'],
  'orval, with axios': ['test/ecosystem/generators', 'orval'],
  'React, built by Vite': ['test/ecosystem/element', 'react', 'vite'],
  'Vendure, with PostgreSQL': ['test/ecosystem/vendure', '@vendure/core'],
  verdaccio: ['test/ecosystem/release', 'verdaccio'],
  'Vue, built by Vite': ['test/ecosystem/element', 'vue', 'vite'],
}
/** These come from Debian. */
const OF_DEBIAN = /^(buildah|Helm)/

test('the page of the ecosystem has the versions that are tried, and leaves out no program', () => {
  const page = read('docs/reference/ecosystem.md').replaceAll("'", '’')
  const rows = [...page.matchAll(/^\| (.+?) \| (\d\S*(?:, \d\S*)*) \|/gm)]
  const shown = Object.fromEntries(rows.map(([, program, versions]) => [program, versions]))
  const wanted = Object.entries(TRIED).map(([program, [folder, ...names]]) => {
    const { dependencies, devDependencies } = JSON.parse(read(`${folder}/package.json`))
    const versions = names.map((name) => ({ ...dependencies, ...devDependencies })[name])
    return [program, versions.join(', ')]
  })
  const others = Object.entries(shown).filter(([program]) => !OF_DEBIAN.test(program))
  assert.deepEqual(Object.fromEntries(others), Object.fromEntries(wanted))
  const folders = globSync('test/ecosystem/*/package.json', { cwd: ROOT }).map(dirname)
  const tried = new Set(Object.values(TRIED).map(([folder]) => folder))
  assert.deepEqual(
    folders.filter((folder) => !tried.has(folder)),
    [],
  )
})

test('compose gives a server each setting that it refuses to miss, and no other', () => {
  const { services } = parse(read('deploy/container/compose.yaml'))
  const { image, build, environment, ports } = services.vintem
  assert.deepEqual([image, build.dockerfile], ['vintem', 'deploy/container/Containerfile'])
  assert.equal(services.vintem.read_only, true)
  // What trusts the networks of Docker must be reached by this machine alone.
  assert.deepEqual(ports, ['127.0.0.1:3000:3000'])
  const own: Record<string, string> = {
    PUBLIC_URL: 'https://pix.example.com',
    SECRET_KEY: randomBytes(32).toString('base64'),
    SMTP_URL: 'smtps://mail.example.com',
    POSTGRES_PASSWORD: randomBytes(24).toString('hex'),
  }
  const fill = (text: string) => text.replace(/\$\{(\w+):\?\}/g, (_, name) => own[name]!)
  const given: [string, string][] = Object.entries<string>(environment).map(([name, text]) => [
    name,
    fill(text),
  ])
  const start = (settings: [string, string][]) =>
    findUnsafe(readConfig({ DATA_DIR: temporaryFolder(), ...Object.fromEntries(settings) }))
  assert.deepEqual(start(given), [])
  const isNeeded = (name: string) => {
    try {
      return start(given.filter(([one]) => one !== name)).length > 0
    } catch {
      return true
    }
  }
  const needless = given.map(([name]) => name).filter((name) => !isNeeded(name))
  assert.deepEqual(needless, ['TRUSTED_PROXIES'])
})

test('a Node without Argon2 makes the same hashes', async () => {
  const cost = { memory: 64, passes: 2, parallelism: 1, tagLength: 32 }
  for (const message of ['correct horse battery', 'São João ção 🎉']) {
    const parameters = { message, nonce: randomBytes(16), ...cost }
    assert.deepEqual(await argon2idInJavaScript(parameters), argon2Sync('argon2id', parameters))
  }
})
