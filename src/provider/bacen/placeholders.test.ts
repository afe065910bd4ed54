import assert from 'node:assert/strict'
import { test } from 'node:test'
import { isUuid } from '../../lib/ids.ts'
import type { Account } from './connection.ts'
import { fill } from './placeholders.ts'

const ACCOUNT: Account = { branch: '0001', number: '12345-6', type: 'CORRENTE' }
const HOLDER = { clientId: 'id', appKey: 'app', account: ACCOUNT }

test('each placeholder is replaced, wherever and however often it occurs', () => {
  const template = {
    a: '{clientId}',
    b: 'x-{appKey}/{appKey}',
    c: '{account}',
    d: 'true',
    e: '{x}',
  }
  const filled = { a: 'id', b: 'x-app/app', c: '12345-6', d: 'true', e: '{x}' }
  assert.deepEqual(fill(template, HOLDER), filled)
})

test('what holds a value that there is not is left out', () => {
  const bare = { clientId: 'id', appKey: null, account: null }
  const template = { a: 'k {appKey}', b: '{account}', c: '{clientId}', d: '{uuid}{account}' }
  assert.deepEqual(fill(template, bare), { c: 'id' })
})

test('an id of a call is a new one each time', () => {
  const [first, second] = [fill({ id: '{uuid}' }, HOLDER), fill({ id: '{uuid}' }, HOLDER)]
  assert.ok(isUuid(first.id!) && isUuid(second.id!))
  assert.notEqual(first.id, second.id)
})
