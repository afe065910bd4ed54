import assert from 'node:assert/strict'
import { argon2Sync, randomBytes } from 'node:crypto'
import { existsSync, globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { gzipSync } from 'node:zlib'
import { changesOf, PACKAGES } from '../scripts/release.ts'
import { argon2idInJavaScript } from '../src/lib/older-node.ts'

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

test('a Node without Argon2 makes the same hashes', async () => {
  const cost = { memory: 64, passes: 2, parallelism: 1, tagLength: 32 }
  for (const message of ['correct horse battery', 'São João ção 🎉']) {
    const parameters = { message, nonce: randomBytes(16), ...cost }
    assert.deepEqual(await argon2idInJavaScript(parameters), argon2Sync('argon2id', parameters))
  }
})
