import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { newId, toPublic } from '../../lib/ids.ts'
import { toCents } from '../../lib/money.ts'
import { Problem } from '../../lib/problems.ts'
import type { Outcome, Sent } from '../../provider/port.ts'
import {
  afterManualResult,
  afterOutcome,
  alreadyPending,
  asOf,
  cancel,
  cancelAfterGuesses,
  confirm,
  isDue,
  isEndToEndId,
  leaveToOperator,
  MAX_TRIES,
  makeCode,
  postingOf,
  renewCode,
  requireFewGuesses,
  start,
  type Withdrawal,
  wrongCode,
} from './rules.ts'

const START = new Date('2026-08-20T15:00:00Z')
const at = (seconds: number) => new Date(START.getTime() + seconds * 1000)
const [HASH, OTHER] = [Buffer.alloc(32, 1), Buffer.alloc(32, 2)]

const pending = (fields: Partial<Withdrawal> = {}): Withdrawal => ({
  ...start(
    {
      companyId: newId(),
      id: newId(),
      value: toCents(5000),
      destination: 'k',
      recipientId: null,
      keySealed: null,
      otpHash: HASH,
      requestedBy: null,
      needsApproval: false,
      heldUntil: null,
      heldFor: null,
    },
    START,
  ),
  ...fields,
})
const processing = () => ({ ...confirm(pending(), HASH, at(1)), attempts: 1 })

const SENT: Outcome<Sent> = { kind: 'accepted', value: { endToEndId: 'E1' } }
const REFUSED: Outcome<Sent> = { kind: 'rejected', reason: 'no such key' }
const SILENT: Outcome<Sent> = { kind: 'unknown', reason: 'no answer' }

function refusal(act: () => unknown): Problem {
  try {
    act()
  } catch (error) {
    assert.ok(error instanceof Problem)
    return error
  }
  return assert.fail('nothing was refused')
}

test('a code has six digits, and every one of them may be zero', () => {
  const codes = Array.from({ length: 5000 }, makeCode)
  for (const code of codes) assert.match(code, /^[0-9]{6}$/)
  assert.ok(codes.some((code) => code.startsWith('0')))
  assert.ok(new Set(codes).size > 4900)
})

test('a withdrawal expires with its code, for every reader alike', () => {
  const withdrawal = pending()
  assert.equal(asOf(withdrawal, at(599.999)).status, 'PENDING_OTP')
  const expired = asOf(withdrawal, at(600))
  assert.deepEqual([expired.status, expired.finishedAt], ['EXPIRED', at(600)])
  assert.deepEqual(asOf(withdrawal, at(9999)), expired, 'whenever it is read')
  assert.equal(asOf(processing(), at(9999)).status, 'PROCESSING')
})

test('the right code starts the payout, and no code does so twice or too late', () => {
  const confirmed = confirm(pending(), HASH, at(599))
  const { status, otpHash, confirmedAt, nextAttemptAt } = confirmed
  assert.deepEqual(
    { status, otpHash, confirmedAt, nextAttemptAt },
    { status: 'PROCESSING', otpHash: null, confirmedAt: at(599), nextAttemptAt: at(599) },
  )
  const codes = {
    again: refusal(() => confirm(confirmed, HASH, at(599))),
    late: refusal(() => confirm(pending(), HASH, at(600))),
    superseded: refusal(() => confirm(pending(), OTHER, at(1))),
    'without a try': refusal(() => confirm(pending({ otpAttempts: 5 }), null, at(1))),
  }
  assert.deepEqual(
    Object.values(codes).map(({ code }) => code),
    ['withdrawal_not_confirmable', 'otp_expired', 'otp_invalid', 'withdrawal_not_confirmable'],
  )
  assert.match(codes.again.message, /PROCESSING/)
})

test('the problem of a wrong code says how many tries are left', () => {
  const texts = [1, 4, 5].map((otpAttempts) => wrongCode({ otpAttempts }).message)
  assert.match(texts[0]!, /4 tries are left/)
  assert.match(texts[1]!, /1 try is left/)
  assert.match(texts[2]!, /canceled/)
})

test('a new code expires later but adds no tries, and is sent three times at most', () => {
  let withdrawal = pending({ otpAttempts: 3 })
  for (const seconds of [500, 1000, 1500]) withdrawal = renewCode(withdrawal, OTHER, at(seconds))
  assert.deepEqual(
    [withdrawal.otpAttempts, withdrawal.otpSent, withdrawal.otpExpiresAt],
    [3, 4, at(2100)],
  )
  const tooMany = refusal(() => renewCode(withdrawal, HASH, at(1600)))
  assert.deepEqual([tooMany.code, tooMany.headers], ['rate_limited', { 'Retry-After': '500' }])
  const used = pending({ otpAttempts: 5 })
  assert.equal(refusal(() => renewCode(used, OTHER, at(1))).code, 'withdrawal_not_confirmable')
  assert.equal(refusal(() => renewCode(pending(), OTHER, at(600))).code, 'otp_expired')
})

test('only a withdrawal that awaits its code can be canceled', () => {
  const canceled = cancel(pending(), at(1)) as Withdrawal
  assert.deepEqual([canceled.status, canceled.otpHash], ['CANCELED', null])
  assert.equal(cancel(canceled, at(2)), 'already-canceled')
  assert.match(refusal(() => cancel(pending(), at(600))).message, /EXPIRED/)
  assert.match(refusal(() => cancel(processing(), at(2))).message, /PROCESSING/)
})

test('sent money counts whoever asked; a rejection only from the worker with the claim', () => {
  const withdrawal = processing()
  const completed = afterOutcome(withdrawal, 1, SENT, at(2))!
  assert.deepEqual([completed.status, completed.endToEndId], ['COMPLETED', 'E1'])
  const failed = afterOutcome(withdrawal, 1, REFUSED, at(2))!
  assert.deepEqual([failed.status, failed.failure], ['FAILED', 'no such key'])
  const since = { ...withdrawal, attempts: 2 }
  assert.equal(afterOutcome(since, 1, REFUSED, at(2)), null)
  assert.equal(afterOutcome(since, 1, SILENT, at(2)), null)
  assert.equal(afterOutcome(since, 1, SENT, at(2))!.status, 'COMPLETED')
  for (const outcome of [SENT, REFUSED, SILENT]) {
    assert.equal(afterOutcome(failed, 1, outcome, at(3)), null)
  }
})

test('a bank that does not answer is asked again without end, ever more rarely', () => {
  const waits = [1, 2, 3, 4, 5, 6, 99].map((attempts) => {
    const next = afterOutcome({ ...processing(), attempts }, attempts, SILENT, START)!
    assert.equal(next.status, 'PROCESSING')
    return (next.nextAttemptAt!.getTime() - START.getTime()) / 1000
  })
  assert.deepEqual(waits, [5, 30, 120, 600, 1800, 1800, 1800])
})

test('after 25 wrong codes within an hour no withdrawal starts until some are an hour old', () => {
  const spent = (tries: number[]) => tries.map((n, i) => ({ tries: n, at: at(3000 - i * 100) }))
  requireFewGuesses(spent([5, 5, 5, 5, 4]), at(3000))
  const all = refusal(() => requireFewGuesses(spent([5, 5, 5, 5, 5]), at(3000)))
  assert.deepEqual([all.code, all.headers], ['rate_limited', { 'Retry-After': '3200' }])
  const spread = refusal(() => requireFewGuesses(spent(Array(9).fill(4)), at(3000)))
  assert.equal(spread.headers['Retry-After'], '3000', 'until the seventh newest is an hour old')
})

test('the problem of a second withdrawal names the pending one', () => {
  const withdrawal = pending()
  const { status, items } = alreadyPending(withdrawal)
  assert.equal(status, 409)
  assert.equal(items[0]!.withdrawId, toPublic('wd', withdrawal.id))
})

const ACTS = ['right', 'wrong', 'cancel', 'resend', 'expire', 'sent', 'refused', 'silent'] as const
const steps = fc.array(
  fc.record({ act: fc.constantFrom(...ACTS), after_s: fc.integer({ min: 0, max: 400 }) }),
)

/** One step as the commands take it; null when nothing changes. */
function step(withdrawal: Withdrawal, act: (typeof ACTS)[number], now: Date): Withdrawal | null {
  if (act === 'expire') return isDue(withdrawal, now) ? asOf(withdrawal, now) : null
  if (act === 'sent') return afterOutcome(withdrawal, 0, SENT, now)
  if (act === 'refused') return afterOutcome(withdrawal, 0, REFUSED, now)
  if (act === 'silent') return afterOutcome(withdrawal, 0, SILENT, now)
  if (act === 'resend') return renewCode(withdrawal, HASH, now)
  if (act === 'cancel') {
    const canceled = cancel(withdrawal, now)
    return canceled === 'already-canceled' ? null : canceled
  }
  const { status, otpAttempts } = withdrawal
  if (status !== 'PENDING_OTP' || isDue(withdrawal, now)) return confirm(withdrawal, null, now)
  assert.ok(otpAttempts < MAX_TRIES, 'the last wrong try cancels')
  const tried = { ...withdrawal, otpAttempts: otpAttempts + 1 }
  if (act === 'right') return confirm(tried, HASH, now)
  return tried.otpAttempts === MAX_TRIES ? cancelAfterGuesses(tried, now) : tried
}

test('in any order of events a withdrawal ends at most once, and its money with it', () => {
  fc.assert(
    fc.property(steps, (sequence) => {
      let withdrawal = pending()
      let seconds = 0
      const postings = [postingOf(withdrawal)]
      for (const { act, after_s } of sequence) {
        seconds += after_s
        try {
          const next = step(withdrawal, act, at(seconds))
          if (next?.finishedAt) postings.push(postingOf(next))
          withdrawal = next ?? withdrawal
        } catch (error) {
          assert.ok(error instanceof Problem)
        }
      }
      const kinds = postings.map(({ kind }) => kind)
      const end = withdrawal.status === 'COMPLETED' ? 'WITHDRAWAL_PAID' : 'WITHDRAWAL_RELEASED'
      assert.deepEqual(kinds, ['WITHDRAWAL_HELD', ...(withdrawal.finishedAt ? [end] : [])])
      assert.equal(withdrawal.otpHash !== null, withdrawal.status === 'PENDING_OTP')
      assert.equal(withdrawal.nextAttemptAt !== null, withdrawal.status === 'PROCESSING')
    }),
  )
})

test('a manual withdrawal is never due, and only an operator’s report ends it', () => {
  const manual = confirm(pending(), HASH, at(1), true)
  assert.deepEqual([manual.manual, manual.nextAttemptAt], [true, null])
  const endToEndId = 'E12345678202608201500abcdefghijk'
  const done = afterManualResult(manual, { endToEndId }, at(2)) as Withdrawal
  assert.deepEqual(
    [done.status, done.endToEndId, done.finishedAt],
    ['COMPLETED', endToEndId, at(2)],
  )
  assert.equal(afterManualResult(done, { endToEndId }, at(3)), 'already-recorded')
  const failed = afterManualResult(manual, { failure: 'gone' }, at(2)) as Withdrawal
  assert.equal(afterManualResult(failed, { failure: 'gone' }, at(3)), 'already-recorded')
  for (const ended of [done, failed]) {
    refusal(() => afterManualResult(ended, { failure: 'other' }, at(3)))
  }
  for (const other of [pending(), processing()]) {
    refusal(() => afterManualResult(other, { endToEndId }, at(3)))
  }
})

test('only the worker with the claim leaves a payout to an operator', () => {
  const ordered = { ...processing(), orderedAt: at(1) }
  assert.equal(leaveToOperator(ordered, 0, true), null)
  assert.equal(leaveToOperator({ ...ordered, status: 'COMPLETED' }, 1, true), null)
  const before = leaveToOperator(ordered, 1, true)!
  assert.deepEqual([before.manual, before.nextAttemptAt, before.orderedAt], [true, null, at(1)])
  assert.equal(leaveToOperator(ordered, 1, false)!.orderedAt, null, 'no bank got the order')
})

test('an id of the scheme names an institution and a minute that exists', () => {
  const id = (minute: string) => `E12345678${minute}abcdefghijk`
  assert.ok(isEndToEndId(id('202608201500')))
  assert.ok(isEndToEndId(id('202802292359')))
  for (const minute of [
    '202613011500',
    '202602301500',
    '202608202400',
    '202608201560',
    '20260820',
  ]) {
    assert.equal(isEndToEndId(id(minute)), false, minute)
  }
  assert.equal(isEndToEndId(id('202608201500').replace('E', 'D')), false)
})
