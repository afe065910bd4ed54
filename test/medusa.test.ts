import assert from 'node:assert/strict'
import { readdirSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { payerOf, stateOf } from '../packages/medusa-payment-vintem/src/charge.ts'
import { build } from '../scripts/medusa/build.ts'
import { temporaryFolder } from './support/process.ts'

const MAX_BYTES = 60_000

const paid = { status: 'COMPLETED', total: 1990 } as const

test('a charge pays for a session only with its whole amount, and only while it has it', () => {
  assert.equal(stateOf(paid, 1990), 'paid')
  assert.equal(stateOf(paid, 1991), 'closed')
  assert.equal(stateOf(paid, 1989), 'closed')
  assert.equal(stateOf({ ...paid, shortfall: 1 }, 1990), 'closed')
  assert.equal(stateOf({ ...paid, refunded: 1 }, 1990), 'closed')
  assert.equal(stateOf({ ...paid, refunded: 1990 }, 1990), 'closed')
})

test('a charge that is not paid is open for its amount, or over', () => {
  const open = { status: 'OPEN', total: 1990 } as const
  assert.equal(stateOf(open, 1990), 'open')
  assert.equal(stateOf(open, 2990), 'closed')
  assert.equal(stateOf({ ...open, status: 'CANCELED' }, 1990), 'closed')
  assert.equal(stateOf({ ...open, status: 'EXPIRED' }, 1990), 'closed')
})

test('the payer is what the page sends, and the rest is that of the customer', () => {
  const customer = {
    first_name: 'Maria',
    last_name: 'da Silva',
    email: 'maria@example.com',
    phone: null,
    metadata: { taxId: '12345678909' },
  }
  const known = { name: 'Maria da Silva', taxId: '12345678909', email: 'maria@example.com' }
  assert.deepEqual(payerOf(undefined, customer), known)
  assert.deepEqual(payerOf({ name: 'João' }, customer), { ...known, name: 'João' })
  assert.deepEqual(payerOf({ taxId: '12345678909' }, undefined), { taxId: '12345678909' })
})

test('the package has what Medusa looks for, the client, and little else', async () => {
  const folder = temporaryFolder()
  await build(folder)
  const { version, dependencies } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'))
  assert.deepEqual(dependencies, { '@vintem/client': version })
  const files = readdirSync(folder, { recursive: true, encoding: 'utf8' })
  const stats = files.map((file) => statSync(join(folder, file)))
  const size = stats.reduce((sum, one) => sum + (one.isFile() ? one.size : 0), 0)
  assert.ok(size < MAX_BYTES, `${size} bytes`)
  const scripts = files.filter((file) => file.endsWith('.js')).sort()
  assert.deepEqual(scripts, [
    '.medusa/server/src/index.js',
    '.medusa/server/src/jobs/pull-vintem-payments.js',
  ])
  const maps = scripts.map((file) => readFileSync(join(folder, `${file}.map`), 'utf8'))
  for (const map of maps) {
    assert.deepEqual(
      (JSON.parse(map).sources as string[]).filter((path) => !/^(\.\.\/)+src\//.test(path)),
      [],
    )
  }
})
