import type { Static } from 'typebox'
import { recordActivity } from '../core/activity/record.ts'
import { BY_OPERATOR, mailBankChange } from '../core/banks/commands.ts'
import {
  type CompanyChange,
  formerEmails,
  OPERATOR_FIELDS,
  OWN_FIELDS,
} from '../core/companies/changes.ts'
import { changeCompany, createCompany, createKey, pinVersion } from '../core/companies/commands.ts'
import { type Company, companyFaults, type NewCompany, SCOPES } from '../core/companies/rules.ts'
import { listCompanies, listKeys } from '../core/companies/store.ts'
import { changeSuspension } from '../core/operator/commands.ts'
import { ascending, listOfAll } from '../core/places/across.ts'
import { countCompanies } from '../core/places/store.ts'
import { showUsed, type VersionDiff } from '../core/version-changes/view.ts'
import type { Database } from '../db/database.ts'
import { systemClock } from '../lib/clock.ts'
import type { Language } from '../lib/language.ts'
import { invalid } from '../lib/problems.ts'
import { plainTaxId } from '../pix/tax-id.ts'
import { LATEST, VERSION_NAMES } from '../versions/history.ts'
import { connectionOptions } from './client/connection.ts'
import { askDiff, showDiff } from './client/versions.ts'
import { type Args, type Command, columns, type Option, Refusal, UsageFault } from './command.ts'
import { asTyped, inOptions } from './faults.ts'
import { keyTable, requireCompany, showCompany, showKey, time, versionFault } from './records.ts'
import { commandAuthor, withApp, withDatabase } from './session.ts'

type Diff = Static<typeof VersionDiff>

/** What the API answers a company that compares its version with another, from the database. */
const diffOf = (companyId: string, to: string): Promise<Diff> =>
  withApp(async (app) => {
    const company = await requireCompany(app.db, companyId)
    const actor = { app, company, author: commandAuthor(), scopes: SCOPES }
    const from = company.apiVersion
    // Loaded here, because no other command needs the operations of the API.
    const { ROUTES } = await import('../http/routes/all.ts')
    const { diffVersions, usedSince } = await import('../http/version-changes.ts')
    const used = await diffVersions(ROUTES, actor, from, to)
    return { from, to, since: usedSince(app).toISOString(), operations: used.map(showUsed) }
  }, companyId)

/** The options for the fields of a company, to create or to change it. */
const FIELD_OPTIONS = {
  name: { value: 'NAME', help: 'the name payers see' },
  'tax-id': { value: 'ID', help: 'CNPJ or CPF, with or without punctuation' },
  email: { value: 'EMAIL', help: 'where the company is reached' },
  'pix-key': { value: 'KEY', help: 'the Pix key that receives' },
  city: { value: 'CITY', help: 'the city in its codes' },
  color: { value: 'HEX', help: 'the color of its pages, like #0f766e' },
  image: { value: 'URL', help: 'the http(s) address of its logo' },
  language: { value: 'LANGUAGE', help: 'of its mails: pt or en' },
  receipts: { value: 'WHETHER', help: 'mail payers a receipt when they have paid: on or off' },
  'strict-tax-ids': {
    value: 'WHETHER',
    help: 'let a sandbox check the digits of payers’ tax ids, as live does: on or off',
  },
} as const satisfies Record<string, Option>

/** The fields that were typed, as they are stored. */
function readFields({ options }: Args): CompanyChange {
  const { name, email, city, color, image, language, receipts, 'pix-key': pixKey } = options
  const taxId = options['tax-id']
  const strict = options['strict-tax-ids']
  return {
    ...(name && { name }),
    ...(taxId && { taxId: plainTaxId(taxId) }),
    ...(email && { email }),
    ...(pixKey && { pixKey }),
    ...(city && { city }),
    ...(color && { color: color.toLowerCase() }),
    ...(image && { imageUrl: image }),
    ...(language && { language: language as Language }),
    ...(receipts && { mailsReceipts: isOn('receipts', receipts) }),
    ...(strict && { strictTaxIds: isOn('strict-tax-ids', strict) }),
  }
}

function isOn(option: string, text: string): boolean {
  if (text === 'on' || text === 'off') return text === 'on'
  throw new UsageFault(`--${option}: on or off.`)
}

const untilFirstCharge = (name: 'tax-id' | 'pix-key'): Option => ({
  ...FIELD_OPTIONS[name],
  help: `${FIELD_OPTIONS[name].help}; while it has no live charge`,
})

const update: Command = {
  name: 'company update',
  summary: 'Change a company; what is not named stays.',
  example: 'vintem company update 019a8c5e-2f60-7d31-9d5c-4b1d2e6f7a80 --email dona@example.com',
  operands: ['company-id'],
  options: {
    ...FIELD_OPTIONS,
    'tax-id': untilFirstCharge('tax-id'),
    'pix-key': untilFirstCharge('pix-key'),
    'no-image': { help: 'remove its logo' },
  },
  async run(args) {
    const fields = readChange(args)
    const { before, after, notice } = await withDatabase(async ({ db, vault, waitForServers }) => {
      const changed = await inOptions(() =>
        db.transaction(async (tx, control) => {
          const { id } = await requireCompany(tx, args.operands[0]!)
          const now = systemClock.now()
          const changed = await changeCompany(tx, vault, id, fields, 'operator', now)
          const { mode, pixKey } = changed.after
          if (mode === 'live' && pixKey !== changed.before.pixKey) {
            const change = { ...BY_OPERATOR, bank: null, keys: { pixKey, payoutKey: null } }
            await mailBankChange(tx, control, vault, changed.after, change, now)
          }
          const names = changesOf(changed.before, changed.after).map(([name]) => name)
          if (names.length > 0) {
            await recordActivity(tx, id, commandAuthor(), {
              action: 'company.update',
              record: { type: 'company', id },
              details: { fields: names },
            })
          }
          return changed
        }),
      )
      return { ...changed, notice: await waitForServers() }
    }, args.operands[0])
    const changes = changesOf(before, after)
    return {
      json: {
        companyId: after.id,
        changed: Object.fromEntries(changes.map(([name, , to]) => [name, to])),
      },
      text: `${tableOf(after, changes)}${notesOf(before, after)}${notice}`,
    }
  },
}

function readChange(args: Args): CompanyChange {
  const fields = readFields(args)
  const removesImage = args.switches.has('no-image')
  if (removesImage && fields.imageUrl)
    throw new UsageFault('--image and --no-image exclude each other.')
  const change = removesImage ? { ...fields, imageUrl: null } : fields
  if (Object.keys(change).length > 0) return change
  throw new UsageFault('Nothing to change: name at least one option.')
}

/** A changed field, with its old and its new value. */
type Change = [field: string, from: unknown, to: unknown]

const changesOf = (before: Company, after: Company): Change[] =>
  [...OWN_FIELDS, ...OPERATOR_FIELDS]
    .filter((name) => before[name] !== after[name])
    .map((name) => [name, before[name], after[name]])

function tableOf({ name }: Company, changes: Change[]): string {
  if (changes.length === 0) return `${name} is unchanged.\n`
  const rows = changes.map(([field, from, to]) => [
    field,
    String(from ?? '-'),
    '→',
    String(to ?? '-'),
  ])
  return `${name} is changed.\n\n${columns(rows, '  ')}\n`
}

/** Other effects of a change, and what is left to do. */
function notesOf(before: Company, after: Company): string {
  const notes: string[] = []
  const recipients = formerEmails(before, after, systemClock.now())
  if (recipients.length > 0) {
    notes.push(
      `A mail informs ${recipients.join(' and ')}. One-time codes go to ${after.email} at once.`,
    )
  }
  if (before.pixKey !== after.pixKey) {
    notes.push('Static codes that were made before hold the former Pix key: make them anew.')
    if (after.bankId)
      notes.push(
        `Run vintem bank check --company ${after.id} to register callbacks for the new key.`,
      )
  }
  return notes.map((note) => `${note}\n`).join('')
}

/** The largest value of the column, about 68 years. */
const MAX_SECONDS = 2_147_483_647

const create: Command = {
  name: 'company create',
  summary: 'Create a company and its first API key.',
  example:
    "vintem company create --name 'Padaria São João' --tax-id 11222333000181 --email dona@example.com",
  operands: [],
  options: {
    ...FIELD_OPTIONS,
    name: { ...FIELD_OPTIONS.name, required: true },
    'tax-id': { ...FIELD_OPTIONS['tax-id'], required: true },
    email: { ...FIELD_OPTIONS.email, required: true },
    'pix-key': { value: 'KEY', help: 'the Pix key that receives; a live company needs one' },
    city: { ...FIELD_OPTIONS.city, help: 'the city in its codes (default Sao Paulo)' },
    language: { ...FIELD_OPTIONS.language, help: 'of its mails: pt or en (default pt)' },
    live: { help: 'real money; without it the company is a sandbox' },
    'settlement-delay': { value: 'SECONDS', help: 'from PAID to RECEIVED (live 0, sandbox 60)' },
    'static-sales-limit': { value: 'CENTS', help: 'its own monthly limit for static codes' },
    place: { value: 'NUMBER', help: 'which of PLACES (default the one with the fewest companies)' },
    'api-version': { value: 'VERSION', help: `${VERSION_NAMES.join(' or ')} (default the newest)` },
  },
  async run(args) {
    const fields = readCompany(args)
    const { company, key } = await withDatabase(async ({ databases, vault }) => {
      const db = await chooseDatabase(databases, args.options.place)
      return db.transaction(async (tx) => {
        const now = systemClock.now()
        const company = await createCompany(tx, fields, now)
        const key = await createKey(tx, vault, company, { name: 'first' }, now)
        const author = commandAuthor()
        const record = { type: 'company', id: company.id } as const
        await recordActivity(tx, company.id, author, { action: 'company.create', record })
        await recordActivity(tx, company.id, author, {
          action: 'key.create',
          record: { type: 'key', id: key.id },
          details: { name: 'first' },
        })
        return { company, key }
      })
    })
    const rows = [
      ['Company id', company.id],
      ['API key', key.text],
      ['API version', company.apiVersion],
    ]
    return {
      json: { companyId: company.id, apiKey: key.text },
      text:
        `The ${company.mode} company ${company.name} is created.\n\n${columns(rows, '  ')}\n` +
        'The key is shown this once: the database keeps only a hash of it.\n',
    }
  },
}

async function chooseDatabase(databases: Database[], text: string | undefined): Promise<Database> {
  if (databases.length === 1 && text === undefined) return databases[0]!
  const chosen = databases[Number(text) - 1]
  if (text !== undefined) {
    if (chosen) return chosen
    throw new Refusal(`--place: there are the places 1 to ${databases.length}.`)
  }
  const counts = await Promise.all(databases.map(countCompanies))
  return databases[counts.indexOf(Math.min(...counts))]!
}

/** Reads the options. All faults are reported together, before the database is opened. */
function readCompany(args: Args): NewCompany & { apiVersion: string } {
  const { options, switches } = args
  const { 'api-version': apiVersion = LATEST.name } = options
  const delay = readWhole(options, 'settlement-delay', MAX_SECONDS)
  const limit = readWhole(options, 'static-sales-limit', Number.MAX_SAFE_INTEGER)
  const fields = {
    ...(readFields(args) as Required<Pick<Company, 'name' | 'taxId' | 'email'>>),
    mode: switches.has('live') ? ('live' as const) : ('sandbox' as const),
    apiVersion,
    ...(delay.value !== null && { releaseDelay_s: delay.value }),
    staticSalesLimit: limit.value,
  }
  const broken = companyFaults(fields)?.items.map(({ description }) => asTyped(description)) ?? []
  const version = versionFault(apiVersion)
  const others = [delay.fault, limit.fault, version && `--api-version: ${version}`]
  const [first, ...rest] = [...broken, ...others.filter((fault) => fault !== null)]
  if (first) throw invalid(first, ...rest)
  return fields
}

function readWhole(options: Args['options'], name: string, max: number) {
  const text = options[name]
  if (text === undefined) return { value: null, fault: null }
  const value = Number(text)
  if (/^\d+$/.test(text) && value <= max) return { value, fault: null }
  return { value: null, fault: `--${name}: must be a whole number from 0 to ${max}` }
}

const list: Command = {
  name: 'company list',
  summary: 'List all companies.',
  example: 'vintem company list --json',
  operands: [],
  options: {},
  async run() {
    const companies = await withApp((app) =>
      listOfAll(app, listCompanies, {
        companyOf: ({ id }) => id,
        compare: ascending(({ id }) => id),
      }),
    )
    const heading = ['COMPANY ID', 'MODE', 'VERSION', 'TAX ID', 'CREATED', 'NAME']
    const rows = companies.map(({ id, mode, apiVersion, taxId, createdAt, name }) => [
      id,
      mode,
      apiVersion,
      taxId,
      time(createdAt),
      name,
    ])
    const text = rows.length > 0 ? columns([heading, ...rows]) : 'No companies.\n'
    return { json: companies.map(showCompany), text }
  },
}

const show: Command = {
  name: 'company show',
  summary: 'Show a company and its API keys.',
  example: 'vintem company show 019a8c5e-2f60-7d31-9d5c-4b1d2e6f7a80',
  operands: ['company-id'],
  options: {},
  run: ({ operands }) =>
    withDatabase(async ({ db }) => {
      const company = await requireCompany(db, operands[0]!)
      const keys = (await listKeys(db, company.id)).map((key) => showKey(company, key))
      const fields = showCompany(company)
      const rows = Object.entries(fields).map(([name, value]) => [
        name,
        value instanceof Date ? time(value) : String(value ?? '-'),
      ])
      return { json: { ...fields, keys }, text: `${columns(rows)}\n${keyTable(keys)}` }
    }, operands[0]),
}

const pin: Command = {
  name: 'company pin',
  summary: 'Choose the API version that answers requests which name none.',
  example: 'vintem company pin 019a8c5e-2f60-7d31-9d5c-4b1d2e6f7a80 2026-08-16',
  operands: ['company-id', 'version'],
  mayOmitOperands: true,
  options: {
    'dry-run': {
      help: 'show how the answers that it uses would change, and change nothing; without a company it is that of --key, and without a version the newest',
    },
    ...connectionOptions,
  },
  async run(args) {
    const [id, version] = args.operands
    const isDryRun = args.switches.has('dry-run')
    const isAsked = isDryRun && version === undefined && (id === undefined || !versionFault(id))
    if (isAsked) return askDiff(id ? { ...args, options: { ...args.options, to: id } } : args)
    if (Object.keys(connectionOptions).some((name) => args.options[name] !== undefined))
      throw new UsageFault(
        '--url, --key and --profile go with --dry-run alone; the company is then that of the key, so leave out <company-id>.',
      )
    if (id === undefined || version === undefined)
      throw new UsageFault('Missing: <company-id>, <version>.')
    const fault = versionFault(version)
    if (fault) throw new Refusal(fault)
    if (isDryRun) return showDiff(await diffOf(id, version))
    const { company, notice } = await withDatabase(async ({ db, waitForServers }) => {
      const company = await db.transaction(async (tx) => {
        const found = await requireCompany(tx, id)
        await pinVersion(tx, found.id, version, systemClock.now())
        await recordActivity(tx, found.id, commandAuthor(), {
          action: 'company.pin-version',
          record: { type: 'company', id: found.id },
          details: { version },
        })
        return found
      })
      return { company, notice: await waitForServers() }
    }, id)
    return {
      json: { companyId: company.id, apiVersion: version },
      text: `${company.name} is pinned to ${version} (before: ${company.apiVersion}).\n${notice}`,
    }
  },
}

const suspension = (
  name: 'suspend' | 'resume',
  summary: string,
  words: { done: string; already: string },
): Command => ({
  name: `company ${name}`,
  summary,
  example: `vintem company ${name} 019a8c5e-2f60-7d31-9d5c-4b1d2e6f7a80`,
  operands: ['company-id'],
  options: {},
  async run({ operands: [id] }) {
    const isSuspended = name === 'suspend'
    const { company, isChanged, notice } = await withDatabase(async ({ db, waitForServers }) => {
      const [company, isChanged] = await db.transaction(async (tx) => {
        const found = await requireCompany(tx, id!)
        const now = systemClock.now()
        const change = await changeSuspension(tx, found.id, isSuspended, commandAuthor(), now)
        return [found, change] as const
      })
      return { company, isChanged, notice: await waitForServers() }
    }, id)
    return {
      json: { companyId: company.id, suspended: isSuspended },
      text: `${company.name} ${isChanged ? words.done : words.already}\n${notice}`,
    }
  },
})

const suspend = suspension(
  'suspend',
  'Stop a company: it can read, and neither charge nor withdraw. Payments are still booked.',
  {
    done: 'is suspended. Payments that arrive are booked; vintem company resume ends it.',
    already: 'is suspended already.',
  },
)
const resume = suspension('resume', 'Let a suspended company work again.', {
  done: 'works again.',
  already: 'is not suspended.',
})

export const companyCommands = [create, list, show, update, pin, suspend, resume]
