import type { Config } from '../config.ts'
import { eraseOldDefenses } from '../core/disputes/store.ts'
import { deleteOldFollows } from '../core/feed/store.ts'
import type { FullApp } from '../core/full-app.ts'
import { purgeStored } from '../core/idempotency.ts'
import { purgeBudgets, purgeFinished } from '../core/mails/store.ts'
import { purgeProcessed } from '../core/payments/store.ts'
import { purgeLinks } from '../core/people/link-store.ts'
import { purgeChallenges } from '../core/people/second-factors-store.ts'
import { purgeSessions } from '../core/people/sessions.ts'
import { expiredPart } from '../core/request-log/rules.ts'
import { emptyPart } from '../core/request-log/store.ts'
import { removeSandboxes } from '../core/sandbox-companies.ts'
import { purgeSetbacks } from '../core/setbacks.ts'
import { TASK } from '../core/tasks.ts'
import { deletePreviousSecrets } from '../core/webhooks/store.ts'
import { removeOldMails } from './mail-files.ts'
import { purgeOfDeleted, purgeOld } from './webhooks.ts'

/** The settings that say for how many days something is kept. */
type Setting =
  | 'callbackRetentionDays'
  | 'defenseRetentionDays'
  | 'deliveryRetentionDays'
  | 'mailRetentionDays'

/** A moment: what is older than `before` goes. */
type Moment = { now: Date; before: Date; signal: AbortSignal | undefined }

/**
 * A kind of data that is not kept for ever, and for how long: days that are set or fixed. 'ends':
 * each row says itself until when it is of use.
 */
export type Kept = {
  /** As `docs/operating.md` calls it. */
  name: string
  days: Setting | number | 'ends'
  every_ms: number
  remove(app: FullApp, moment: Moment): Promise<unknown>
}

const MINUTE_MS = 60_000
const HOUR_MS = 60 * MINUTE_MS
const DAY_MS = 24 * HOUR_MS
/** Rows of one statement. With more, others would wait too long for its locks. */
const MAX_ROWS = 5_000

async function inParts(
  signal: AbortSignal | undefined,
  part: (max: number) => Promise<number>,
): Promise<void> {
  while (!signal?.aborted && (await part(MAX_ROWS)) === MAX_ROWS);
}

/** All that is removed when it is old. Whatever is not here is kept. */
export const KEPT: readonly Kept[] = [
  {
    name: 'stored answers of requests',
    days: 1,
    every_ms: MINUTE_MS,
    remove: ({ db }, { now, signal }) => inParts(signal, (max) => purgeStored(db, now, max)),
  },
  {
    name: 'requests in the log',
    days: 7,
    every_ms: HOUR_MS,
    remove: ({ db }, { now }) => emptyPart(db, expiredPart(now)),
  },
  {
    name: 'callbacks of banks that are processed',
    days: 'callbackRetentionDays',
    every_ms: HOUR_MS,
    remove: ({ db }, { before, signal }) =>
      inParts(signal, (max) => purgeProcessed(db, before, max)),
  },
  {
    name: 'outcomes of mails',
    days: 'mailRetentionDays',
    every_ms: HOUR_MS,
    remove: ({ db }, { before, signal }) =>
      inParts(signal, (max) => purgeFinished(db, before, max)),
  },
  {
    name: 'mails that are kept as files',
    days: 1,
    every_ms: HOUR_MS,
    remove: (app) => removeOldMails(app),
  },
  {
    name: 'deliveries that ended',
    days: 'deliveryRetentionDays',
    every_ms: HOUR_MS,
    remove: (app, { before, signal }) => purgeOld(app, before, signal),
  },
  {
    name: 'deliveries of deleted webhooks',
    days: 'ends',
    every_ms: HOUR_MS,
    remove: (app, { signal }) => purgeOfDeleted(app, signal),
  },
  {
    name: 'redeliveries in the feed',
    days: 7,
    every_ms: HOUR_MS,
    remove: ({ db }, { signal }) => inParts(signal, (max) => deleteOldFollows(db, max)),
  },
  {
    name: 'defenses of disputes that are closed',
    days: 'defenseRetentionDays',
    every_ms: HOUR_MS,
    remove: ({ db }, { before, signal }) =>
      inParts(signal, (max) => eraseOldDefenses(db, before, max)),
  },
  {
    name: 'former secrets of webhooks',
    days: 'ends',
    every_ms: HOUR_MS,
    remove: ({ db, setbacks }, { now }) => deletePreviousSecrets(db, now, setbacks.moving()),
  },
  {
    name: 'sessions, links and challenges of people',
    days: 'ends',
    every_ms: HOUR_MS,
    async remove({ db: { control } }, { now }) {
      await purgeSessions(control, now)
      await purgeLinks(control, now)
      await purgeChallenges(control, now)
    },
  },
  {
    name: 'sandboxes made by `POST /sandbox`',
    days: 'ends',
    every_ms: MINUTE_MS,
    remove: (app, { signal }) => removeSandboxes(app, signal),
  },
  {
    name: 'limits on mails, and companies that tasks leave alone',
    days: 'ends',
    every_ms: HOUR_MS,
    async remove({ db }, { now }) {
      await purgeBudgets(db.control, now)
      await purgeSetbacks(db, now)
    },
  },
]

/** For how many days a kind is kept. Null: for ever, or until each row ends. */
export function daysOf({ days }: Pick<Kept, 'days'>, config: Pick<Config, Setting>): number | null {
  if (days === 'ends') return null
  // A setting of 0 keeps all.
  return (typeof days === 'number' ? days : config[days]) || null
}

/**
 * Removes what is old of some kinds, if the time can be believed. If one fails, the others are
 * done, and then it is thrown.
 */
export async function removeOld(
  app: FullApp,
  signal?: AbortSignal,
  kinds: readonly Kept[] = KEPT,
): Promise<void> {
  if (!(await app.clockWatch.agrees())) return
  const now = app.systemClock.now()
  const errors: unknown[] = []
  for (const kind of kinds) {
    const days = daysOf(kind, app.config)
    if (signal?.aborted || (days === null && kind.days !== 'ends')) continue
    const before = new Date(now.getTime() - (days ?? 0) * DAY_MS)
    await kind.remove(app, { now, before, signal }).catch((error) => errors.push(error))
  }
  if (errors.length > 0) throw errors[0]
}

/** Each kind has its period, by a clock that nobody moves. */
function open(app: FullApp) {
  const next = new Map<Kept, number>()
  return {
    async run(signal: AbortSignal) {
      const now = performance.now()
      const due = KEPT.filter((kind) => (next.get(kind) ?? 0) <= now)
      // Tasks come round a little early or late.
      for (const kind of due) next.set(kind, now + kind.every_ms - MINUTE_MS / 2)
      await removeOld(app, signal, due)
    },
  }
}

export const RETENTION = { name: TASK.retention, every_ms: MINUTE_MS, open }
