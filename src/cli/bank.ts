import { recordActivity } from '../core/activity/record.ts'
import { removeCallbacks } from '../core/banks/check.ts'
import { callbackUrl, connectBank, disconnectBank, type NewBank } from '../core/banks/commands.ts'
import { connectFault } from '../core/banks/given.ts'
import { listCertificates } from '../core/banks/store.ts'
import type { Company } from '../core/companies/rules.ts'
import { findCompany } from '../core/companies/store.ts'
import type { FullApp, FullFront } from '../core/full-app.ts'
import { ascending, listOfAll } from '../core/places/across.ts'
import { systemClock } from '../lib/clock.ts'
import { readCertificate } from '../provider/bacen/certificate.ts'
import { commandAuthor } from './author.ts'
import { checkBank, requireBank } from './bank-check.ts'
import { CONNECT_OPTIONS, PAYOUT_KEY_MISSING, readBank } from './bank-options.ts'
import { reconcile } from './bank-reconcile.ts'
import { report } from './checks.ts'
import { type Answer, type Command, columns, Refusal } from './command.ts'
import { requireCompany, time } from './records.ts'
import { waitForServersOf, withApp } from './session.ts'

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
      await app.db.transaction(async (tx) => {
        await connectBank(tx, app.vault, found.id, fields, now)
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
      await app.db.transaction(async (tx) => {
        await disconnectBank(tx, company.id)
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
