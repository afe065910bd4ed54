import assert from 'node:assert/strict'
import { test } from 'node:test'
import { findWrongSettings } from './settings.ts'

const STOCK = { jit: 'off', autovacuum: 'on', track_counts: 'on', enable_indexscan: 'on' }
const harms = (changed: Record<string, string>, poolSize = 10) =>
  findWrongSettings(
    new Map(Object.entries({ ...STOCK, max_connections: '100', ...changed })),
    poolSize,
  )

test('wrong settings are listed with the right values', () => {
  assert.deepEqual(harms({}), [])
  assert.match(harms({ jit: 'on' })[0]!, /^jit = off, or statements are compiled/)
  assert.match(harms({ autovacuum: 'off' })[0]!, /^autovacuum = on, or tables/)
  assert.equal(harms({ autovacuum: 'off', track_counts: 'off' }).length, 2)
})

test('a server needs connections for at least one process', () => {
  assert.deepEqual(harms({ max_connections: '36' }), [])
  assert.match(harms({ max_connections: '35' })[0]!, /^max_connections = 36 or more/)
  assert.match(harms({ max_connections: '100' }, 95)[0]!, /^max_connections = 206 or more/)
})
