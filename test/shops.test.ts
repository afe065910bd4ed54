import assert from 'node:assert/strict'
import { readdirSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { payerOfSession } from '../packages/medusa-payment-vintem/src/charge.ts'
import { stateOf } from '../packages/shop/src/charge.ts'
import { temporaryFolder } from './support/process.ts'

const MAX_BYTES = 90_000
/** As the map of a script names what it is made of. */
const SOURCE = /^(\.\.\/)*(shop\/)?src\//

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
  assert.deepEqual(payerOfSession(undefined, customer), known)
  assert.deepEqual(payerOfSession({ name: 'João' }, customer), { ...known, name: 'João' })
  assert.deepEqual(payerOfSession({ taxId: '12345678909' }, undefined), { taxId: '12345678909' })
})

const PLUGINS = {
  medusa: ['.medusa/server/src/index.js', '.medusa/server/src/jobs/pull-vintem-payments.js'],
  vendure: ['index.js'],
}

for (const [shop, wanted] of Object.entries(PLUGINS)) {
  test(`the package for ${shop} has what the shop looks for, the client, and little else`, async () => {
    const folder = temporaryFolder()
    const { build } = await import(`../scripts/${shop}/build.ts`)
    await build(folder)
    const { version, dependencies } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'))
    assert.deepEqual(dependencies, { '@vintem/client': version })
    const files = readdirSync(folder, { recursive: true, encoding: 'utf8' })
    const stats = files.map((file) => statSync(join(folder, file)))
    const size = stats.reduce((sum, one) => sum + (one.isFile() ? one.size : 0), 0)
    assert.ok(size < MAX_BYTES, `${size} bytes`)
    const scripts = files.filter((file) => file.endsWith('.js')).sort()
    assert.deepEqual(scripts, wanted)
    const maps = scripts.map((file) => readFileSync(join(folder, `${file}.map`), 'utf8'))
    for (const map of maps) {
      assert.deepEqual(
        (JSON.parse(map).sources as string[]).filter((path) => !SOURCE.test(path)),
        [],
      )
    }
  })
}
