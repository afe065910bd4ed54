import { releaseCharges } from '../core/balance/release.ts'
import { claimDueBillings, DUE_BILLINGS } from '../core/billings/store.ts'
import { expireCharges } from '../core/charges/commands.ts'
import { claimOrphans, ORPHANS } from '../core/charges/intent-store.ts'
import { removeOrphans as removeOrphansOf } from '../core/charges/intents.ts'
import { EXPIRING, EXPIRING_AT_BANKS, NOTICES, RELEASING } from '../core/charges/store.ts'
import { nowOf, withCompanyClock } from '../core/companies/clock.ts'
import { DUE_DELIVERIES } from '../core/deliveries/store.ts'
import { sendDefense } from '../core/disputes/ask.ts'
import { noticeDeadline } from '../core/disputes/commands.ts'
import { claimDefenses, DEFENSES, NOTICES as DISPUTE_NOTICES } from '../core/disputes/store.ts'
import { type DueKind, type DueOfCompany, type DueRequest, findDue, sourceOf } from '../core/due.ts'
import type { DueTask, FullApp } from '../core/full-app.ts'
import { DUE_MAILS } from '../core/mails/store.ts'
import type { Claim } from '../core/orders.ts'
import { processStored } from '../core/payments/callbacks.ts'
import { matchBeforeExpiry } from '../core/payments/paid-charges.ts'
import { claimCallbacks, DUE_CALLBACKS } from '../core/payments/store.ts'
import { reconcile } from '../core/reconciliation/received.ts'
import { claimReconciliations, RECONCILING } from '../core/reconciliation-schedule.ts'
import { withoutLost } from '../core/recurrences/agreements.ts'
import { generateCharges } from '../core/recurrences/commands.ts'
import { GENERATING, UNDECIDED } from '../core/recurrences/store.ts'
import { returnMoney } from '../core/refunds/returns.ts'
import { claimDueRefunds, DUE_REFUNDS } from '../core/refunds/store.ts'
import { followRules, noticeCharges } from '../core/reminders/commands.ts'
import { RULE_CHANGES } from '../core/reminders/store.ts'
import { COLLECTING, collectOfCompany } from '../core/simulated-bank/collections.ts'
import { TASK } from '../core/tasks.ts'
import { FAILING } from '../core/webhooks/store.ts'
import { endWait } from '../core/withdrawals/commands.ts'
import { payOut } from '../core/withdrawals/payouts.ts'
import {
  claimDuePayouts,
  DUE_PAYOUTS,
  EXPIRING as EXPIRING_WITHDRAWALS,
} from '../core/withdrawals/store.ts'
import type { Tx } from '../db/database.ts'
import type { Uuid } from '../lib/ids.ts'
import { followAgreements, stepBillings } from './billing.ts'
import { workOff } from './loop.ts'
import { sendDueMails } from './mail.ts'
import { handleFailing } from './webhooks.ts'

/** How a kind of due work is done. */
type Manner = {
  kind: DueKind
  /** What operators read. */
  title: DueTask['title']
  /** It cannot be undone, so it waits while the clock of the machine may be wrong. */
  isTimed?: true
  /** How many rows are found at once. */
  max: number
  /** For how many companies it works at once: more than one where it waits for banks. */
  atOnce?: number
  failed: string
  /** When a part is done, more of the same company may be due at once. */
  isRepeated?: true
}

/** For how many companies banks are asked at once. */
const BANKS_AT_ONCE = 32

/** Work on rows that stay due until it is done. `act` returns how much was done. */
function found(
  manner: Manner & { act(app: FullApp, due: DueOfCompany): Promise<number> },
): DueTask {
  return task(manner, {
    async find(app, request) {
      const { due, isFull } = await findDue(app.db.light, manner.kind, request)
      return { due, isFull: isFull || manner.isRepeated === true }
    },
    act: (app, _companyId, due) => manner.act(app, due),
  })
}

/** Work on rows that are claimed first. If interrupted, they are due when their lease ends. */
function claimed<T extends { companyId: Uuid }>(
  manner: Manner & {
    /** How many rows of one company. */
    each?: number
    claim(tx: Tx, request: DueRequest): Promise<T[]>
    act(app: FullApp, companyId: Uuid, claimed: T[]): Promise<void>
  },
): DueTask {
  const { max, each = max } = manner
  return task<T[]>(manner, {
    isClaimed: true,
    async find(app, request) {
      // A claim says that a bank may get an order, so it must survive a power cut.
      const rows = await manner.claim(app.db, { ...request, each })
      const due = Map.groupBy(rows, ({ companyId }) => companyId)
      const isOneFull = [...due.values()].some(({ length }) => length >= each)
      return { due, isFull: isOneFull || rows.length >= max }
    },
    async act(app, companyId, rows) {
      await manner.act(app, companyId, rows)
      return rows.length
    },
  })
}

function task<T>(
  { kind, title, isTimed, max, atOnce = 1, failed }: Manner,
  work: {
    find(app: FullApp, request: DueRequest): Promise<{ due: Map<Uuid, T>; isFull: boolean }>
    act(app: FullApp, companyId: Uuid, part: T): Promise<number>
    isClaimed?: true
  },
): DueTask {
  return {
    name: kind.name,
    title,
    isTimed: isTimed === true,
    source: sourceOf(kind),
    run: (app, signal, only = null) =>
      workOff<T>(app, {
        task: kind.name,
        only,
        signal,
        failed,
        atOnce,
        isTimed: isTimed === true,
        isClaimed: work.isClaimed === true,
        find: (except) => work.find(app, { now: app.systemClock.now(), max, only, except }),
        act: (companyId, part) => work.act(app, companyId, part),
      }),
  }
}

/** Stores that charges have expired, with their events. Readers see them as expired before. */
export const expireDueCharges = found({
  kind: EXPIRING,
  title: { pt: 'Expirar cobranças', en: 'Expire charges' },
  isTimed: true,
  max: 1000,
  failed: 'charges were not expired',
  act: (app, { companyId, ids, ...time }) =>
    app.db.transaction((tx) => expireCharges(tx, companyId, ids, nowOf(app, time))),
})

/** The same for companies with a real bank, which is asked first. */
export const expireChargesAtBanks = found({
  kind: EXPIRING_AT_BANKS,
  title: { pt: 'Expirar cobranças em bancos', en: 'Expire charges at banks' },
  isTimed: true,
  max: 200,
  atOnce: BANKS_AT_ONCE,
  failed: 'charges were not expired',
  async act(app, { companyId, ids }) {
    const over = await matchBeforeExpiry(app, companyId, ids)
    const now = app.systemClock.now()
    const done = await app.db.transaction((tx) => expireCharges(tx, companyId, over, now))
    if (over.length < ids.length) throw new Error('the bank did not answer about all charges')
    return done
  },
})

/** Says that charges are due, or overdue, and reminds their payers. */
export const noticeDueDates = found({
  kind: NOTICES,
  title: { pt: 'Avisar vencimentos', en: 'Say that charges are due' },
  isTimed: true,
  // Each may be a mail that is sealed, and nothing else runs meanwhile.
  max: 200,
  failed: 'due dates were not told',
  act: (app, { companyId, ids, ...time }) =>
    app.db.transaction((tx) => noticeCharges(tx, withCompanyClock(app, time), companyId, ids)),
})

/** Lets open charges follow changed rules of reminders. */
export const followReminderRules = found({
  kind: RULE_CHANGES,
  title: { pt: 'Aplicar regras de lembretes', en: 'Apply rules of reminders' },
  isRepeated: true,
  max: 100,
  failed: 'charges do not follow changed reminders',
  act: (app, { companyId, ...time }) =>
    app.db.transaction((tx) => followRules(tx, companyId, nowOf(app, time))),
})

/** Makes received money withdrawable when the delay of the company is over. */
export const releaseDueCharges = found({
  kind: RELEASING,
  title: { pt: 'Liberar saldo de cobranças', en: 'Release money of charges' },
  isTimed: true,
  max: 1000,
  failed: 'charges were not released',
  act: (app, { companyId, ids, ...time }) =>
    app.db.transaction((tx) => releaseCharges(tx, companyId, ids, nowOf(app, time))),
})

/** Processes callbacks that are stored and not processed yet. */
export const processDueCallbacks = claimed({
  kind: DUE_CALLBACKS,
  title: { pt: 'Processar avisos de bancos', en: 'Process callbacks of banks' },
  max: 512,
  each: 64,
  atOnce: 512,
  failed: 'callbacks were not processed',
  claim: claimCallbacks,
  act: (app, _companyId, callbacks) => processStored(app, callbacks),
})

/** Asks banks what they have received, and matches the payments that no callback has named. */
export const reconcileDue = claimed({
  kind: RECONCILING,
  title: { pt: 'Conferir recebimentos com bancos', en: 'Compare receipts with banks' },
  max: 50,
  atOnce: BANKS_AT_ONCE,
  failed: 'reconciling failed',
  claim: claimReconciliations,
  act: (app, _companyId, [due]) => reconcile(app, due!),
})

/** Removes charges at banks that know them although we never inserted them. */
export const removeOrphans = claimed({
  kind: ORPHANS,
  title: { pt: 'Remover cobranças inacabadas em bancos', en: 'Remove unfinished charges at banks' },
  max: 50,
  atOnce: BANKS_AT_ONCE,
  failed: 'charges were not removed at the bank',
  claim: claimOrphans,
  act: (app, _companyId, orphans) => removeOrphansOf(app, orphans),
})

/** If one order fails, it is claimed again when its lease is over. The others are done. */
const each =
  <T>(act: (app: FullApp, claim: Claim<T>) => Promise<void>) =>
  async (app: FullApp, _companyId: Uuid, claims: Claim<T>[]): Promise<void> => {
    const ends = await Promise.allSettled(claims.map((one) => act(app, one)))
    for (const end of ends) if (end.status === 'rejected') throw end.reason
  }

/** Orders banks to return money, and asks again about refunds without an answer. */
export const carryOutRefunds = claimed({
  kind: DUE_REFUNDS,
  title: { pt: 'Enviar devoluções', en: 'Send refunds' },
  max: 10,
  atOnce: BANKS_AT_ONCE,
  failed: 'a refund was interrupted',
  claim: claimDueRefunds,
  act: each(returnMoney),
})

/** Sends the defenses of disputes to banks, and asks again about those without an answer. */
export const sendDefenses = claimed({
  kind: DEFENSES,
  title: { pt: 'Enviar defesas de disputas', en: 'Send defenses of disputes' },
  max: 10,
  atOnce: BANKS_AT_ONCE,
  failed: 'a defense was interrupted',
  claim: claimDefenses,
  act: each(sendDefense),
})

/** Tells companies of the deadlines of disputes. */
export const noticeDisputes = found({
  kind: DISPUTE_NOTICES,
  title: { pt: 'Avisar prazos de disputas', en: 'Tell of deadlines of disputes' },
  isTimed: true,
  max: 1000,
  failed: 'deadlines of disputes were not told',
  async act(app, { companyId, ids, ...time }) {
    const own = withCompanyClock(app, time)
    let done = 0
    // Each is a transaction of its own, because books are locked after all else.
    for (const id of ids) done += Number(await noticeDeadline(own, companyId, id))
    return done
  },
})

/** Orders banks to send confirmed withdrawals, and asks again about those without an answer. */
export const payOutWithdrawals = claimed({
  kind: DUE_PAYOUTS,
  title: { pt: 'Enviar saques', en: 'Send withdrawals' },
  max: 10,
  atOnce: BANKS_AT_ONCE,
  failed: 'a payout was interrupted',
  claim: claimDuePayouts,
  act: each(payOut),
})

/** Returns the money of withdrawals whose code was not used in time, and sends what was held. */
export const expireDueWithdrawals = found({
  kind: EXPIRING_WITHDRAWALS,
  title: { pt: 'Encerrar saques sem código', en: 'End withdrawals without a code' },
  isTimed: true,
  max: 1000,
  failed: 'a withdrawal was not expired',
  async act(app, { companyId, ids, ...time }) {
    const now = nowOf(app, time)
    let done = 0
    for (const id of ids) {
      const isDone = await app.db.transaction((tx) => endWait(tx, app, companyId, id, now))
      done += Number(isDone)
    }
    return done
  },
})

/** Asks banks about agreements that had no callback for a while, or that have expired. */
export const followDue = found({
  kind: UNDECIDED,
  title: {
    pt: 'Consultar autorizações de assinaturas',
    en: 'Ask about agreements of subscriptions',
  },
  isTimed: true,
  max: 100,
  atOnce: BANKS_AT_ONCE,
  failed: 'agreements were not asked about',
  act: followAgreements,
})

/** Generates the charges of due cycles. */
export const generateDue = found({
  kind: GENERATING,
  title: { pt: 'Gerar cobranças de assinaturas', en: 'Generate charges of subscriptions' },
  isRepeated: true,
  isTimed: true,
  max: 500,
  atOnce: BANKS_AT_ONCE,
  failed: 'charges were not generated',
  async act(app, { companyId, ids, ...time }) {
    const kept = await withoutLost(app, companyId, ids)
    const now = nowOf(app, time)
    return app.db.transaction((tx) => generateCharges(tx, app.vault, companyId, kept, now))
  },
})

/** Orders banks to collect due billings, and asks them about the results. */
export const billDue = claimed({
  kind: DUE_BILLINGS,
  title: { pt: 'Agendar cobranças de assinaturas', en: 'Schedule charges of subscriptions' },
  isTimed: true,
  // A bank that answers can do so many before their lease is over.
  max: 50,
  atOnce: BANKS_AT_ONCE,
  failed: 'billings were interrupted',
  claim: claimDueBillings,
  act: stepBillings,
})

/** Lets the simulated bank collect, and send its callbacks. */
export const collectDue = found({
  isRepeated: true,
  kind: COLLECTING,
  title: { pt: 'Cobrar no banco simulado', en: 'Collect at the simulated bank' },
  isTimed: true,
  max: 500,
  atOnce: 4,
  failed: 'the simulated bank did not collect',
  act: (app, { companyId, ...time }) => collectOfCompany(withCompanyClock(app, time), companyId),
})

/** Warns companies of webhooks that only fail, and deactivates those that continue to fail. */
export const watchWebhooks = found({
  kind: FAILING,
  title: { pt: 'Acompanhar webhooks com falha', en: 'Follow failing webhooks' },
  max: 1000,
  failed: 'a failing webhook was not handled',
  act: (app, due) => handleFailing(withCompanyClock(app, due), due),
})

const sendMails: DueTask = {
  name: TASK.mail,
  title: { pt: 'Enviar e-mails', en: 'Send emails' },
  isTimed: false,
  source: sourceOf(DUE_MAILS),
  run: sendDueMails,
}

/** The worker that leases a webhook sends to it. Here it is only woken. */
const wakeDeliveries: DueTask = {
  name: TASK.deliver,
  title: { pt: 'Entregar webhooks', en: 'Deliver webhooks' },
  isTimed: false,
  source: DUE_DELIVERIES,
  run: async ({ alarm }) => alarm.wake(TASK.deliver),
}

/**
 * All work that is due at a time, in the order in which it is done at one moment of a test clock.
 * Deliveries come last, so that events of a moment are sent at that moment.
 */
export const DUE_TASKS: readonly DueTask[] = [
  processDueCallbacks,
  reconcileDue,
  removeOrphans,
  followDue,
  generateDue,
  billDue,
  collectDue,
  followReminderRules,
  noticeDueDates,
  expireDueCharges,
  expireChargesAtBanks,
  releaseDueCharges,
  carryOutRefunds,
  sendDefenses,
  noticeDisputes,
  expireDueWithdrawals,
  payOutWithdrawals,
  watchWebhooks,
  sendMails,
  wakeDeliveries,
]
