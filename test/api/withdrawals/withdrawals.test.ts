import assert from 'node:assert/strict'
import { test } from 'node:test'
import { expireDueWithdrawals } from '../../../src/worker/due.ts'
import { eventsOf, startApi } from '../../support/api.ts'
import { codeIn, lastCode, lettersOf } from '../../support/mail.ts'
import {
  answer,
  balanceOf,
  cancel,
  confirm,
  confirmed,
  line,
  OPENING,
  PATH,
  postingsOf,
  resend,
  rowOf,
  start,
  waiting,
} from '../../support/withdrawals.ts'
import { dump, stored } from '../storage.ts'

const api = await startApi()

test('a started withdrawal holds its money and sends a code by mail, nowhere else', async () => {
  const client = await api.client()
  const reply = await client.post(PATH, { value: 5000 })
  assert.equal(reply.status, 201)
  const { withdrawId: id } = reply.body.data
  assert.match(id, /^wd_[0-9a-z]{26}$/)
  assert.deepEqual(reply.body.data, { withdrawId: id })
  assert.deepEqual(await balanceOf(api, client), { available: 95_000, held: 5000 })
  assert.deepEqual(await postingsOf(api, client), [['WITHDRAWAL_HELD', id, 5000]])
  const expiresAt = new Date(api.clock.now().getTime() + 600_000)
  const row = await rowOf(api, id)
  assert.deepEqual(
    [row.status, row.destination, row.otp_expires_at, row.otp_attempts, row.otp_sent],
    ['PENDING_OTP', client.company.pixKey, expiresAt, 0, 1],
  )
  const letters = await lettersOf(api, client.company.id)
  assert.equal(letters.length, 1)
  const [letter] = letters
  assert.deepEqual(
    [letter!.kind, letter!.to, letter!.expiresAt],
    ['withdrawal-code', client.company.email, expiresAt],
  )
  assert.match(letter!.text, /R\$\s50,00/)
  assert.ok(letter!.text.includes(client.company.pixKey))
  assert.ok(!reply.text.includes(codeIn(letter!)))
  const everything = await dump(api)
  assert.doesNotMatch(everything, new RegExp(`\\b${codeIn(letter!)}\\b`), 'in no table')
  assert.deepEqual(await eventsOf(api, client.company.id), [])
})

test('starting another withdrawal names the pending one, before the balance is checked', async () => {
  const { client, id } = await waiting(api)
  const before = await stored(api)
  for (const value of [1, 999_999_999_999]) {
    const head = await client.post(PATH, { value })
    const description = line(head)
    assert.deepEqual(head.body, {
      status: 409,
      message: description,
      data: null,
      errors: [{ code: 'withdrawal_pending', description, withdrawId: id }],
    })
    const old = await client.post(PATH, { value }, { headers: { 'X-Api-Version': '2025-01-01' } })
    assert.equal(old.status, 409)
    assert.deepEqual(old.body, { statusCode: 409, message: description, withdrawId: id })
  }
  assert.deepEqual(await stored(api), before)
  await confirm(client, id, await lastCode(api, client.company.id))
  const reply = await client.post(PATH, { value: 1 })
  assert.deepEqual(answer(reply), [409, 'withdrawal_pending'], 'nor while it is paid out')
  assert.equal(reply.body.errors[0].withdrawId, id)
})

test('all that is available can be withdrawn, and not a cent more', async () => {
  const client = await api.client()
  const before = await stored(api)
  const reply = await client.post(PATH, { value: 100_001 })
  assert.deepEqual(answer(reply), [422, 'insufficient_balance'])
  assert.match(line(reply), /100001.*100000/)
  assert.deepEqual(await stored(api), before)
  await start(client, 100_000)
  assert.deepEqual(await balanceOf(api, client), { available: 0, held: 100_000 })
})

test('a value that is no number of cents is refused, and nothing is held', async () => {
  const client = await api.client()
  const before = await stored(api)
  for (const value of [0, -1, 1.5, '5000', null, true, 1e12, Number.MAX_SAFE_INTEGER, undefined]) {
    const reply = await client.post(PATH, { value })
    assert.deepEqual(answer(reply), [400, 'invalid_value'], String(value))
    assert.match(line(reply), /^value: /)
  }
  assert.deepEqual(await stored(api), before)
})

test('reading needs balance:read, and everything else balance:write', async () => {
  const reader = await api.client({}, { scopes: ['balance:read'] })
  const writer = await api.client({}, { scopes: ['balance:write'] })
  const id = await start(writer, 1)
  const refused = [
    await reader.post(PATH, { value: 1 }),
    ...(await Promise.all(
      ['confirm', 'cancel', 'resend'].map((act) => reader.post(`${PATH}/${id}/${act}`)),
    )),
    await writer.get(PATH),
    await writer.get(`${PATH}/${id}`),
  ]
  for (const reply of refused) assert.deepEqual(answer(reply), [403, 'insufficient_scope'])
  assert.equal((await reader.get(PATH)).status, 200)
})

test('an expired withdrawal makes room for the next in the same request', async () => {
  const { client, id } = await waiting(api, 80_000)
  api.clock.advance(600)
  const next = await start(client, 90_000)
  assert.equal((await rowOf(api, id)).status, 'EXPIRED')
  assert.deepEqual(await balanceOf(api, client), { available: 10_000, held: 90_000 })
  assert.deepEqual(await postingsOf(api, client), [
    ['WITHDRAWAL_HELD', id, 80_000],
    ['WITHDRAWAL_RELEASED', id, 80_000],
    ['WITHDRAWAL_HELD', next, 90_000],
  ])
})

test('a canceled withdrawal gives its money back, answers the same again and stays canceled', async () => {
  const { client, id, code } = await waiting(api)
  const first = await cancel(client, id)
  assert.equal(first.status, 200)
  assert.equal(first.body.data.status, 'CANCELED')
  assert.equal(first.body.data.finishedAt, api.clock.now().toISOString())
  assert.deepEqual(await balanceOf(api, client), OPENING)
  const before = await stored(api)
  api.clock.advance(7200)
  assert.equal((await cancel(client, id)).text, first.text)
  for (const reply of [await confirm(client, id, code), await resend(client, id)]) {
    assert.deepEqual(answer(reply), [409, 'withdrawal_not_confirmable'])
    assert.match(line(reply), /CANCELED/)
  }
  assert.deepEqual(await stored(api), before)
})

test('withdrawals are listed newest first, by status and page by page', async () => {
  const client = await api.client({ pixKey: '+5511988887777' })
  assert.deepEqual((await client.get(PATH)).body.data, [])
  const canceled = await start(client, 1)
  await cancel(client, canceled)
  const expired = await start(client, 2)
  api.clock.advance(600)
  const paying = await confirmed(api, client, 3)
  const list = async (query: string) =>
    (await client.get(`${PATH}${query}`)).body.data.map((one: { id: string }) => one.id)
  assert.deepEqual(await list(''), [paying, expired, canceled])
  assert.deepEqual(await list('?status=EXPIRED'), [expired])
  assert.deepEqual(await list('?status=PROCESSING'), [paying])
  assert.deepEqual(await list('?status=PENDING_OTP'), [])
  const first = await client.get(`${PATH}?limit=2`)
  const next = /<http:\/\/vintem\.test(.*)>/.exec(first.headers.get('link')!)![1]!
  assert.deepEqual((await client.get(next)).body.data[0].id, canceled)
  const shown = (await client.get(`${PATH}/${canceled}`)).body.data
  assert.equal(shown.destination, '(**) *****-7777')
  assert.deepEqual(answer(await client.get(`${PATH}?status=NOPE`)), [400, 'invalid_value'])
})

test('past its end a withdrawal is read as expired, and the worker gives its money back', async () => {
  const { client, id } = await waiting(api)
  api.clock.advance(599.999)
  await expireDueWithdrawals.run(api.app)
  assert.equal((await client.get(`${PATH}/${id}`)).body.data.status, 'PENDING_OTP')
  api.clock.advance(0.001)
  const read = await client.get(`${PATH}/${id}`)
  assert.equal(read.body.data.status, 'EXPIRED')
  assert.deepEqual((await client.get(`${PATH}?status=EXPIRED`)).body.data, [read.body.data])
  assert.deepEqual((await client.get(`${PATH}?status=PENDING_OTP`)).body.data, [])
  assert.deepEqual(await balanceOf(api, client), { available: 95_000, held: 5000 })
  await Promise.all([expireDueWithdrawals.run(api.app), expireDueWithdrawals.run(api.app)])
  assert.deepEqual(await balanceOf(api, client), OPENING)
  assert.deepEqual(await postingsOf(api, client), [
    ['WITHDRAWAL_HELD', id, 5000],
    ['WITHDRAWAL_RELEASED', id, 5000],
  ])
  assert.equal((await client.get(`${PATH}/${id}`)).text, read.text, 'reads the same as before')
})
