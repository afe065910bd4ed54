import type { Tx } from '../../db/database.ts'
import type { Uuid } from '../../lib/ids.ts'
import { saidNow, underRules } from '../charges/notices.ts'
import { record } from '../charges/record.ts'
import { lockStates } from '../charges/store.ts'
import { announceChange } from '../companies/announce.ts'
import { findCompany, updateReminderDays } from '../companies/store.ts'
import { type Reminding, remind, type Wanted } from './record.ts'
import { daysOf, type Occasion, type ReminderRule } from './rules.ts'
import * as store from './store.ts'

/** The rules of an occasion that replace those of a company. */
export type RuleChange = Partial<Record<Occasion, Omit<ReminderRule, 'companyId' | 'occasion'>[]>>

/**
 * A request that has read the rules before writes its charge within this time. So open charges
 * follow changed rules then, and those that are made meanwhile are among them.
 */
export const FOLLOW_AFTER_MS = 60_000

/** Replaces rules of a company. `now` is the company's. */
export async function changeReminders(
  tx: Tx,
  companyId: Uuid,
  change: RuleChange,
  now: Date,
): Promise<ReminderRule[]> {
  // Two changes at once are made one after the other.
  await findCompany(tx, companyId, 'for no key update of c')
  const before = await store.listRules(tx, companyId)
  for (const occasion of Object.keys(change) as Occasion[]) {
    const rules = change[occasion]!.map((rule) => ({ companyId, occasion, ...rule }))
    await store.replaceRules(tx, companyId, occasion, rules)
  }
  const after = await store.listRules(tx, companyId)
  const [old, days] = [daysOf(before), daysOf(after)]
  if (old.join() !== days.join()) {
    await updateReminderDays(tx, companyId, days)
    await store.insertChange(tx, companyId, new Date(now.getTime() + FOLLOW_AFTER_MS))
    await announceChange(tx, companyId)
  }
  return after
}

/** So many charges are locked at once. */
const FOLLOWED_AT_ONCE = 500

/** Lets the next open charges of a company follow its rules. Returns how many there were. */
export async function followRules(tx: Tx, companyId: Uuid, now: Date): Promise<number> {
  // Whoever changes the rules again waits for this, and then lets all charges follow anew.
  const change = await store.lockChange(tx, companyId, now)
  if (!change) return 0
  const days = daysOf(await store.listRules(tx, companyId))
  const ids = await store.listOpenDue(tx, companyId, change.after, FOLLOWED_AT_ONCE)
  const charges = await lockStates(tx, companyId, ids)
  await record(
    tx,
    charges.flatMap((charge) => underRules(charge, days, now) ?? []),
  )
  const last = ids.at(-1)
  if (ids.length === FOLLOWED_AT_ONCE) await store.continueChange(tx, companyId, last!)
  else await store.endChange(tx, companyId)
  return Math.max(1, ids.length)
}

/** Says what is to be said about due dates. Returns of how many charges. */
export async function noticeCharges(
  tx: Tx,
  app: Reminding,
  companyId: Uuid,
  ids: Uuid[],
): Promise<number> {
  const now = app.clock.now()
  const charges = await lockStates(tx, companyId, ids)
  const rules = await store.listRules(tx, companyId)
  const days = daysOf(rules)
  const said = charges.flatMap((charge) => {
    const one = saidNow(charge, days, now)
    return one ? { charge, ...one } : []
  })
  const wanted = said.flatMap(({ charge, reminder }): Wanted[] => {
    if (!reminder) return []
    const { day, until } = reminder
    const { channel } = rules.find((rule) => rule.occasion === 'DUE_DATE' && rule.day === day)!
    return [{ charge, occasion: 'DUE_DATE', day, channel, until }]
  })
  await record(
    tx,
    said.flatMap(({ changes }) => changes),
  )
  await remind(tx, app, wanted)
  return said.length
}
