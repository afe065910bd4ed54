import assert from 'node:assert/strict'
import { test } from 'node:test'
import { findWrongSettings } from './checks.ts'

const STOCK = { jit: 'off', autovacuum: 'on', track_counts: 'on', enable_indexscan: 'on' }
const harms = (changed: Record<string, string>, poolSize = 10, processes = 1) => {
  const values = new Map(Object.entries({ ...STOCK, max_connections: '100', ...changed }))
  return findWrongSettings(values, poolSize, processes)
}

test('wrong settings are listed with the right values', () => {
  assert.deepEqual(harms({}), [])
  assert.match(harms({ jit: 'on' })[0]!, /^jit = off, or statements are compiled/)
  assert.match(harms({ autovacuum: 'off' })[0]!, /^autovacuum = on, or tables/)
  assert.equal(harms({ autovacuum: 'off', track_counts: 'off' }).length, 2)
})

test('a server needs connections for at least one process', () => {
  assert.deepEqual(harms({ max_connections: '37' }), [])
  assert.match(harms({ max_connections: '36' })[0]!, /^max_connections = 37 or more/)
  assert.match(harms({ max_connections: '100' }, 95)[0]!, /^max_connections = 207 or more/)
  const [four] = harms({ max_connections: '50' }, 10, 4)
  assert.match(four!, /^max_connections = \d+ or more, or 4 processes use them all up/)
})
