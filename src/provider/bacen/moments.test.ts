import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { ITAU_CLOCK } from '../../../test/bank/style.ts'
import { newId } from '../../lib/ids.ts'
import { toCents } from '../../lib/money.ts'
import { datedAt, minuteIn, readAt, type Timing } from './moments.ts'
import { given, openScene } from './scene.test-support.ts'

const HOUR_ms = 3_600_000
const NOW = new Date('2026-08-20T15:00:00.000Z')
const idAt = (at: Date, letter = 'E') =>
  `${letter}99999990${at.toISOString().replace(/\D/g, '').slice(0, 12)}abcdefghijk`

const timing = (marksLocalAsUtc: boolean): Timing => ({
  clock: { now: () => NOW },
  connection: { profile: { marksLocalAsUtc } },
})

const later = (at: Date, ms: number) => new Date(at.getTime() + ms)
const written = (at: Date, ms = 0) => later(at, ms).toISOString()

test('the minute in an id is read in UTC, and an id without one has none', () => {
  assert.deepEqual(minuteIn(idAt(NOW)), NOW)
  assert.deepEqual(minuteIn(idAt(NOW, 'D')), NOW)
  for (const id of [
    '',
    'E1',
    'E99999990202613201500abcdefghijk',
    'X99999990202608201500abcdefghijk',
  ])
    assert.equal(minuteIn(id), null, id)
})

test('a payment that is dated whole hours before its id is corrected, to the millisecond', () => {
  const hours = fc.integer({ min: 1, max: 14 })
  const ago_ms = fc.integer({ min: 60_000, max: 40 * 86_400_000 })
  fc.assert(
    fc.property(ago_ms, hours, fc.integer({ min: 0, max: 119_999 }), (ago, wrong_h, took) => {
      const sent = later(NOW, -ago)
      const received = later(sent, took)
      const stated = written(received, -wrong_h * HOUR_ms)
      const found = datedAt(timing(false), stated, idAt(sent))
      assert.deepEqual(found, { at: received, corrected_h: wrong_h, isOdd: false })
    }),
  )
})

test('a payment that is dated in the future is corrected too', () => {
  const stated = written(NOW, 3 * HOUR_ms)
  const found = datedAt(timing(false), stated, idAt(NOW))
  assert.deepEqual(found, { at: NOW, corrected_h: -3, isOdd: false })
})

test('a payment that was held or scheduled keeps its date; only the first is odd', () => {
  for (const [wait_ms, isOdd] of [
    [3 * HOUR_ms, true],
    [55 * 60_000, true],
    [3 * 24 * HOUR_ms, false],
    [9 * 60_000, false],
  ] as const) {
    const sent = later(NOW, -10 * 24 * HOUR_ms)
    const received = later(sent, wait_ms)
    const found = datedAt(timing(false), written(received), idAt(sent))
    assert.deepEqual(found, { at: received, corrected_h: 0, isOdd }, String(wait_ms))
  }
})

test('a date that no zone explains is kept, and odd', () => {
  for (const wrong_ms of [-31 * 60_000, -20 * HOUR_ms]) {
    const stated = later(NOW, wrong_ms)
    const found = datedAt(timing(false), stated.toISOString(), idAt(NOW))
    assert.deepEqual(found, { at: stated, corrected_h: 0, isOdd: true }, String(wrong_ms))
  }
})

test('a bank that marks local time as UTC is read so, until it sets its clock right', () => {
  const itau = timing(true)
  const sent = later(NOW, -5 * HOUR_ms)
  const right = { at: sent, corrected_h: 0, isOdd: false }
  assert.deepEqual(datedAt(itau, written(sent, -3 * HOUR_ms), idAt(sent)), right)
  assert.deepEqual(datedAt(itau, written(sent), idAt(sent)), { ...right, corrected_h: -3 })
  assert.deepEqual(datedAt(itau, '2026-08-20T07:00:00-03:00', idAt(sent)), right)
  assert.deepEqual(readAt(itau, written(sent, -3 * HOUR_ms)), sent)
  assert.deepEqual(readAt(itau, written(NOW)), NOW, 'local time would be in the future')
  assert.deepEqual(readAt(timing(false), written(sent)), sent)
})

test('a payment or a return without a moment has that of its id', () => {
  for (const value of [undefined, null, {}, '', 'agora', 7]) {
    const found = datedAt(timing(false), value, idAt(NOW, 'D'))
    assert.deepEqual(found, { at: NOW, corrected_h: 0, isOdd: false })
    assert.equal(datedAt(timing(false), value, 'E1'), null)
  }
})

test('a bank with the clock of Brasília is asked in it: no payment is missed or moved', async () => {
  const scene = await openScene({ style: ITAU_CLOCK })
  const { bank, bacen, clock, payee } = scene
  const { endToEndId } = bank.payer.payKey(payee.pixKey, 700)
  const receivedAt = clock.now()
  const period = { from: new Date(receivedAt.getTime() - 60_000), to: later(receivedAt, 1000) }
  const pix = { endToEndId, txid: null, amount: toCents(700), receivedAt }
  assert.deepEqual(given(await bacen.listReceived(payee, period)), [pix])
  assert.deepEqual(given(await bacen.findReceived(payee, [endToEndId])), [pix])
  const order = { id: newId(), endToEndId, amount: toCents(200) }
  given(await bacen.refund(payee, order))
  const moved = given(await bacen.listTransfers(payee, period))
  assert.deepEqual(
    moved.map(({ at }) => at),
    [receivedAt, receivedAt],
  )
  clock.advance(6 * 3600)
  const { dates } = await bacen.inspect(payee)
  assert.deepEqual(dates, { payments: 1, unread: [], corrected: 0, hours: null, odd: 0 })
})

test('a clock that the profile does not know is corrected and reported', async () => {
  const scene = await openScene({ style: ITAU_CLOCK })
  const { bank, bacen, clock, payee, connect } = scene
  const profile = { ...bank.profile(), marksLocalAsUtc: false }
  connect(bank.connection({ profile }))
  const { endToEndId } = bank.payer.payKey(payee.pixKey, 700)
  const [pix] = given(await bacen.findReceived(payee, [endToEndId]))
  assert.deepEqual(pix!.receivedAt, clock.now())
  bank.payer.payKey(payee.pixKey, 800, { endToEndId: idAt(later(clock.now(), -2.5 * HOUR_ms)) })
  clock.advance(10)
  const { dates } = await bacen.inspect(payee)
  assert.deepEqual(dates, { payments: 2, unread: [], corrected: 1, hours: 3, odd: 1 })
  // The same bank asked in UTC lists by the digits, three hours off.
  connect(bank.connection({ profile: { ...profile, offset: 'Z' } }))
  clock.advance(4 * 3600)
  assert.deepEqual((await bacen.inspect(payee)).dates.payments, 2)
})

test('the date of the bank’s answers is compared with our clock', async () => {
  const { bank, bacen, payee } = await openScene()
  for (const ahead_s of [0, 90, -90]) {
    bank.style({ ahead_s })
    const { clockGap_ms, faults } = await bacen.inspect(payee)
    assert.deepEqual(faults, [])
    assert.ok(Math.abs(clockGap_ms! - ahead_s * 1000) <= 1000, String(clockGap_ms))
    assert.equal(await bacen.findClockGap(payee), clockGap_ms)
  }
})
