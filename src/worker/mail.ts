import type { App } from '../core/app.ts'
import { findReceiptLetter } from '../core/mails/receipt.ts'
import { isExpired, type MailOutcome, retryAt } from '../core/mails/rules.ts'
import { openLetter } from '../core/mails/sealing.ts'
import { claimDue, type DueMail, finish, postpone } from '../core/mails/store.ts'
import { TASK } from '../core/tasks.ts'
import { describeError } from '../lib/log.ts'
import { isPermanent } from '../lib/mailer.ts'

const LANES = 4
/** A lane is kept free of receipts, so that a slow server holds up no code because of them. */
const RECEIPT_LANES = 3
const LOOK_AGAIN_MS = 1_000
/** Longer than an attempt takes. A mail whose sender was killed waits this long for another. */
const LEASE_MS = 120_000

/**
 * Sends what is due, a few at a time. Whatever a slow server does to one mail, the free lanes go on
 * with the others, also with those that become due meanwhile.
 */
export async function sendDueMails(
  app: App,
  signal: AbortSignal = new AbortController().signal,
): Promise<void> {
  const sending = new Map<Promise<void>, DueMail>()
  while (!signal.aborted) {
    const busy = [...sending.values()]
    for (const mail of await claim(app, busy)) {
      const work: Promise<void> = send(app, mail).finally(() => sending.delete(work))
      sending.set(work, mail)
    }
    // Lanes that were busy before the claim may have left something that is due.
    if (sending.size === 0 && busy.length === 0) return
    await waitForOne(app, [...sending.keys()], signal)
  }
  await Promise.all(sending.keys())
}

async function claim({ db, clock }: App, sending: DueMail[]): Promise<DueMail[]> {
  const most = LANES - sending.length
  if (most === 0) return []
  const receipts = RECEIPT_LANES - sending.filter(({ kind }) => kind === 'receipt').length
  const now = clock.now()
  const leaseUntil = new Date(now.getTime() + LEASE_MS)
  return db.transaction((tx) => claimDue(tx, now, leaseUntil, most, receipts))
}

/** Until a lane is free, or it is time to look for new mails. */
async function waitForOne(app: App, sending: Promise<void>[], signal: AbortSignal) {
  const enough = new AbortController()
  const either = AbortSignal.any([signal, enough.signal])
  await Promise.race([...sending, app.alarm.wait(TASK.mail, LOOK_AGAIN_MS, either)])
  enough.abort()
}

/** Never throws: trouble with one mail is told and left to its next attempt. */
async function send(app: App, mail: DueMail): Promise<void> {
  const about = { mail: mail.id, kind: mail.kind, company: mail.companyId }
  try {
    const outcome = await attempt(app, mail)
    const { db, clock, log } = app
    if (outcome !== 'RETRY') await finish(db, mail, outcome, clock.now())
    if (outcome === 'SENT') log.info(about, 'a mail was sent')
    if (outcome === 'EXPIRED') log.warn(about, 'a mail was not sent while it was of use')
    if (outcome === 'FAILED') log.error(about, 'a mail was given up')
  } catch (error) {
    app.log.error({ ...describeError(error), ...about }, 'a mail was left half-way')
  }
}

async function attempt(app: App, mail: DueMail): Promise<MailOutcome | 'RETRY'> {
  if (isExpired(mail, app.clock.now())) return 'EXPIRED'
  try {
    const letter =
      mail.kind === 'receipt' ? await findReceiptLetter(app, mail) : openLetter(app.vault, mail)
    if (!letter) return 'EXPIRED'
    await app.mailer.send({ ...letter, id: mail.id, createdAt: mail.createdAt })
    return 'SENT'
  } catch (error) {
    const next = isPermanent(error) ? null : retryAt(mail, app.clock.now())
    tellFailure(app, mail, error, next)
    if (next === null) return 'FAILED'
    await postpone(app.db, mail, next)
    return 'RETRY'
  }
}

/** A mail server quotes addresses in what it says, so only the numbers of its answer are told. */
function tellFailure({ log }: App, mail: DueMail, error: unknown, next: Date | null): void {
  const { code, responseCode } = error as { code?: string; responseCode?: number }
  const about = { mail: mail.id, kind: mail.kind, company: mail.companyId }
  log.warn({ ...about, code, responseCode, next }, 'a mail was not taken')
}
