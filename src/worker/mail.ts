import { setTimeout as pause } from 'node:timers/promises'
import { FIRST_COMPANY } from '../core/due.ts'
import type { FullApp } from '../core/full-app.ts'
import {
  type Budget,
  type BudgetOf,
  budgetsOf,
  isExpired,
  type MailKind,
  type MailOutcome,
  type MailReason,
  mailboxOf,
  retryAt,
  sharesOf,
  waitsFor,
} from '../core/mails/rules.ts'
import {
  claimMails,
  classOf,
  type DueMail,
  type Finished,
  finish,
  LEASE_S,
  type MailClass,
  postpone,
  renewLeases,
  takeBudgets,
} from '../core/mails/store.ts'
import { isOwnAddress } from '../core/people/owner-mails.ts'
import { findLetter } from '../core/receipts/letter.ts'
import { find as findSandbox } from '../core/sandboxes/store.ts'
import { TASK } from '../core/tasks.ts'
import { isRowError } from '../db/database.ts'
import { type Batcher, createBatcher } from '../lib/batch.ts'
import type { Uuid } from '../lib/ids.ts'
import { describeError } from '../lib/log.ts'
import { isPermanent, isTooMany, type Letter } from '../lib/mailer.ts'
import { asSpan } from '../lib/tracing.ts'
import { takeTurn } from '../lib/turns.ts'

const SEARCH_MS = 1_000
/** While mails are being sent, new ones are claimed together after this time. */
const GATHER_MS = 20
const RENEW_MS = 2_000
/** How many outcomes are stored and budgets asked by one statement. */
const GROUP = { max: 100, isItemError: isRowError }

/** The mails that are being sent, and the company that was served last in each class. */
type Sending = {
  mails: Map<Promise<void>, DueMail>
  last: Record<MailClass, Uuid>
  renewed_ms: number
  take: Batcher<Budget[], BudgetOf | null>
  finish: Batcher<Finished, null>
}

/**
 * Sends due mails, as many at once as the mail server takes: those to payers after all others, and
 * one company after the other. If a slow server delays one mail, the others are still sent, also
 * those that become due later.
 */
export async function sendDueMails(
  app: FullApp,
  signal: AbortSignal = new AbortController().signal,
): Promise<void> {
  const sending = open(app)
  while (!signal.aborted) {
    const wasBusy = sending.mails.size > 0
    await renew(app, sending)
    await begin(app, sending, 'first', signal)
    await begin(app, sending, 'payers', signal)
    await begin(app, sending, 'reminders', signal)
    // A mail that was in progress before the claim may have kept a due mail waiting.
    if (sending.mails.size === 0 && !wasBusy) return
    await waitForOne(app, [...sending.mails.keys()], signal)
    // Otherwise each link of a company that makes hundreds would cost a search.
    if (sending.mails.size > 0) await pause(GATHER_MS, undefined, { signal }).catch(() => {})
  }
  await Promise.all(sending.mails.keys())
}

function open({ db, clock }: FullApp): Sending {
  return {
    mails: new Map(),
    last: { first: FIRST_COMPANY, payers: FIRST_COMPANY, reminders: FIRST_COMPANY },
    renewed_ms: clock.now().getTime(),
    take: createBatcher(
      (group) => db.control.transaction((tx) => takeBudgets(tx, group, clock.now())),
      GROUP,
    ),
    finish: createBatcher(async (group) => {
      await finish(db, group)
      return group.map(() => null)
    }, GROUP),
  }
}

/**
 * Begins to send what fits: one mail of each company that has some, and then as many of each as
 * divide what is left.
 */
async function begin(
  app: FullApp,
  sending: Sending,
  of: MailClass,
  signal: AbortSignal,
): Promise<void> {
  for (let each = 1; ; ) {
    const { free, ofOneCompany } = roomFor(app, of)
    if (free <= 0 || signal.aborted) return
    const mails = await claim(app, sending, of, { each, limit: free, ofOneCompany })
    for (const mail of mails) start(app, sending, mail)
    if (mails.length === 0 || mails.length >= free) return
    const companies = new Set(mails.map(({ companyId }) => companyId)).size
    each = Math.ceil((free - mails.length) / companies)
  }
}

/** Mails to payers leave some connections to others, which are then sent at once. */
function roomFor({ mailer }: FullApp, of: MailClass) {
  const { all, free } = mailer.room()
  const { payers, ofOneCompany } = sharesOf(all)
  return { free: of === 'first' ? free : free - (all - payers), ofOneCompany }
}

function start(app: FullApp, { mails, ...sending }: Sending, mail: DueMail): void {
  const end = app.mailer.begin()
  const work: Promise<void> = asSpan(spanOf(mail), () => send(app, sending, mail)).finally(() => {
    end()
    mails.delete(work)
  })
  mails.set(work, mail)
}

const spanOf = ({ kind, companyId }: DueMail) => ({
  name: 'send mail',
  kind: 'client' as const,
  facts: { 'vintem.company': companyId, 'vintem.mail': kind },
})

/** Claims mails of the next companies. After the last company comes the first. */
async function claim(
  app: FullApp,
  { mails, last }: Sending,
  of: MailClass,
  most: { each: number; limit: number; ofOneCompany: number },
): Promise<DueMail[]> {
  // Reminders are mails to payers too: together they leave connections to other companies.
  const isFirst = (kind: MailKind) => classOf(kind) === 'first'
  const ofClass = [...mails.values()].filter(({ kind }) => isFirst(kind) === (of === 'first'))
  const counts = [...Map.groupBy(ofClass, ({ companyId }) => companyId)]
  const isBusy = ([, { length }]: [Uuid, DueMail[]]) => length >= most.ofOneCompany
  const busy = counts.filter(isBusy).map(([companyId]) => companyId)
  const others = counts.filter((count) => !isBusy(count)).map(([, { length }]) => length)
  const each = Math.min(most.each, most.ofOneCompany - Math.max(0, ...others))
  const except = [...app.setbacks.companiesOf(TASK.mail), ...busy]
  const claimed: DueMail[] = []
  for (const after of new Set([last[of], FIRST_COMPANY])) {
    const max = most.limit - claimed.length
    const request = { now: app.clock.now(), max, only: null, except, each, after }
    claimed.push(...(await claimMails(app.db.light, of, request)))
    // Those that were just claimed have had their turn.
    except.push(...claimed.map(({ companyId }) => companyId))
    if (claimed.length >= most.limit) break
  }
  last[of] = claimed.at(-1)?.companyId ?? FIRST_COMPANY
  return claimed
}

const leaseFrom = (now: Date): Date => new Date(now.getTime() + LEASE_S * 1000)

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

type Stores = Pick<Sending, 'take' | 'finish'>

/**
 * Never throws. If a mail is not accepted, it waits for its next attempt. If its outcome cannot be
 * stored, its company is set aside, because the mail would be sent again and again.
 */
async function send(app: FullApp, stores: Stores, mail: DueMail): Promise<void> {
  const about = { mail: mail.id, kind: mail.kind, company: mail.companyId }
  try {
    const { outcome, reason } = await attempt(app, stores, mail)
    const { clock, log } = app
    if (outcome) {
      await stores.finish({ mail, outcome, reason, at: clock.now() })
      app.counters.mail(outcome)
    }
    if (outcome === 'SENT') log.info(about, 'a mail was sent')
    if (outcome === 'EXPIRED') log.warn(about, 'a mail expired before it was sent')
    if (reason) log.warn({ ...about, reason, waits: !outcome }, 'a mail is over its limit')
    else if (outcome === 'FAILED') log.error(about, 'a mail failed for good')
    await app.setbacks.worked(TASK.mail, mail.companyId)
  } catch (error) {
    app.log.error({ ...describeError(error), ...about }, 'the outcome of a mail was not stored')
    await app.setbacks.failed(TASK.mail, mail.companyId, error)
  }
}

/** How a mail ended. Without an outcome it waits. */
type Attempt = { outcome: MailOutcome | null; reason: MailReason | null }

const ended = (outcome: MailOutcome): Attempt => ({ outcome, reason: null })

async function attempt(app: FullApp, stores: Stores, mail: DueMail): Promise<Attempt> {
  if (isExpired(mail, app.clock.now())) return ended('EXPIRED')
  try {
    // Many mails begin together, and to write one takes milliseconds.
    await takeTurn(mail.companyId)
    const letter = await findLetter(app, mail)
    if (!letter) return ended('EXPIRED')
    const reason = await reasonAgainst(app, stores, mail, letter)
    if (reason) return holdBack(app, mail, reason)
    await takeTurn(mail.companyId)
    await app.mailer.send({ ...letter, id: mail.id, createdAt: mail.createdAt })
    return ended('SENT')
  } catch (error) {
    return afterFailure(app, mail, error)
  }
}

type Against = Exclude<MailReason, 'RESTORED'>

/** Why a mail that could be sent is not. Null: it is sent, and was counted. */
async function reasonAgainst(
  { config, vault, db }: FullApp,
  { take }: Stores,
  mail: DueMail,
  { to, isPlayMoney }: Letter,
): Promise<Against | null> {
  // On a server with real companies, play money must not reach people who know nothing of it. Of a
  // sandbox made with a key nothing does, but an operator can invite somebody to it.
  const { companyId, kind } = mail
  const isTest = async () =>
    isPlayMoney || (kind !== 'invitation' && (await findSandbox(db, companyId)) !== null)
  if (!config.local && (await isTest()) && !(await isOwnAddress(db, db.control, companyId, to))) {
    return 'PLAY_MONEY'
  }
  if (config.dailyMails === null) return null
  const recipient = vault.index('mail', mailboxOf(to)).toString('base64url')
  return take(budgetsOf(mail, recipient, config.dailyMails))
}

async function holdBack(app: FullApp, mail: DueMail, reason: Against): Promise<Attempt> {
  const waits = reason !== 'PLAY_MONEY' && waitsFor(mail.kind, reason)
  const next = waits ? retryAt(mail, app.clock.now()) : null
  if (next === null) return { outcome: 'FAILED', reason }
  await postpone(app.db, mail, next, reason)
  return { outcome: null, reason }
}

async function afterFailure(app: FullApp, mail: DueMail, error: unknown): Promise<Attempt> {
  const { db, clock, mailer } = app
  // The server takes no more at once, and others are sent meanwhile: this one is sent after them.
  const isNext = isTooMany(error) && mailer.room().all > 0
  const next = isPermanent(error) ? null : isNext ? clock.now() : retryAt(mail, clock.now())
  logFailure(app, mail, error, next)
  if (next === null) return ended('FAILED')
  await postpone(db, mail, next, null, isNext ? 0 : 1)
  return { outcome: null, reason: null }
}

/** Logs only the codes of a mail server, because its texts quote addresses. */
function logFailure({ log }: FullApp, mail: DueMail, error: unknown, next: Date | null): void {
  const { code, responseCode } = error as { code?: string; responseCode?: number }
  const about = { mail: mail.id, kind: mail.kind, company: mail.companyId }
  log.warn({ ...about, code, responseCode, next }, 'a mail was not accepted')
}
