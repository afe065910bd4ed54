import assert from 'node:assert/strict'
import { mkdirSync, mkdtempSync, readFileSync, readlinkSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { OperatorFault } from '../../lib/operator-fault.ts'
import { linkLibraries } from './binaries.ts'

const folder = mkdtempSync(join(tmpdir(), 'vintem-test-'))
after(() => rmSync(folder, { recursive: true }))

function makePackage(name: string, links: { source: string; target: string }[]): string {
  const native = join(folder, name, 'native')
  mkdirSync(join(native, 'lib'), { recursive: true })
  writeFileSync(join(native, 'lib', 'libpq.so.5.18'), 'the library')
  writeFileSync(join(native, 'pg-symlinks.json'), JSON.stringify(links))
  return native
}

test('libraries of PostgreSQL are linked without the install script of their package', () => {
  const source = 'native/lib/libpq.so.5.18'
  const targets = ['native/lib/libpq.so', 'native/lib/libpq.so.5', 'native/libpq.so']
  const native = makePackage(
    'whole',
    targets.map((target) => ({ source, target })),
  )
  linkLibraries(native)
  linkLibraries(native)
  for (const target of targets) {
    assert.equal(readFileSync(join(native, '..', target), 'utf8'), 'the library')
  }
  assert.equal(readlinkSync(join(native, 'lib', 'libpq.so')), 'libpq.so.5.18', 'it can be moved')
})

test('a link that cannot be made is a fault that says who can make it', () => {
  const source = 'native/lib/libpq.so.5.18'
  const native = makePackage('closed', [{ source, target: 'native/closed/libpq.so' }])
  assert.throws(
    () => linkLibraries(native),
    (fault) => fault instanceof OperatorFault && /owns node_modules/.test(fault.message),
  )
})
