import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { newId } from '../../lib/ids.ts'
import { toCents } from '../../lib/money.ts'
import { Problem } from '../../lib/problems.ts'
import {
  APPROVAL_LIFETIME_S,
  afterManualResult,
  afterOutcome,
  approve,
  asOf,
  awaitsApproval,
  cancel,
  cancelAfterGuesses,
  cancelMoved,
  confirm,
  holdUntil,
  isDue,
  isHeldFor,
  needsApproval,
  postingOf,
  reject,
  release,
  renewCode,
  start,
  type Withdrawal,
} from './rules.ts'

const START = new Date('2026-08-20T15:00:00Z')
const at = (seconds: number) => new Date(START.getTime() + seconds * 1000)
const HASH = Buffer.alloc(32, 1)
const [REQUESTER, SECOND, THIRD] = [newId(), newId(), newId()]

const waiting = (
  requestedBy: string | null = REQUESTER,
  mustBeApproved = true,
  heldUntil: Date | null = null,
): Withdrawal =>
  start(
    {
      companyId: newId(),
      id: newId(),
      value: toCents(5000),
      destination: 'k',
      recipientId: null,
      keySealed: null,
      otpHash: HASH,
      requestedBy,
      needsApproval: mustBeApproved,
      heldUntil,
      heldFor: null,
    },
    START,
  )
const approved = (withdrawal: Withdrawal, person: string, seconds: number) =>
  approve(withdrawal, person, at(seconds)) as Withdrawal

function refusal(act: () => unknown): string {
  try {
    act()
  } catch (error) {
    assert.ok(error instanceof Problem)
    return error.code
  }
  return assert.fail('nothing was refused')
}

test('only what is above the limit, alone or with others of the day, needs an approval', () => {
  const cases: [value: number, above: number, without: number, needs: boolean][] = [
    [5000, 5000, 0, false],
    [5001, 5000, 0, true],
    [1, 0, 0, true],
    [1000, 5000, 4000, false],
    [1001, 5000, 4000, true],
    [1, 5000, 9000, true],
  ]
  for (const [value, above, without, needs] of cases) {
    assert.equal(needsApproval(toCents(value), toCents(above), toCents(without)), needs)
  }
})

test('it is paid out once both are there, the code and the approval, in whatever order', () => {
  const confirmed = confirm(waiting(), HASH, at(1))
  assert.deepEqual([confirmed.status, confirmed.nextAttemptAt], ['PENDING_OTP', null])
  assert.ok(awaitsApproval(confirmed))
  const afterwards = approved(confirmed, SECOND, 5000)
  const before = approved(waiting(), SECOND, 1)
  assert.deepEqual([before.status, before.nextAttemptAt], ['PENDING_OTP', null])
  for (const paid of [afterwards, confirm(before, HASH, at(2))]) {
    assert.equal(paid.status, 'PROCESSING')
    assert.notEqual(paid.nextAttemptAt, null)
    assert.equal(paid.approvedBy, SECOND)
  }
  const manual = approve(confirmed, SECOND, at(2), true) as Withdrawal
  assert.deepEqual([manual.status, manual.manual, manual.nextAttemptAt], ['PROCESSING', true, null])
})

test('what is held is sent when its time is over, or when a second person approves it', () => {
  const until = at(1000)
  const held = waiting(REQUESTER, true, until)
  const confirmed = confirm(held, HASH, at(1))
  assert.deepEqual([confirmed.status, confirmed.otpExpiresAt], ['PENDING_OTP', until])
  assert.equal(release(confirmed, at(999), false), null)
  assert.equal(approved(confirmed, SECOND, 5).status, 'PROCESSING')
  assert.equal(asOf(confirmed, at(1000)).status, 'PENDING_OTP', 'it does not expire')
  const sent = release(confirmed, at(1000), false)
  assert.deepEqual([sent?.status, sent?.needsApproval], ['PROCESSING', false])
  const late = confirm(waiting(REQUESTER, true, at(10)), HASH, at(11))
  assert.equal(late.status, 'PROCESSING', 'its time was over before the code')
  assert.equal(asOf(held, at(600)).status, 'EXPIRED', 'its code has the time of any code')
  assert.equal(release(asOf(held, at(600)), at(1000), false), null)
  assert.equal(release(waiting(), at(10_000_000), false), null, 'only what is held')
})

test('a withdrawal is held for so many hours after the change, and no longer', () => {
  const hour = 3600
  assert.equal(holdUntil(null, 24, START), null)
  assert.equal(holdUntil(START, 0, START), null)
  assert.deepEqual(holdUntil(START, 24, at(24 * hour - 1)), at(24 * hour))
  assert.equal(holdUntil(START, 24, at(24 * hour)), null)
})

test('what is held is approved by nobody who has made the change or became a member since', () => {
  const held = { ...waiting(null), heldFor: THIRD }
  const hours = 24
  const of = (id: string, seconds: number) => isHeldFor(held, { id, since: at(seconds) }, hours)
  assert.equal(of(SECOND, -hours * 3600), false)
  assert.equal(of(SECOND, 1 - hours * 3600), true)
  assert.equal(of(THIRD, -1_000_000), true)
  assert.equal(isHeldFor(waiting(null), { id: THIRD, since: START }, hours), false, 'not held')
})

test('what was held goes nowhere but to the present destination', () => {
  const company = { pixKey: 'own', payoutKey: 'k' }
  const moved = { pixKey: 'k', payoutKey: 'other' }
  const paid = (fields: Partial<Withdrawal>) =>
    approved({ ...confirm(waiting(), HASH, at(1)), ...fields }, SECOND, 2)
  for (const fields of [{ heldFor: THIRD }, { heldUntil: at(100) }]) {
    assert.equal(cancelMoved(paid(fields), company, at(3)), null)
    const canceled = cancelMoved(paid(fields), moved, at(3))
    assert.deepEqual([canceled?.status, canceled?.failure], ['CANCELED', 'destination changed'])
    assert.equal(cancelMoved(paid({ ...fields, recipientId: newId() }), moved, at(3)), null)
    assert.equal(cancelMoved({ ...waiting(), ...fields }, moved, at(3)), null, 'it still waits')
  }
  assert.equal(cancelMoved(paid({}), moved, at(3)), null, 'it was never held')
})

test('nobody approves their own, and only what waits for it is approved', () => {
  assert.equal(
    refusal(() => approve(waiting(), REQUESTER, at(1))),
    'withdrawal_not_approvable',
  )
  const byKey = approved(waiting(null), SECOND, 1)
  assert.equal(byKey.approvedBy, SECOND, 'of an API key anybody is the second')
  assert.equal(approve(byKey, SECOND, at(2)), 'already-approved')
  for (const other of [waiting(REQUESTER, false), byKey, cancel(waiting(), at(1)) as Withdrawal]) {
    assert.equal(
      refusal(() => approve(other, THIRD, at(2))),
      'withdrawal_not_approvable',
    )
    assert.equal(
      refusal(() => reject(other, at(2))),
      'withdrawal_not_approvable',
    )
  }
  assert.equal(
    refusal(() => approve(waiting(), SECOND, at(600))),
    'withdrawal_not_approvable',
  )
})

test('after the right code no other one counts, and the approval has three days', () => {
  const confirmed = confirm(waiting(), HASH, at(1))
  assert.equal(
    refusal(() => confirm(confirmed, HASH, at(2))),
    'withdrawal_not_confirmable',
  )
  assert.equal(
    refusal(() => renewCode(confirmed, HASH, at(2))),
    'withdrawal_not_confirmable',
  )
  assert.equal(cancelAfterGuesses(confirmed, at(2)), null, 'the right code came first')
  assert.equal(asOf(confirmed, at(APPROVAL_LIFETIME_S)).status, 'PENDING_OTP')
  assert.equal(asOf(confirmed, at(1 + APPROVAL_LIFETIME_S)).status, 'EXPIRED')
  assert.equal((cancel(confirmed, at(2)) as Withdrawal).status, 'CANCELED')
  const rejected = reject(confirmed, at(2))
  assert.deepEqual([rejected.status, rejected.failure], ['CANCELED', 'not approved'])
  assert.equal(
    refusal(() => afterManualResult(confirmed, { failure: 'gone' }, at(2))),
    'withdrawal_not_confirmable',
  )
})

const ACTS = [
  'right',
  'cancel',
  'resend',
  'expire',
  'sent',
  'refused',
  'reject',
  'guessed',
] as const
const holds = fc.option(fc.integer({ min: 1, max: 3000 }))
const steps = fc.array(
  fc.record({
    act: fc.constantFrom(...ACTS, REQUESTER, SECOND, THIRD),
    after_s: fc.integer({ min: 0, max: 400 }),
    manual: fc.boolean(),
  }),
)

/** One step as the commands take it; null when nothing changes. */
function step(withdrawal: Withdrawal, act: string, now: Date, manual: boolean): Withdrawal | null {
  const { attempts } = withdrawal
  if (act === 'right') return confirm(withdrawal, HASH, now, manual)
  if (act === 'resend') return renewCode(withdrawal, HASH, now)
  if (act === 'reject') return reject(withdrawal, now)
  if (act === 'guessed') return isDue(withdrawal, now) ? null : cancelAfterGuesses(withdrawal, now)
  if (act === 'expire') {
    const released = release(withdrawal, now, manual)
    return released ?? (isDue(withdrawal, now) ? asOf(withdrawal, now) : null)
  }
  if (act === 'sent') {
    const value = { endToEndId: 'E1' }
    return afterOutcome(withdrawal, attempts, { kind: 'accepted', value }, now)
  }
  if (act === 'refused') {
    return afterOutcome(withdrawal, attempts, { kind: 'rejected', reason: 'no' }, now)
  }
  const next = act === 'cancel' ? cancel(withdrawal, now) : approve(withdrawal, act, now, manual)
  return typeof next === 'string' ? null : next
}

test('in any order of events nothing is paid without the code and a second person', () => {
  const requesters = fc.constantFrom(REQUESTER, null)
  fc.assert(
    fc.property(requesters, fc.boolean(), holds, steps, (requester, isLarge, hold_s, sequence) => {
      const heldUntil = hold_s === null || isLarge ? null : at(hold_s)
      const mustBeApproved = isLarge || heldUntil !== null
      let withdrawal = waiting(requester, mustBeApproved, heldUntil)
      let seconds = 0
      let ends = 0
      for (const { act, after_s, manual } of sequence) {
        seconds += after_s
        try {
          const next = step(withdrawal, act, at(seconds), manual)
          if (next?.finishedAt) {
            ends += 1
            postingOf(next)
          }
          withdrawal = next ?? withdrawal
        } catch (error) {
          assert.ok(error instanceof Problem)
        }
        const { status, confirmedAt, approvedBy, approvedAt } = withdrawal
        const isPayable = ['PROCESSING', 'COMPLETED', 'FAILED'].includes(status)
        assert.ok(!isPayable || confirmedAt !== null)
        const isHeld = heldUntil !== null && at(seconds) < heldUntil
        assert.ok(!isPayable || approvedAt !== null || !(isLarge || isHeld))
        assert.equal(approvedBy === null, approvedAt === null)
        assert.ok(approvedBy === null || (mustBeApproved && approvedBy !== requester))
        assert.equal(withdrawal.otpHash !== null, status === 'PENDING_OTP')
      }
      assert.equal(ends, withdrawal.finishedAt === null ? 0 : 1)
    }),
    { numRuns: 1000 },
  )
})
