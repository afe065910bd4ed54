import { recordActivity } from '../core/activity/record.ts'
import {
  type BankCheck,
  checkBank as checkConnection,
  findConnected,
  removeCallbacks,
} from '../core/banks/check.ts'
import {
  BY_OPERATOR,
  callbackUrl,
  connectBank,
  disconnectBank,
  keepsDestination,
  mailBankChange,
  type NewBank,
} from '../core/banks/commands.ts'
import { connectFault } from '../core/banks/given.ts'
import { type BankRecord, listCertificates } from '../core/banks/store.ts'
import type { Company } from '../core/companies/rules.ts'
import { findCompany } from '../core/companies/store.ts'
import type { FullApp, FullFront } from '../core/full-app.ts'
import { ascending, listOfAll } from '../core/places/across.ts'
import {
  type ComparedTransfer,
  type Comparison,
  compareWithBank,
} from '../core/reconciliation/compare.ts'
import { systemClock } from '../lib/clock.ts'
import { type Cents, formatReais } from '../lib/money.ts'
import { addDays, isLocalDate, startOfDay } from '../pix/local-time.ts'
import type { CallbackState } from '../provider/bacen/bacen.ts'
import { readCertificate } from '../provider/bacen/certificate.ts'
import type { Connection } from '../provider/bacen/connection.ts'
import type { Period } from '../provider/port.ts'
import { describeDates, describeOwnGap } from './bank-clock.ts'
import { CONNECT_OPTIONS, PAYOUT_KEY_MISSING, readBank } from './bank-options.ts'
import { report } from './checks.ts'
import { type Answer, type Args, type Command, columns, Refusal } from './command.ts'
import { asSentence, requireNone } from './faults.ts'
import type { Check } from './finding.ts'
import { requireCompany, time } from './records.ts'
import { commandAuthor, waitForServersOf, withApp } from './session.ts'

async function requireBank(
  app: FullApp,
  company: Company,
): Promise<{ bank: BankRecord; connection: Connection }> {
  const found = await findConnected(app, company)
  if (found) return found
  throw new Refusal(`No bank is connected to ${company.name}. Run vintem bank connect.`)
}

/** Checks all that is needed to receive payments, and says what to do where something is wrong. */
async function checkBank(app: FullApp, company: Company): Promise<Check[]> {
  const { connection } = await requireBank(app, company)
  const checks = (await checkConnection(app, company)) ?? []
  const about = { title: connection.profile.title, publicUrl: app.publicUrl }
  return checks.map((check) => ({
    name: check.name === 'dueDates' ? 'due-dates' : check.name,
    state: check.state,
    detail: describeCheck(check, about),
  }))
}

type About = { title: string; publicUrl: string }

function describeCheck(check: BankCheck, about: About): string {
  switch (check.name) {
    case 'certificate':
      return describeCertificate(check)
    case 'access':
      return check.fault === null
        ? 'The bank gives access, and shows what it has received.'
        : `${asSentence(check.fault)} ${REMEDY}`
    case 'clock':
      return describeOwnGap(check.gap_ms)
    case 'dates':
      return describeDates(check.dates)
    case 'scopes':
      return describeScopes(check)
    case 'dueDates':
      return describeDueDates(check, about)
    case 'subscriptions':
      return describeSubscriptions(check, about)
    case 'withdrawals':
      return describeWithdrawals(check, about)
    case 'callbacks':
      return describeCallbacks(check, about)
  }
}

const REMEDY = 'Fix what it names, then run vintem bank connect with the right values.'

type Of<Name extends BankCheck['name']> = Extract<BankCheck, { name: Name }>

function describeCertificate({ state, endsAt, days }: Of<'certificate'>): string {
  const renew = 'Get a new one from the bank, then run vintem bank connect with it.'
  if (state === 'failed') return `It has ended on ${time(endsAt)}. ${renew}`
  const detail = `It ends on ${time(endsAt)}, in ${days} ${days === 1 ? 'day' : 'days'}.`
  return state === 'warning' ? `${detail} ${renew}` : detail
}

function describeScopes({ state, isNamed, missing }: Of<'scopes'>): string {
  if (!isNamed) return 'The bank does not say which scopes it grants.'
  if (missing.length === 0) return 'All needed scopes are granted.'
  const detail = `The bank has not granted ${missing.join(', ')}. Allow them for the application in the bank’s portal`
  return state === 'warning' ? `${detail}, or sell without subscriptions.` : `${detail}.`
}

function describeDueDates({ found, missing }: Of<'dueDates'>, { title }: About): string {
  if (found === 'not-offered') return `${title} is used without them: dueDate is refused.`
  if (found === 'not-said') return `${title} does not say whether it grants them.`
  if (found === 'granted') return 'Charges may have a due date.'
  const detail = `${title} has not granted ${missing.join(', ')}, so dueDate is refused`
  return `${detail}. Allow it in the bank’s portal, or sell without due dates.`
}

function describeSubscriptions({ found, fault }: Of<'subscriptions'>, { title }: About): string {
  if (found === 'not-offered')
    return `${title} is used without Pix Automático: subscriptions are refused.`
  if (found === 'fault')
    return `${asSentence(fault!)} Contract Pix Automático, or sell without subscriptions.`
  if (found === 'account') return 'Pix Automático is collected to the account that was given.'
  return 'Pix Automático needs the account: run vintem bank connect with --account and --branch.'
}

function describeWithdrawals({ state, by, unsent }: Of<'withdrawals'>, { title }: About): string {
  if (state === 'failed') {
    const detail = `${title} has not granted ${unsent.join(', ')}`
    return `${detail}. Allow it in the bank’s portal, or connect without --payouts.`
  }
  if (by === 'bank') return `${title} sends them by itself.`
  return 'You send them by hand: vintem withdrawal list shows those that wait.'
}

const KINDS: Record<CallbackState['kind'], string> = {
  pix: 'Callbacks for payments',
  rec: 'Callbacks for subscriptions',
  cobr: 'Callbacks for charges of subscriptions',
}

const LATE = 'payments are found by asking, up to a minute late.'

function describeCallbacks(check: Of<'callbacks'>, { publicUrl }: About): string {
  switch (check.found) {
    case 'not-asked':
      return 'They are checked only if the bank gives access: run vintem bank check then.'
    case 'no-https':
      return `PUBLIC_URL is ${publicUrl}, and banks call https addresses only: set it. Until then ${LATE}`
    case 'registered':
      return `${KINDS[check.kind]} are registered.`
    case 'registered-now':
      return `${KINDS[check.kind]} have been registered now.`
    case 'missing':
      return `${KINDS[check.kind]} are not registered: ${check.reason}. Until they are, ${LATE}`
  }
}

const DAY = { value: 'DATE', required: true } as const

const reconcile: Command = {
  name: 'bank reconcile',
  summary: 'Compare what a bank has moved in a period with the records here.',
  example:
    'vintem bank reconcile --company 019a8c5e-2f60-7d31-9d5c-4b1d2e6f7a80 --from 2026-08-01 --to 2026-08-31',
  operands: [],
  options: {
    company: { value: 'COMPANY_ID', required: true, help: 'the company whose bank it is' },
    from: { ...DAY, help: 'the first day, yyyy-mm-dd, in São Paulo' },
    to: { ...DAY, help: 'the last day, yyyy-mm-dd, in São Paulo' },
    settle: { help: 'settle what the bank has and is missing here' },
  },
  async run({ options, switches }) {
    const period = readPeriod(options)
    const recordMissing = switches.has('settle')
    return withApp(async (app) => {
      const company = await requireCompany(app.db, options.company!)
      // Each payment is booked in its own transaction, so the entry is there before them.
      if (recordMissing) {
        await recordActivity(app.db, company.id, commandAuthor(), {
          action: 'bank.reconcile',
          record: { type: 'company', id: company.id },
          details: { from: options.from!, to: options.to! },
        })
      }
      const result = await compareWithBank(app, company, period, { recordMissing })
      const text = describeComparison(company, result, recordMissing)
      const { recorded: settled, ...compared } = result
      return { json: { ...compared, settled }, text, failed: result.missing.length > 0 }
    }, options.company)
  },
}

function readPeriod({ from = '', to = '' }: Args['options']): Period {
  const [isFrom, isTo] = [isLocalDate(from), isLocalDate(to)]
  requireNone([
    isFrom ? null : '--from: must be a day such as 2026-08-01',
    isTo ? null : '--to: must be a day such as 2026-08-31',
    isFrom && isTo && to < from ? '--to: must not be before --from' : null,
  ])
  return { from: startOfDay(from), to: startOfDay(addDays(to, 1)) }
}

function describeComparison(company: Company, result: Comparison, recordMissing: boolean): string {
  const { matched, unmatched, missing, recorded } = result
  const counts = [
    ['matched', String(matched.count), formatReais(matched.amount)],
    ['unmatched', String(unmatched.length), total(unmatched)],
    ['missing', String(missing.length), total(missing)],
  ]
  const done = recordMissing ? `\nSettled now: ${recorded}.\n` : ''
  return `${columns(counts)}${table('Unmatched', unmatched)}${table('Missing', missing)}${done}${advice(company, result, recordMissing)}`
}

const total = (transfers: ComparedTransfer[]): string =>
  formatReais(transfers.reduce((sum, { amount }) => sum + amount, 0) as Cents)

function table(title: string, transfers: ComparedTransfer[]): string {
  if (transfers.length === 0) return ''
  const rows = transfers.map(({ at, direction, amount, endToEndId, about }) => [
    time(at),
    direction,
    formatReais(amount),
    endToEndId,
    about,
  ])
  return `\n${title}:\n${columns(rows, '  ')}`
}

function advice({ name }: Company, { unmatched, missing }: Comparison, recordMissing: boolean) {
  if (missing.length > 0 && !recordMissing)
    return '\nRun it with --settle to settle what is missing here.\n'
  if (missing.length > 0) return `\nWhat is missing still needs somebody to look at ${name}.\n`
  if (unmatched.length > 0) return '\nUnmatched payments are accepted or returned by the API.\n'
  return '\nThe bank and the records here agree.\n'
}

const COMPANY = {
  value: 'COMPANY_ID',
  required: true,
  help: 'the company whose bank it is',
} as const

const connect: Command = {
  name: 'bank connect',
  summary: 'Connect a live company to its bank, or give it new credentials, and check it.',
  example:
    'vintem bank connect --company 019a8c5e-2f60-7d31-9d5c-4b1d2e6f7a80 --profile efi --client-id Client_Id_1 --client-secret-file secret.txt --certificate bank.p12',
  operands: [],
  options: CONNECT_OPTIONS,
  async run(args) {
    const now = systemClock.now()
    const fields = readBank(args, now)
    return withApp(async (app) => {
      const found = await requireCompany(app.db, args.options.company!)
      requireConnectable(found, fields)
      await app.db.transaction(async (tx, control) => {
        const isSame = await keepsDestination(tx, app.vault, found.id, fields)
        await connectBank(tx, app.vault, found.id, fields, now)
        if (!isSame) {
          const keys = { pixKey: found.pixKey, payoutKey: fields.payoutKey ?? null }
          const change = { ...BY_OPERATOR, bank: fields.profile.title, keys }
          await mailBankChange(tx, control, app.vault, found, change, now)
        }
        await recordActivity(tx, found.id, commandAuthor(), {
          action: 'bank.connect',
          record: { type: 'bank', id: fields.profile.name },
          details: { payouts: fields.payouts },
        })
      })
      const notice = await waitForServersOf(app)
      const company = (await findCompany(app.db, found.id))!
      const { title } = fields.profile
      const heading = `${company.name} is connected to ${title}; the credentials are sealed.\n${notice}\n`
      return report(await checkBank(app, company), heading)
    }, args.options.company)
  },
}

function requireConnectable(company: Company, bank: NewBank): void {
  const fault = connectFault(company, bank)
  if (fault === 'sandbox') {
    throw new Refusal(
      `${company.name} is a sandbox, whose bank is the simulated one. Create a company with --live.`,
    )
  }
  if (fault) throw new Refusal(`--payout-key: ${PAYOUT_KEY_MISSING}`)
}

const check: Command = {
  name: 'bank check',
  summary: 'Check the connection to a bank, register its callbacks, and say what to do.',
  example: 'vintem bank check --company 019a8c5e-2f60-7d31-9d5c-4b1d2e6f7a80',
  operands: [],
  options: { company: COMPANY },
  run: ({ options }) =>
    withApp(
      async (app) => report(await checkBank(app, await requireCompany(app.db, options.company!))),
      options.company,
    ),
}

const disconnect: Command = {
  name: 'bank disconnect',
  summary: 'Disconnect a company from its bank, and delete the credentials.',
  example: 'vintem bank disconnect --company 019a8c5e-2f60-7d31-9d5c-4b1d2e6f7a80',
  operands: [],
  options: { company: COMPANY },
  run: ({ options }) =>
    withApp(async (app) => {
      const company = await requireCompany(app.db, options.company!)
      const { bank, connection } = await requireBank(app, company)
      const fault = await removeCallbacks(app, company, bank)
      await app.db.transaction(async (tx, control) => {
        await disconnectBank(tx, company.id)
        const told = { ...BY_OPERATOR, bank: connection.profile.title, keys: null }
        await mailBankChange(tx, control, app.vault, company, told, systemClock.now())
        const record = { type: 'bank', id: connection.profile.name } as const
        const change = { action: 'bank.disconnect', record }
        await recordActivity(tx, company.id, commandAuthor(), change)
      })
      const notice = await waitForServersOf(app)
      const { title } = connection.profile
      const callbacks =
        fault === null
          ? 'No callback of ours is left there.\n'
          : `Its callbacks could not be removed (${fault}): remove them in the bank’s portal.\n`
      return {
        json: { companyId: company.id, disconnected: true, callbacksRemoved: fault === null },
        text:
          `${company.name} is no longer connected to ${title}, and its credentials are deleted.\n` +
          `${callbacks}What is still paid there is found when it is connected again: vintem bank reconcile --settle.\n${notice}`,
      }
    }, options.company),
}

const show: Command = {
  name: 'bank show',
  summary: 'Show the bank of a company, or all banks and the ends of their certificates.',
  example: 'vintem bank show --company 019a8c5e-2f60-7d31-9d5c-4b1d2e6f7a80',
  operands: [],
  options: { company: { value: 'COMPANY_ID', help: 'only this company (default all)' } },
  run: ({ options }) =>
    withApp(
      (app) => (options.company ? showOne(app, options.company) : showAll(app)),
      options.company,
    ),
}

async function showAll(app: FullFront): Promise<Answer> {
  const banks = await listOfAll(app, listCertificates, {
    companyOf: ({ companyId }) => companyId,
    compare: ascending(({ companyId }) => companyId),
  })
  const heading = ['COMPANY ID', 'PROFILE', 'CERTIFICATE ENDS']
  const rows = banks.map(({ companyId, profile, certificateEndsAt }) => [
    companyId,
    profile,
    time(certificateEndsAt),
  ])
  return { json: banks, text: rows.length > 0 ? columns([heading, ...rows]) : 'No banks.\n' }
}

/** All fields except secrets. */
async function showOne(app: FullApp, id: string): Promise<Answer> {
  const company = await requireCompany(app.db, id)
  const { bank, connection } = await requireBank(app, company)
  const { profile, clientId, account, certificate } = connection
  const fields = {
    companyId: company.id,
    profile: profile.name,
    bank: profile.title,
    baseUrl: profile.baseUrl,
    tokenUrl: profile.token.url,
    clientId,
    certificate: readCertificate(certificate).subject,
    certificateEndsAt: bank.certificateEndsAt,
    account: account && [account.branch, account.number, account.type].filter(Boolean).join(' '),
    payouts: bank.payouts,
    payoutKey: bank.payoutKey ?? company.pixKey,
    callbackUrl: callbackUrl(app.publicUrl, bank),
    connectedAt: bank.connectedAt,
  }
  const rows = Object.entries(fields).map(([name, value]) => [
    name,
    value instanceof Date ? time(value) : String(value ?? '-'),
  ])
  return { json: fields, text: columns(rows) }
}

export const bankCommands = [connect, check, show, reconcile, disconnect]
