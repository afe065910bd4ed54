import { recordActivity } from '../core/activity/record.ts'
import {
  type CompanyChange,
  formerEmails,
  OPERATOR_FIELDS,
  OWN_FIELDS,
} from '../core/companies/changes.ts'
import { changeCompany } from '../core/companies/commands.ts'
import type { Company } from '../core/companies/rules.ts'
import { systemClock } from '../lib/clock.ts'
import type { Language } from '../lib/language.ts'
import { plainTaxId } from '../pix/tax-id.ts'
import { commandAuthor } from './author.ts'
import { type Args, type Command, columns, type Option, UsageFault } from './command.ts'
import { inOptions } from './faults.ts'
import { requireCompany } from './records.ts'
import { withDatabase } from './session.ts'

/** The options for the fields of a company, to create or to change it. */
export const FIELD_OPTIONS = {
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
export function readFields({ options }: Args): CompanyChange {
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

export const update: Command = {
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
        db.transaction(async (tx) => {
          const { id } = await requireCompany(tx, args.operands[0]!)
          const changed = await changeCompany(tx, vault, id, fields, 'operator', systemClock.now())
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
