import assert from 'node:assert/strict'
import { test } from 'node:test'
import { commandAuthor } from '../../../src/cli/session.ts'
import { failManually } from '../../../src/core/withdrawals/manual-payouts.ts'
import { fromPublic, newId, toPublic } from '../../../src/lib/ids.ts'
import { startApi } from '../../support/api.ts'
import { codeIn, lastCode, lettersOf } from '../../support/mail.ts'
import {
  answer,
  balanceOf,
  cancel,
  confirm,
  line,
  liveWithMoney,
  OPENING,
  PATH,
  postingsOf,
  resend,
  rowOf,
  start,
  waiting,
  wrong,
} from '../../support/withdrawals.ts'
import { stored } from '../storage.ts'

const api = await startApi()

test('the right code confirms a withdrawal once; its money stays held until it is paid', async () => {
  const { client, id, code } = await waiting(api)
  api.clock.advance(599)
  const reply = await confirm(client, id, code)
  assert.equal(reply.status, 200)
  const now = api.clock.now()
  assert.deepEqual(reply.body.data, {
    id,
    status: 'PROCESSING',
    value: 5000,
    destination: client.company.pixKey,
    createdAt: new Date(now.getTime() - 599_000).toISOString(),
    confirmedAt: now.toISOString(),
  })
  const row = await rowOf(api, id)
  assert.deepEqual([row.otp_hash, row.next_attempt_at, row.ordered_at], [null, now, null])
  const before = await stored(api)
  for (const again of [
    await confirm(client, id, code),
    await cancel(client, id),
    await resend(client, id),
  ]) {
    assert.deepEqual(answer(again), [409, 'withdrawal_not_confirmable'])
    assert.match(line(again), /PROCESSING/)
  }
  assert.deepEqual(await stored(api), before)
  assert.deepEqual(await balanceOf(api, client), { available: 95_000, held: 5000 })
})

test('five wrong codes cancel a withdrawal and give its money back', async () => {
  const { client, id, code } = await waiting(api)
  for (const left of [4, 3, 2, 1]) {
    const reply = await confirm(client, id, wrong(code))
    assert.deepEqual(answer(reply), [400, 'otp_invalid'])
    assert.match(line(reply), new RegExp(`${left} (tries are|try is) left`))
    const { body } = await client.get(`${PATH}/${id}`)
    assert.deepEqual([body.data.status, body.data.attemptsLeft], ['PENDING_OTP', left])
  }
  const fifth = await confirm(client, id, wrong(code))
  assert.deepEqual(answer(fifth), [400, 'otp_invalid'])
  assert.match(line(fifth), /canceled/)
  const late = await confirm(client, id, code)
  assert.deepEqual(answer(late), [409, 'withdrawal_not_confirmable'])
  assert.match(line(late), /CANCELED/)
  const shown = (await client.get(`${PATH}/${id}`)).body.data
  assert.deepEqual([shown.status, shown.failureReason], ['CANCELED', 'five wrong codes'])
  assert.deepEqual(await balanceOf(api, client), OPENING)
  assert.deepEqual(await postingsOf(api, client), [
    ['WITHDRAWAL_HELD', id, 5000],
    ['WITHDRAWAL_RELEASED', id, 5000],
  ])
})

test('the fifth try may be the right one', async () => {
  const { client, id, code } = await waiting(api)
  for (let i = 0; i < 4; i++) await confirm(client, id, wrong(code))
  assert.equal((await confirm(client, id, code)).body.data?.status, 'PROCESSING')
})

test('64 wrong codes at once are five tries, and the money comes back once', async () => {
  const { client, id, code } = await waiting(api)
  const replies = await Promise.all(
    Array.from({ length: 64 }, () => confirm(client, id, wrong(code))),
  )
  const counts = Map.groupBy(replies, (reply) => answer(reply).join(' '))
  assert.equal(counts.get('400 otp_invalid')?.length, 5)
  assert.equal(counts.get('409 withdrawal_not_confirmable')?.length, 59)
  const row = await rowOf(api, id)
  assert.deepEqual([row.status, row.otp_attempts], ['CANCELED', 5])
  assert.deepEqual(await balanceOf(api, client), OPENING)
  assert.equal((await postingsOf(api, client)).length, 2)
})

test('what is not six digits costs no try', async () => {
  const { client, id } = await waiting(api)
  const before = await stored(api)
  for (const otp of [
    '12345',
    '1234567',
    '12345a',
    ' 12345',
    '１２３４５６',
    123456,
    null,
    undefined,
  ]) {
    const reply = await confirm(client, id, otp)
    assert.deepEqual(answer(reply), [400, 'invalid_value'], String(otp))
    assert.match(line(reply), /^otp: /)
  }
  assert.deepEqual(await stored(api), before)
})

test('an expired code confirms nothing and gives the money back', async () => {
  const { client, id, code } = await waiting(api)
  api.clock.advance(600)
  for (let i = 0; i < 2; i++) {
    assert.deepEqual(answer(await confirm(client, id, code)), [410, 'otp_expired'])
    assert.deepEqual(await balanceOf(api, client), OPENING)
  }
  const row = await rowOf(api, id)
  assert.deepEqual([row.status, row.otp_attempts, row.otp_hash], ['EXPIRED', 0, null])
  assert.deepEqual(answer(await resend(client, id)), [410, 'otp_expired'])
  const canceled = await cancel(client, id)
  assert.deepEqual(answer(canceled), [409, 'withdrawal_not_confirmable'])
  assert.match(line(canceled), /EXPIRED/)
})

test('a code confirms the one withdrawal that it was sent for', async () => {
  const [mine, theirs] = [await waiting(api), await waiting(api)]
  const before = await stored(api)
  const paths = [`${PATH}/${theirs.id}`, `${PATH}/${toPublic('wd', newId())}`, `${PATH}/x`]
  for (const path of paths) {
    const asked = [
      await mine.client.get(path),
      await mine.client.post(`${path}/confirm`, { otp: theirs.code }),
      await mine.client.post(`${path}/cancel`),
      await mine.client.post(`${path}/resend`),
    ]
    for (const reply of asked) assert.deepEqual(answer(reply), [404, 'withdrawal_not_found'], path)
  }
  assert.deepEqual(await stored(api), before)
  await cancel(mine.client, mine.id)
  const next = await start(mine.client, 5000)
  if ((await lastCode(api, mine.client.company.id)) === mine.code) return
  assert.deepEqual(answer(await confirm(mine.client, next, mine.code)), [400, 'otp_invalid'])
})

test('a confirmation under an Idempotency-Key is one try, however often it is sent', async () => {
  const { client, id, code } = await waiting(api)
  const first = await confirm(client, id, wrong(code), 'a')
  assert.deepEqual(answer(first), [400, 'otp_invalid'])
  const again = await confirm(client, id, wrong(code), 'a')
  assert.equal(again.text, first.text)
  assert.equal(again.headers.get('idempotent-replayed'), 'true')
  assert.deepEqual(answer(await confirm(client, id, code, 'a')), [422, 'idempotency_key_reused'])
  assert.equal((await rowOf(api, id)).otp_attempts, 1)
  const replies = await Promise.all(Array.from({ length: 8 }, () => confirm(client, id, code, 'b')))
  assert.deepEqual([...new Set(replies.map(({ text }) => text))].length, 1)
  assert.equal(replies[0]!.body.data.status, 'PROCESSING')
  assert.equal((await rowOf(api, id)).otp_attempts, 2)
})

test('a new code replaces the old one and brings time, but no tries', async () => {
  const { client, id, code } = await waiting(api)
  await confirm(client, id, wrong(code))
  api.clock.advance(500)
  const reply = await resend(client, id)
  assert.equal(reply.status, 200)
  const expiresAt = new Date(api.clock.now().getTime() + 600_000)
  const { status, attemptsLeft, expiresAt: shown } = reply.body.data
  assert.deepEqual([status, attemptsLeft, shown], ['PENDING_OTP', 4, expiresAt.toISOString()])
  const letters = await lettersOf(api, client.company.id)
  assert.deepEqual(
    letters.map(({ kind }) => kind),
    ['withdrawal-code', 'withdrawal-code'],
  )
  assert.deepEqual(letters[1]!.expiresAt, expiresAt)
  const renewed = codeIn(letters[1]!)
  if (renewed !== code) {
    assert.deepEqual(answer(await confirm(client, id, code)), [400, 'otp_invalid'])
  }
  assert.equal((await confirm(client, id, renewed)).body.data.status, 'PROCESSING')
})

test('a code is sent four times at most, and not when all tries are used', async () => {
  const { client, id } = await waiting(api, 5000, liveWithMoney)
  for (let i = 0; i < 3; i++) assert.equal((await resend(client, id)).status, 200)
  api.clock.advance(100)
  const before = await stored(api)
  const fifth = await resend(client, id)
  assert.deepEqual(answer(fifth), [429, 'rate_limited'])
  assert.equal(fifth.headers.get('retry-after'), '500')
  assert.deepEqual(await stored(api), before)
  const used = await waiting(api)
  await api.rows('update withdrawals set otp_attempts = 5 where company_id = $1', [
    used.client.company.id,
  ])
  for (const reply of [
    await resend(used.client, used.id),
    await confirm(used.client, used.id, used.code),
  ]) {
    assert.deepEqual(answer(reply), [409, 'withdrawal_not_confirmable'])
    assert.match(line(reply), /tries/)
  }
})

test('after too many wrong codes, over all withdrawals, none starts for an hour', async () => {
  const client = await liveWithMoney(api)
  for (const tries of [4, 5, 4, 4, 4, 4]) {
    const id = await start(client, 1)
    const code = await lastCode(api, client.company.id)
    for (let i = 0; i < tries; i++) await confirm(client, id, wrong(code))
    if (tries < 5) await cancel(client, id)
    api.clock.advance(60)
  }
  const before = await stored(api)
  const stopped = await client.post(PATH, { value: 1 })
  assert.deepEqual(answer(stopped), [429, 'rate_limited'])
  assert.equal(stopped.headers.get('retry-after'), String(3600 - 6 * 60))
  assert.deepEqual(await stored(api), before)
  api.clock.advance(3600 - 6 * 60)
  await start(client, 1)
})

test('codes that the API shows are not limited: neither how often they are made nor wrong ones', async () => {
  const { client, id } = await waiting(api)
  let code = ''
  for (let i = 0; i < 10; i++) {
    const made = await client.post(`/sandbox/withdraw/${id}/code`)
    assert.equal(made.status, 201, made.text)
    code = made.body.data.code
    assert.equal((await resend(client, id)).status, 200)
  }
  await cancel(client, id)
  for (let i = 0; i < 7; i++) {
    const next = await start(client, 1)
    code = (await client.post(`/sandbox/withdraw/${next}/code`)).body.data.code
    for (let j = 0; j < 5; j++) await confirm(client, next, wrong(code))
  }
  const last = await start(client, 1)
  code = (await client.post(`/sandbox/withdraw/${last}/code`)).body.data.code
  assert.equal((await confirm(client, last, code)).body.data.status, 'PROCESSING')
})

/** An operator cannot send a withdrawal of a company without a bank. */
const refuseByHand = (id: string) =>
  failManually(api.app, fromPublic('wd', id)!, 'no such key', commandAuthor())

test('right codes do not count as wrong tries: the 26th withdrawal in an hour starts', async () => {
  const client = await liveWithMoney(api)
  for (let i = 0; i < 26; i++) {
    const id = await start(client, 1)
    const code = await lastCode(api, client.company.id)
    if (i % 5 === 0) await confirm(client, id, wrong(code))
    assert.equal((await confirm(client, id, code)).status, 200)
    await refuseByHand(id)
    api.clock.advance(60)
  }
  await start(client, 1)
})
