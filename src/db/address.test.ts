import assert from 'node:assert/strict'
import { test } from 'node:test'
import { addressOf, splitHosts } from './address.ts'
import { cut, NoPrimary, standby } from './away.ts'
import { databaseFault } from './database-fault.ts'

test('an address with one host stays as it is', () => {
  for (const url of [
    'postgres://u:p%40@db.example.com:6432/vintem?sslmode=verify-full',
    'postgresql://%2Fvar%2Frun%2Fpostgresql/vintem',
    'https://pix.example.com/a,b',
  ]) {
    assert.deepEqual(splitHosts(url), [url])
  }
})

test('an address with several hosts is one address for each, with all the rest', () => {
  assert.deepEqual(
    splitHosts('postgres://u:p%2C@first,second:6432,[::1]:7/vintem?sslmode=verify-full'),
    [
      'postgres://u:p%2C@first/vintem?sslmode=verify-full',
      'postgres://u:p%2C@second:6432/vintem?sslmode=verify-full',
      'postgres://u:p%2C@[::1]:7/vintem?sslmode=verify-full',
    ],
  )
  assert.deepEqual(addressOf('postgres://u@first/x'), { host: 'first', port: 5432 })
  assert.deepEqual(addressOf('postgres://u@[::1]:7/x'), { host: '::1', port: 7 })
})

test('an address may ask for what we need anyway, and for nothing else', () => {
  for (const wanted of ['read-write', 'primary']) {
    assert.deepEqual(
      splitHosts(`postgres://u@a,b/x?target_session_attrs=${wanted}&sslmode=disable`),
      ['postgres://u@a/x?sslmode=disable', 'postgres://u@b/x?sslmode=disable'],
    )
  }
  assert.throws(
    () => splitHosts('postgres://u:secret@a,b/x?target_session_attrs=any'),
    (error: Error) =>
      /=any, but Vintém writes/.test(error.message) && !/secret/.test(error.message),
  )
})

test('if none of several servers accepts writes, the fault names each with its reason', () => {
  const refused = Object.assign(new Error('connect'), { code: 'ECONNREFUSED' })
  const kept = Object.assign(new Error('password authentication failed'), { code: '28P01' })
  const reasons = new Map<string, Error>([
    ['a:5432', standby()],
    ['b:1', refused],
    ['c:5432', cut()],
    ['d:5432', kept],
  ])
  const { message } = databaseFault('postgres://u:secret@a,b:1,c,d/x', new NoPrimary(reasons))
  assert.equal(
    message,
    'None of the database servers accepts writes: a:5432 is a standby, b:1 refuses connections, c:5432 does not answer, d:5432 says "password authentication failed". Start or promote one of them, or correct DATABASE_URL.',
  )
})
