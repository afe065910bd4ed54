import { auditCompany } from '../../src/core/audits/commands.ts'
import { toPublic, type Uuid } from '../../src/lib/ids.ts'
import { type Caller, DEADLINE_MS } from './caller.ts'
import type { Aftermath } from './driver.ts'
import * as expected from './expected.ts'
import type { Disputed, Paid } from './journal.ts'
import type { Arrival } from './receiver.ts'
import * as stored from './stored.ts'

/** How database, bank and mailbox differ from what clients were answered, each in a sentence. */
export type Findings = {
  /** Acknowledged, and not there. */
  lost: string[]
  /** There twice, or although nobody was told so. */
  doubled: string[]
  /** Shown or sent to another company. */
  leaked: string[]
  /** Neither of these: in another state, in the wrong balance, left undone, out of order. */
  wrong: string[]
}

export const isClean = ({ lost, doubled, leaked, wrong }: Findings): boolean =>
  [lost, doubled, leaked, wrong].every((some) => some.length === 0)

const add = (all: Findings, some: Partial<Findings>): void => {
  for (const [name, lines] of Object.entries(some)) all[name as keyof Findings].push(...lines)
}

/** A static code has no payer to mail to, and money that pays no charge has no receipt. */
const isPaidCharge = ({ state, atCounter }: Paid) => state === 'MATCHED' && !atCounter

/**
 * Who accepts a dispute gets no mail, and of a lost one the mail about the return tells. If the
 * decision is heard of before the return, because a fault came in between, one tells of that too.
 */
const isTold = ({ state }: Disputed) => state === 'WON' || state === 'CANCELED'

type Look = (aftermath: Aftermath) => Promise<Partial<Findings>>

const LOOKS: Look[] = [lookAtRecords, lookAtBooks, lookAtDeliveries, lookAtWork, lookAtAnswers]

export async function findDifferences(aftermath: Aftermath): Promise<Findings> {
  const findings: Findings = { lost: [], doubled: [], leaked: [], wrong: [] }
  for (const look of LOOKS) add(findings, await look(aftermath))
  return findings
}

/** Company and id of a record. */
const nameOf = (line: string): string => line.split(' ', 2).join(' ')

/** What is missing of one list and too much of another, of one kind of record. */
function sort(kind: string, wanted: string[], found: string[]): Partial<Findings> {
  const { missing, unexpected } = expected.compare(wanted, found)
  const [gone, extra] = [missing, unexpected].map((lines) => new Set(lines.map(nameOf)))
  const say = (word: string, lines: string[]) => lines.map((one) => `${kind} ${word}: ${one}`)
  return {
    lost: say(
      'missing',
      missing.filter((one) => !extra!.has(nameOf(one))),
    ),
    doubled: say(
      'too much',
      unexpected.filter((one) => !gone!.has(nameOf(one))),
    ),
    wrong: say(
      'in another state than',
      missing.filter((one) => extra!.has(nameOf(one))),
    ),
  }
}

async function lookAtRecords({ app, scene }: Aftermath): Promise<Partial<Findings>> {
  const { journal } = scene
  const all: Findings = { lost: [], doubled: [], leaked: [], wrong: [] }
  const see = (kind: string, wanted: string[], found: string[]) =>
    add(all, sort(kind, wanted, found))
  const { charges, staticCodes, refunds, withdrawals, disputes } = journal
  see('charge', expected.expectedCharges(charges), await stored.storedCharges(app))
  see('static code', expected.expectedCharges(staticCodes), await stored.storedCodes(app))
  see('payment', expected.expectedPayments(journal), await stored.storedPayments(app))
  see('sale', expected.expectedSales(journal), await stored.storedSales(app))
  see('dispute', expected.expectedOrders(disputes), await stored.storedDisputes(app))
  see('refund', expected.expectedOrders(refunds), await stored.storedRefunds(app))
  see('withdrawal', expected.expectedOrders(withdrawals), await stored.storedWithdrawals(app))
  const subscriptions = await stored.storedSubscriptions(app)
  see('subscription', expected.expectedSubscriptions(journal), subscriptions)
  // Whoever moves money twice, or not at all, is not only in another state.
  const moves = expected.compare(expected.expectedMoves(journal), await stored.movedByBank(app))
  add(all, {
    lost: moves.missing.map((one) => `not moved at the bank: ${one}`),
    doubled: moves.unexpected.map((one) => `moved at the bank: ${one}`),
  })
  const { due, possible } = await expected.expectedEvents(app, journal)
  const once = new Set(possible)
  const events = await stored.storedEvents(app)
  const told = expected.compare(
    due,
    events.filter((event) => !once.delete(event)),
  )
  add(all, {
    lost: told.missing.map((one) => `event missing: ${one}`),
    doubled: told.unexpected.map((one) => `event too much: ${one}`),
  })
  return all
}

/** Balances are what the clients have done, to the cent; and books, records and bank agree. */
async function lookAtBooks({ app, scene }: Aftermath): Promise<Partial<Findings>> {
  const { journal, shops } = scene
  const wanted = expected.expectedBalances(shops, journal)
  const { missing } = expected.compare(wanted, await stored.storedBalances(app))
  const wrong = missing.map((one) => `balance is not: ${one}`)
  for (const { company } of shops) {
    const { faults, bank } = await auditCompany(app, company as Uuid, { whole: true })
    wrong.push(...faults.map((fault) => `audit of ${company}: ${JSON.stringify(fault)}`))
    if (bank !== 'asked') wrong.push(`audit of ${company}: the bank was not asked`)
  }
  return { wrong }
}

/** Every event has arrived at the webhook of its company, always with the same bytes. */
async function lookAtDeliveries(aftermath: Aftermath): Promise<Partial<Findings>> {
  const { app, scene } = aftermath
  const { shops, arrivals } = scene
  const hooks = new Map(shops.map(({ company }, number) => [company, `/${number}`]))
  const rows = await stored.read<{ company: Uuid; id: Uuid }>(
    app,
    'select company_id as company, id from events',
  )
  const due = new Set(rows.map(({ company, id }) => `${hooks.get(company)} ${toPublic('evt', id)}`))
  const lost = [...due].filter((name) => !arrivals.byEvent.has(name))
  const leaked = [...arrivals.byEvent.keys()].filter((name) => !due.has(name))
  const changed = [...arrivals.byEvent].filter(
    ([, some]) => new Set(some.map(({ digest }) => digest)).size > 1,
  )
  return {
    lost: lost.map((name) => `event not delivered: ${name}`),
    doubled: comeAgain(aftermath).map((name) => `event delivered again without need: ${name}`),
    leaked: leaked.map((name) => `event delivered to another, or never written: ${name}`),
    wrong: changed.map(([name]) => `event delivered with other bytes: ${name}`),
  }
}

/** A worker stores what it has delivered within so many milliseconds, however busy the machine. */
const STORED_MS = 3_000

/** What came again although the worker that had sent it was not killed soon after that. */
function comeAgain({ scene, plan }: Aftermath): string[] {
  if (plan.strokes.some(({ fault }) => fault.repeats === 'any')) return []
  const kills = new Map(scene.workers.flatMap((one) => [...one.kills]))
  const isExplained = ({ life, at_ms }: Arrival) =>
    (kills.get(life) ?? Number.POSITIVE_INFINITY) < at_ms + STORED_MS
  return [...scene.arrivals.byEvent].flatMap(([name, some]) =>
    some.slice(0, -1).every(isExplained) ? [] : [name],
  )
}

/** On a machine that is very busy the database may not answer in time. It is tried again. */
const AWAY = /"code":"service_unavailable"/
/** Why a request was answered 500. */
const UNEXPECTED = /"msg":"unexpected error"/

/** No work is left, and every mail was sent. */
async function lookAtWork({
  app,
  scene,
  leftovers,
  badExits,
  complaints,
  plan,
}: Aftermath): Promise<Partial<Findings>> {
  const { payments, withdrawals, disputes, resent, wrongCodes } = scene.journal
  const isMoved = plan.strokes.some(({ fault }) => fault.needs.includes('clock'))
  const ends = (state: string) => withdrawals.filter((one) => one.state === state).length
  const sent = await stored.storedMails(app, isMoved)
  const told = disputes.length + disputes.filter(isTold).length
  const lost = disputes.filter(({ state }) => state === 'LOST').length
  const early = Array.from({ length: lost }, (_, i) => told + i + 1)
  const toldInAll = early.find((count) => sent.includes(`dispute SENT ${count}`)) ?? told
  const mails = [
    ['withdrawal-code', withdrawals.length + resent],
    ['receipt', payments.filter(isPaidCharge).length],
    ['withdrawal-completed', ends('COMPLETED')],
    ['withdrawal-failed', ends('FAILED')],
    ['dispute', toldInAll],
    ['bank-return', lost],
  ] as const
  const wanted = mails.flatMap(([kind, count]) => (count > 0 ? [`${kind} SENT ${count}`] : []))
  const { missing, unexpected } = expected.compare(wanted, sent)
  const isQuiet = plan.strokes.every(({ fault }) => fault.isQuiet)
  return {
    wrong: [
      ...leftovers.map((one) => `still to be done: ${one}`),
      ...missing.map((one) => `mails are not: ${one}`),
      ...unexpected.map((one) => `mails are: ${one}`),
      ...(wrongCodes > 0 && !isMoved ? [`${wrongCodes} codes of the newest mail are wrong`] : []),
      ...(badExits > 0 ? [`${badExits} processes did not end as they should`] : []),
      ...complaints
        .filter((one) => (isQuiet ? !AWAY.test(one) : UNEXPECTED.test(one)))
        .map((one) => `logged: ${one}`),
    ],
  }
}

/** Whoever asks again is answered as at first, in time, and sees nothing of others. */
async function lookAtAnswers({ app, scene }: Aftermath): Promise<Partial<Findings>> {
  const { caller, journal } = scene
  const { keys, batches, changed } = journal
  const { kept, empty } = await stored.keptAnswers(app)
  return {
    leaked: caller.leaks,
    wrong: [
      ...changed.map((one) => `asked once more: ${one}`),
      ...(kept === keys + batches && empty === batches
        ? []
        : [`${kept} answers are kept of ${keys + batches}, ${empty} of them empty`]),
      ...journal.absurd,
      ...caller.failures,
      ...late(caller),
    ],
  }
}

const late = ({ tally: { hung, resolved, unknown } }: Caller): string[] => [
  ...(hung > 0 ? [`${hung} requests had no answer within ${DEADLINE_MS / 1000} seconds`] : []),
  ...(resolved === unknown ? [] : [`${unknown - resolved} requests were never answered`]),
]
