import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { mostConnections } from './connection-counts.ts'

test('the number of connections is what the documents say', () => {
  const path = join(import.meta.dirname, '../../docs/operating.md')
  const [, table] = readFileSync(path, 'utf8').split('with the default `DATABASE_POOL_SIZE`')
  const rows = [...table!.split('\n\n')[0]!.matchAll(/\| (\d+) \| (\d+) \|/g)]
  assert.equal(rows.length, 5)
  for (const [, processes, connections] of rows) {
    assert.equal(mostConnections(10, Number(processes)), Number(connections))
  }
})

test('several processes share the connections for requests, and each has two at least', () => {
  const others = (processes: number) => 11 * processes + 65
  assert.equal(mostConnections(20, 4), 20 + 20 + others(4))
  assert.equal(mostConnections(20, 16), 20 + 32 + others(16))
})
