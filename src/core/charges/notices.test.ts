import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { newId } from '../../lib/ids.ts'
import { toCents } from '../../lib/money.ts'
import { lastDayInTime } from '../../pix/due-amount.ts'
import { addDays, atHour, localDateOf, startOfDay } from '../../pix/local-time.ts'
import { awakeAt, nextNotice, saidNow, underRules } from './notices.ts'
import { type Charge, type Due, expiryOf, newCharge } from './rules.ts'

const MADE = atHour('2026-08-20', 12)
const HOUR_MS = 3_600_000

const dues = fc
  .record({ toDue: fc.integer({ min: 0, max: 60 }), daysAfterDue: fc.integer({ min: 0, max: 40 }) })
  .map(({ toDue, daysAfterDue }): Due => {
    const dueDate = addDays('2026-08-20', toDue)
    return { terms: { dueDate, daysAfterDue }, paid: null }
  })
const ruleDays = fc.uniqueArray(fc.integer({ min: -30, max: 30 }), { maxLength: 10 })
/** How long a server sleeps before it looks again: from an hour to ten days. */
const pauses = fc.array(fc.integer({ min: 1, max: 240 }), { minLength: 1, maxLength: 400 })

const chargeOf = (due: Due, days: number[]): Charge =>
  newCharge({
    companyId: newId(),
    id: newId(),
    kind: 'PIX',
    amount: toCents(1000),
    createdAt: MADE,
    expiresAt: expiryOf({ due, lifetime_s: 0 }, MADE),
    due,
    noticeAt: nextNotice(due, days, MADE),
  })

/** Everything that a server says that looks at these moments. */
function saidAt(charge: Charge, days: number[], moments: Date[]) {
  const said: { day: number; at: Date; now: Date; until: Date }[] = []
  const events: string[] = []
  let current = charge
  for (const now of moments) {
    if (now >= charge.expiresAt) break
    const one = saidNow(current, days, now)
    if (!one) continue
    if (one.reminder) said.push({ ...one.reminder, now })
    events.push(...one.changes.flatMap(({ event }) => event ?? []))
    current = one.changes.at(-1)!.charge
  }
  return { said, events }
}

/** What the rules mean, calculated anew: the moments of a charge that it lives to see. */
const expectedOf = ({ due, expiresAt }: Charge, days: number[]) =>
  days
    .map((day) => ({ day, at: atHour(addDays(lastDayInTime(due!.terms), day), 9) }))
    .filter(({ at }) => at > MADE && at < expiresAt)
    .sort((a, b) => a.day - b.day)

test('a server that never sleeps says every reminder once, at nine, in its order', () => {
  fc.assert(
    fc.property(dues, ruleDays, (due, days) => {
      const charge = chargeOf(due, days)
      const moments: Date[] = []
      for (let at = charge.noticeAt; at; at = nextNotice(due, days, at)) moments.push(at)
      const { said, events } = saidAt(charge, days, moments)
      assert.deepEqual(
        said.map(({ day, at }) => ({ day, at })),
        expectedOf(charge, days),
      )
      assert.ok(said.every(({ at, now }) => at.getTime() === now.getTime()))
      assert.equal(new Set(events).size, events.length)
    }),
  )
})

test('whenever a server looks, no reminder comes twice, early, in a burst or out of its time', () => {
  fc.assert(
    fc.property(dues, ruleDays, pauses, (due, days, hours) => {
      const charge = chargeOf(due, days)
      let at_ms = MADE.getTime()
      const moments = hours.map((pause) => {
        at_ms += pause * HOUR_MS
        return new Date(at_ms)
      })
      const { said, events } = saidAt(charge, days, moments)
      const expected = expectedOf(charge, days)
      assert.equal(new Set(said.map(({ day }) => day)).size, said.length)
      assert.equal(new Set(said.map(({ now }) => now.getTime())).size, said.length)
      assert.equal(new Set(events).size, events.length, 'nor does another event')
      for (const { day, at, now, until } of said) {
        assert.ok(at <= now && awakeAt(now) < until)
        const isOver = now >= startOfDay(addDays(lastDayInTime(due.terms), 1))
        assert.ok(day > 0 || !isOver, 'what is for before the due date comes before it is over')
        const newer = expected.filter((one) => one.at <= now && one.day > day)
        assert.deepEqual(newer, [], 'it is the latest')
      }
    }),
  )
})

test('without rules the moments are those of the due date, without a due date there are none', () => {
  fc.assert(
    fc.property(dues, ruleDays, (due, days) => {
      assert.equal(nextNotice(null, days, MADE), null)
      const [bare, full] = [nextNotice(due, [], MADE), nextNotice(due, days, MADE)]
      assert.ok(bare === null || (full !== null && full <= bare), 'rules only make it earlier')
    }),
  )
})

test('under changed rules an open charge waits for what comes next, and never for the past', () => {
  fc.assert(
    fc.property(
      dues,
      ruleDays,
      ruleDays,
      fc.integer({ min: 0, max: 1500 }),
      (due, old, days, hours) => {
        const charge = chargeOf(due, old)
        const now = new Date(MADE.getTime() + hours * HOUR_MS)
        const change = underRules(charge, days, now)
        const isDue = charge.noticeAt !== null && charge.noticeAt <= now
        if (isDue) return assert.equal(change, null, 'it is said by its own task')
        const moment = (change?.charge ?? charge).noticeAt
        assert.deepEqual(moment, nextNotice(due, days, now))
        assert.ok(moment === null || moment > now)
        assert.equal(underRules({ ...charge, status: 'COMPLETED' }, days, now), null)
      },
    ),
  )
})

test('an event that a server with a faster clock has said is not said again under new rules', () => {
  fc.assert(
    fc.property(dues, ruleDays, fc.integer({ min: 1, max: 5000 }), (due, days, behind_ms) => {
      let charge = chargeOf(due, [])
      const events: string[] = []
      const say = (at: Date) => {
        const changes = saidNow(charge, days, at)?.changes ?? []
        events.push(...changes.flatMap(({ event }) => event ?? []))
        charge = changes.at(-1)?.charge ?? charge
      }
      for (let at = charge.noticeAt; at; at = charge.noticeAt) {
        say(at)
        charge = underRules(charge, days, new Date(at.getTime() - behind_ms))?.charge ?? charge
        // What it is given back to say is only a reminder, whose row says that it was said.
        say(at)
      }
      assert.equal(new Set(events).size, events.length, events.join())
    }),
  )
})

test('a message that is found at night waits until nine, and by day it does not wait', () => {
  fc.assert(
    fc.property(
      fc.integer({ min: 0, max: 3000 }),
      fc.integer({ min: 0, max: 86_399 }),
      (day, s) => {
        const now = new Date(startOfDay(addDays('2026-01-01', day)).getTime() + s * 1000)
        const at = awakeAt(now)
        const today = localDateOf(at)
        assert.ok(at >= now && at >= atHour(today, 9) && at < atHour(today, 21))
        assert.ok(at.getTime() - now.getTime() <= 12 * HOUR_MS)
        const isDay = now >= atHour(localDateOf(now), 9) && now < atHour(localDateOf(now), 21)
        assert.equal(at.getTime() === now.getTime(), isDay)
      },
    ),
  )
})
