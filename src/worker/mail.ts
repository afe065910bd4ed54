import { setTimeout as pause } from 'node:timers/promises'
import type { FullApp } from '../core/full-app.ts'
import { isExpired, type MailOutcome, retryAt } from '../core/mails/rules.ts'
import { openLetter } from '../core/mails/sealing.ts'
import {
  claimNext,
  type DueMail,
  FIRST_COMPANY,
  finish,
  type MailClass,
  postpone,
  renewLeases,
} from '../core/mails/store.ts'
import { findReceiptLetter } from '../core/receipts/letter.ts'
import { TASK } from '../core/tasks.ts'
import type { Uuid } from '../lib/ids.ts'
import { describeError } from '../lib/log.ts'
import { isPermanent } from '../lib/mailer.ts'

/** How many mails are sent at once: all, all but codes, of one company but codes, receipts. */
const MAX_SENDING = 6
const MAX_OTHERS = 5
const MAX_OF_ONE_COMPANY = 4
const MAX_RECEIPTS = 3
/** After so many mails in a row, each sender but that of codes rests after each mail. */
const MAX_IN_A_ROW = 50
const REST_MS = 80
const SEARCH_MS = 1_000
/** While mails are being sent, new ones are claimed together after this time. */
const GATHER_MS = 20
/** If a process is killed, another sends its mails after this time. Live processes renew it. */
const LEASE_MS = 8_000
const RENEW_MS = 2_000

/** The mails that are being sent, and the company that was served last in each class. */
type Sending = {
  mails: Map<Promise<void>, DueMail>
  last: Record<MailClass, Uuid>
  renewed_ms: number
  /** How many mails were sent in a row. */
  sent: number
}

/**
 * Sends due mails, a few at a time: codes first, then the others, one company after the other. If a
 * slow server delays one mail, the others are still sent, also those that become due later.
 */
export async function sendDueMails(
  app: FullApp,
  signal: AbortSignal = new AbortController().signal,
): Promise<void> {
  const last = { codes: FIRST_COMPANY, others: FIRST_COMPANY }
  const sending: Sending = {
    mails: new Map(),
    last,
    renewed_ms: app.clock.now().getTime(),
    sent: 0,
  }
  while (!signal.aborted) {
    const wasBusy = sending.mails.size > 0
    await renew(app, sending)
    await begin(app, sending, signal)
    // A mail that was in progress before the claim may have kept a due mail waiting.
    if (sending.mails.size === 0 && !wasBusy) return
    await waitForOne(app, [...sending.mails.keys()], signal)
    // Otherwise each link of a company that makes hundreds would cost a search.
    if (sending.mails.size > 0) await pause(GATHER_MS, undefined, { signal }).catch(() => {})
  }
  await Promise.all(sending.mails.keys())
}

async function begin(app: FullApp, sending: Sending, signal: AbortSignal): Promise<void> {
  const { mails } = sending
  while (!signal.aborted && mails.size < MAX_SENDING) {
    const codes = await claim(app, sending, 'codes', signal)
    const mail = codes ?? (await claim(app, sending, 'others', signal))
    if (!mail) return
    const rests = mail.kind !== 'withdrawal-code' && ++sending.sent > MAX_IN_A_ROW
    const rest = () => (rests ? pause(REST_MS, undefined, { signal }).catch(() => {}) : undefined)
    const work: Promise<void> = send(app, mail)
      .then(rest)
      .finally(() => mails.delete(work))
    mails.set(work, mail)
  }
}

/**
 * Claims a mail of the next company. After the last company comes the first. A process that is to
 * end claims nothing more.
 */
async function claim(
  app: FullApp,
  sending: Sending,
  of: MailClass,
  signal: AbortSignal,
): Promise<DueMail | null> {
  const others = [...sending.mails.values()].filter(({ kind }) => kind !== 'withdrawal-code')
  if (of === 'others' && others.length >= MAX_OTHERS) return null
  const receipts = others.filter(({ kind }) => kind === 'receipt').length < MAX_RECEIPTS
  const aside = app.setbacks.companiesOf(TASK.mail)
  const except = of === 'codes' ? aside : [...aside, ...busyCompanies(others)]
  const { db, clock } = app
  const { last } = sending
  for (const after of new Set([last[of], FIRST_COMPANY])) {
    if (signal.aborted) return null
    const now = clock.now()
    const filter = { of, after, except, receipts: of === 'codes' || receipts }
    const mail = await claimNext(db.light, filter, now, leaseFrom(now))
    last[of] = mail?.companyId ?? FIRST_COMPANY
    if (mail) return mail
  }
  return null
}

function busyCompanies(others: DueMail[]): Uuid[] {
  const byCompany = [...Map.groupBy(others, ({ companyId }) => companyId)]
  return byCompany
    .filter(([, { length }]) => length >= MAX_OF_ONE_COMPANY)
    .map(([companyId]) => companyId)
}

const leaseFrom = (now: Date): Date => new Date(now.getTime() + LEASE_MS)

/** If this fails, it is tried again soon. A mail that is sent twice has the same message id. */
async function renew(app: FullApp, sending: Sending): Promise<void> {
  const now = app.clock.now()
  if (now.getTime() - sending.renewed_ms < RENEW_MS) return
  try {
    await renewLeases(app.db.light, [...sending.mails.values()], leaseFrom(now))
    sending.renewed_ms = now.getTime()
  } catch (error) {
    app.log.warn(describeError(error), 'the leases of mails were not renewed')
  }
}

/** Resolves when a mail is sent, or when it is time to search for new ones. */
async function waitForOne(app: FullApp, sending: Promise<void>[], signal: AbortSignal) {
  const enough = new AbortController()
  const either = AbortSignal.any([signal, enough.signal])
  await Promise.race([...sending, app.alarm.wait(TASK.mail, SEARCH_MS, either)])
  enough.abort()
}

/**
 * Never throws. If a mail is not accepted, it waits for its next attempt. If its outcome cannot be
 * stored, its company is set aside, because the mail would be sent again and again.
 */
async function send(app: FullApp, mail: DueMail): Promise<void> {
  const about = { mail: mail.id, kind: mail.kind, company: mail.companyId }
  try {
    const outcome = await attempt(app, mail)
    const { db, clock, log } = app
    if (outcome !== 'RETRY') await finish(db, mail, outcome, clock.now())
    if (outcome === 'SENT') log.info(about, 'a mail was sent')
    if (outcome === 'EXPIRED') log.warn(about, 'a mail expired before it was sent')
    if (outcome === 'FAILED') log.error(about, 'a mail failed for good')
    await app.setbacks.worked(TASK.mail, mail.companyId)
  } catch (error) {
    app.log.error({ ...describeError(error), ...about }, 'the outcome of a mail was not stored')
    await app.setbacks.failed(TASK.mail, mail.companyId, error)
  }
}

async function attempt(app: FullApp, mail: DueMail): Promise<MailOutcome | 'RETRY'> {
  if (isExpired(mail, app.clock.now())) return 'EXPIRED'
  try {
    const letter =
      mail.kind === 'receipt' ? await findReceiptLetter(app, mail) : openLetter(app.vault, mail)
    if (!letter) return 'EXPIRED'
    await app.mailer.send({ ...letter, id: mail.id, createdAt: mail.createdAt })
    return 'SENT'
  } catch (error) {
    const next = isPermanent(error) ? null : retryAt(mail, app.clock.now())
    logFailure(app, mail, error, next)
    if (next === null) return 'FAILED'
    await postpone(app.db, mail, next)
    return 'RETRY'
  }
}

/** Logs only the codes of a mail server, because its texts quote addresses. */
function logFailure({ log }: FullApp, mail: DueMail, error: unknown, next: Date | null): void {
  const { code, responseCode } = error as { code?: string; responseCode?: number }
  const about = { mail: mail.id, kind: mail.kind, company: mail.companyId }
  log.warn({ ...about, code, responseCode, next }, 'a mail was not accepted')
}
