import { readFileSync } from 'node:fs'
import { setTimeout as pause } from 'node:timers/promises'
import { recordActivity } from '../core/activity/record.ts'
import { cancelCharge, findCharge, removeChargeAtBank } from '../core/charges/commands.ts'
import { isDue } from '../core/charges/rules.ts'
import { withCompanyClock } from '../core/companies/clock.ts'
import type { Company } from '../core/companies/rules.ts'
import { listCompanies } from '../core/companies/store.ts'
import type { FullApp, FullFront } from '../core/full-app.ts'
import {
  type Erased,
  erasePayer,
  findPayer,
  lookAtPayer,
  SETTLE_MS,
  totalOf,
  type Wanted,
} from '../core/payers/commands.ts'
import { exportFacts, exportPayer, type PayerExport } from '../core/payers/export.ts'
import { type Counts, findErasure } from '../core/payers/store.ts'
import { type Blockers, isBlocked } from '../core/payers/survey.ts'
import { ascending, listOfAll } from '../core/places/across.ts'
import { placeOf } from '../core/places/front.ts'
import { endAtBank } from '../core/recurrences/agreements.ts'
import { cancelRecurrence, findRecurrence } from '../core/recurrences/commands.ts'
import { systemClock } from '../lib/clock.ts'
import { forEachLimited } from '../lib/for-each-limited.ts'
import { isUuid, toPublic } from '../lib/ids.ts'
import { isTaxIdShape, plainTaxId } from '../pix/tax-id.ts'
import { type Answer, type Args, type Command, Refusal, UsageFault } from './command.ts'
import { requireNone } from './faults.ts'
import { intoNewFile, newFileFault } from './new-file.ts'
import { payerPage } from './payer-page.ts'
import { requireCompany } from './records.ts'
import { commandAuthor, withApp } from './session.ts'
import { typedPath } from './typed-path.ts'

const COMPANY = { value: 'COMPANY_ID', help: 'only what this company has' } as const
const ALL = { help: 'what all companies of the installation have' } as const
const TAX_ID = {
  value: 'TAX_ID',
  help: 'the CPF or CNPJ of the payer; - reads it from standard input',
} as const

/** A tax id in the list of processes can be read by others of the machine, so it can be piped. */
function readTaxId(typed: string): string {
  const taxId = plainTaxId(typed === '-' ? readFileSync(0, 'utf8') : typed)
  if (isTaxIdShape(taxId)) return taxId
  throw new UsageFault('--tax-id: must be a CPF or a CNPJ.')
}

/** Each company decides about its payers, so it is said for whom this is done. */
function requireScope({ options, switches }: Args): void {
  if ((options.company === undefined) === switches.has('all-companies')) return
  throw new UsageFault('Give either --company or --all-companies.')
}

type Own = { app: FullApp; company: Company; wanted: Wanted }

/** The companies that are asked for, each with the app of its place and its own time. */
async function companiesOf(front: FullFront, { options }: Args, taxId: string): Promise<Own[]> {
  const isEverywhere = options.company === undefined
  const companies = isEverywhere
    ? await listOfAll(front, listCompanies, {
        companyOf: ({ id }) => id,
        compare: ascending(({ id }) => id),
      })
    : [await requireCompany(front.db, options.company!)]
  const own: Own[] = []
  for (const company of companies) {
    const app = withCompanyClock(await placeOf(front, company.id), company)
    own.push({ app, company, wanted: { companyId: company.id, taxId, isEverywhere } })
  }
  return own
}

const exporting = (name: string): Command => ({
  name,
  summary: 'Write all that is known of a payer, as JSON and as a page that people can read.',
  example: `vintem ${name} --tax-id 529.982.247-25 --company 019a8c5e-2f60-7d31-9d5c-4b1d2e6f7a80 --output maria.json --page maria.html`,
  operands: [],
  options: {
    'tax-id': TAX_ID,
    company: COMPANY,
    'all-companies': ALL,
    erasure: {
      value: 'ERASURE_ID',
      help: 'instead of --tax-id: the facts that an erasure has left',
    },
    output: { value: 'FILE', help: 'a new file for the JSON (default standard output)' },
    page: { value: 'FILE', help: 'a new file for the page, HTML' },
  },
  async run(args) {
    requireScope(args)
    const [output, page] = [pathOf(args.options.output), pathOf(args.options.page)]
    requireNone([output && newFileFault('--output', output), page && newFileFault('--page', page)])
    const companies =
      args.options.erasure === undefined
        ? await exportKnown(args)
        : [await exportErased(args, args.options.erasure)]
    const json = { exportedAt: systemClock.now(), companies }
    const text = `${JSON.stringify(json, null, 2)}\n`
    if (page) await intoNewFile(page, (file) => file.appendFile(payerPage(json)))
    if (output) await intoNewFile(output, (file) => file.appendFile(text))
    return output === null
      ? { json, text }
      : { json: { output, page, companies: companies.length }, text: written(companies, output) }
  },
})

const pathOf = (typed: string | undefined): string | null =>
  typed === undefined ? null : typedPath(typed)

const written = (companies: PayerExport[], output: string): string =>
  companies.length === 0
    ? `Nothing is known of such a payer. That is in ${output}.\n`
    : `What ${companies.length} companies have is in ${output}.\n`

async function exportKnown(args: Args): Promise<PayerExport[]> {
  if (args.options['tax-id'] === undefined) throw new UsageFault('Missing: --tax-id.')
  const taxId = readTaxId(args.options['tax-id'])
  return withApp(async (front) => {
    const found: PayerExport[] = []
    for (const { app, company, wanted } of await companiesOf(front, args, taxId)) {
      const look = await lookAtPayer(app, wanted)
      if (totalOf(look.counts) === 0) continue
      found.push(await exportPayer(app, company, wanted, look))
      await app.db.transaction((tx) =>
        recordActivity(tx, company.id, commandAuthor(), { action: 'payer.export' }),
      )
    }
    return found
  }, args.options.company)
}

async function exportErased({ options }: Args, typed: string): Promise<PayerExport> {
  const id = typed.toLowerCase()
  if (options.company === undefined) throw new UsageFault('--erasure needs --company.')
  if (options['tax-id'] !== undefined)
    throw new UsageFault(
      'Give either --tax-id or --erasure, because nothing leads from one to the other.',
    )
  return withApp(async (front) => {
    const company = await requireCompany(front.db, options.company!)
    const { db, vault } = await placeOf(front, company.id)
    if (!isUuid(id) || !(await findErasure(db, company.id, id)))
      throw new Refusal(`The company has no erasure ${typed}.`)
    return exportFacts({ db, vault }, company, { indexes: [], owned: [id], shared: [] })
  }, options.company)
}

const erasing = (name: string): Command => ({
  name,
  summary:
    'Erase all that tells who a payer is. Books, amounts and dates stay. It cannot be undone.',
  example: `vintem ${name} --tax-id 529.982.247-25 --company 019a8c5e-2f60-7d31-9d5c-4b1d2e6f7a80 --yes`,
  operands: [],
  options: {
    'tax-id': { ...TAX_ID, required: true },
    company: COMPANY,
    'all-companies': ALL,
    cancel: { help: 'cancel open charges and subscriptions of the payer before' },
    yes: { help: 'erase; without it the command only says what there is' },
    wait: {
      value: 'SECONDS',
      help: `how long requests may take that began before (default ${SETTLE_MS / 1000})`,
    },
  },
  async run(args) {
    requireScope(args)
    const taxId = readTaxId(args.options['tax-id']!)
    const wait_ms = readWait(args.options.wait)
    const ends = await withApp(async (front) => {
      const ends: End[] = []
      await forEachLimited(
        COMPANIES_AT_ONCE,
        await companiesOf(front, args, taxId),
        async (own) => {
          ends.push(await eraseIn(own, args.switches, wait_ms))
        },
      )
      return ends
    }, args.options.company)
    return answerOf(ends.filter(({ kind }) => kind !== 'unknown'))
  },
})

/** Most of the time of an erasure is waiting. */
const COMPANIES_AT_ONCE = 8

function readWait(typed: string | undefined): number {
  if (typed === undefined) return SETTLE_MS
  if (/^\d{1,4}$/.test(typed)) return Number(typed) * 1000
  throw new UsageFault('--wait: a number of seconds, at most 9999.')
}

type End = { company: Company } & (Erased | { kind: 'preview'; counts: Counts; blockers: Blockers })

async function eraseIn(own: Own, switches: Set<string>, wait_ms: number): Promise<End> {
  const { app, company, wanted } = own
  if (!switches.has('yes')) {
    const { counts, survey, underWay } = await lookAtPayer(app, wanted)
    if (totalOf(counts) === 0 && underWay === null) return { company, kind: 'unknown' }
    return { company, kind: 'preview', counts, blockers: survey.blockers }
  }
  if (switches.has('cancel')) await cancelAll(own, (await findPayer(app, wanted)).survey.blockers)
  const settle = () => pause(wait_ms)
  return { company, ...(await erasePayer(app, wanted, commandAuthor(), settle)) }
}

/** Does what the company could do itself, as it would, with an entry in its log for each. */
async function cancelAll({ app, company }: Own, blockers: Blockers): Promise<void> {
  for (const id of blockers.recurrences) {
    await endAtBank(app, company, await findRecurrence(app, company.id, id))
    await app.db.transaction(async (tx) => {
      await cancelRecurrence(tx, app, company.id, id)
      const record = { type: 'subscription', id: toPublic('rec', id) } as const
      const change = { action: 'cancelRecurrence', record }
      await recordActivity(tx, company.id, commandAuthor(), change)
    })
  }
  for (const id of blockers.charges) {
    const charge = await findCharge(app, company.id, id)
    // One that is past its deadline expires by itself, and cannot be canceled.
    if (charge.status !== 'OPEN' || isDue(charge, app.clock.now())) continue
    const isCanceledAtBank = await removeChargeAtBank(app, company, charge)
    await app.db.transaction(async (tx) => {
      await cancelCharge(tx, app, company.id, id, isCanceledAtBank)
      const record = { type: 'charge', id: toPublic('charge', id) } as const
      await recordActivity(tx, company.id, commandAuthor(), { action: 'cancelCharge', record })
    })
  }
}

function answerOf(ends: End[]): Answer {
  const json = ends.map(({ company, ...end }) => ({ companyId: company.id, ...shown(end) }))
  const failed = ends.some(({ kind }) => kind === 'blocked' || kind === 'unfinished')
  const text = ends.map(textOf).join('\n') || 'Nothing is known of such a payer.\n'
  const isPreview = ends.some(({ kind }) => kind === 'preview')
  const advice = isPreview
    ? '\nNothing was erased. Run the command again with --yes to erase it.\n'
    : ''
  return { json, text: text + advice, failed }
}

const publicBlockers = ({ charges, recurrences, disputes }: Blockers) => ({
  charges: charges.map((id) => toPublic('charge', id)),
  subscriptions: recurrences.map((id) => toPublic('rec', id)),
  disputes: disputes.map((id) => toPublic('dispute', id)),
})

const shown = (end: object): object =>
  'blockers' in end ? { ...end, blockers: publicBlockers(end.blockers as Blockers) } : end

function textOf(end: End): string {
  const { company } = end
  const heading = `${company.name} (${company.id}): `
  if (end.kind === 'erased')
    return `${heading}erased. ${listOf(end.counts)}.\nThe erasure is ${end.erasureId}: "--erasure" of the export shows the facts that stay.\n`
  if (end.kind === 'preview')
    return `${heading}${listOf(end.counts)}.\n${isBlocked(end.blockers) ? blocked(end.blockers) : ''}`
  if (end.kind === 'unfinished')
    return `${heading}not finished. Left: ${listOf(end.left)}. Run the command again in a minute.\n`
  return end.kind === 'blocked' ? `${heading}not erased.\n${blocked(end.blockers)}` : ''
}

const listOf = (counts: Counts): string =>
  Object.entries(counts)
    .map(([name, count]) => `${count} ${name}`)
    .join(', ') || 'nothing'

function blocked(blockers: Blockers): string {
  const { charges, subscriptions, disputes } = publicBlockers(blockers)
  const open = [...charges, ...subscriptions]
  const lines = [
    open.length > 0 &&
      `Open, cancel them or use --cancel; those past their deadline expire within minutes: ${open.join(', ')}.`,
    disputes.length > 0 &&
      `Their defense is on its way to the bank, try again in a while: ${disputes.join(', ')}.`,
  ]
  return lines.flatMap((line) => (line === false ? [] : [`${line}\n`])).join('')
}

/** A person is also somebody who signs in, so both words are understood here. */
export const payerCommands = [
  exporting('payer export'),
  erasing('payer erase'),
  exporting('person export'),
  erasing('person erase'),
]
