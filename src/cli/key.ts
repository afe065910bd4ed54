import { recordActivity } from '../core/activity/record.ts'
import { createKey, revokeKey } from '../core/companies/commands.ts'
import { SCOPES, type Scope } from '../core/companies/rules.ts'
import { listKeys } from '../core/companies/store.ts'
import { mailNewKey } from '../core/people/owner-mails.ts'
import { systemClock } from '../lib/clock.ts'
import { isUuid } from '../lib/ids.ts'
import { invalid } from '../lib/problems.ts'
import { type Args, type Command, columns, Refusal } from './command.ts'
import { keyTable, requireCompany, showKey } from './records.ts'
import { commandAuthor, withDatabase } from './session.ts'

const COMPANY = { value: 'COMPANY_ID', required: true, help: 'the company it belongs to' } as const
const MAX_NAME = 255

const create: Command = {
  name: 'key create',
  summary: 'Create one more API key; the others keep working.',
  example:
    'vintem key create --company 019a8c5e-2f60-7d31-9d5c-4b1d2e6f7a80 --name till --scopes payments:read,payments:write',
  operands: [],
  options: {
    company: COMPANY,
    name: { value: 'NAME', help: 'what it is for, to distinguish keys (default cli)' },
    scopes: { value: 'LIST', help: `comma-separated (default all): ${SCOPES.join(',')}` },
  },
  async run({ options }) {
    const wanted = readKey(options)
    const key = await withDatabase(
      ({ db, vault }) =>
        db.transaction(async (tx, control) => {
          const company = await requireCompany(tx, options.company!)
          const now = systemClock.now()
          const key = await createKey(tx, vault, company, wanted, now)
          const { name, scopes = SCOPES } = wanted
          await mailNewKey(tx, control, vault, company, { name, scopes }, null, now)
          await recordActivity(tx, company.id, commandAuthor(), {
            action: 'key.create',
            record: { type: 'key', id: key.id },
            details: { name, scopes: [...scopes] },
          })
          return key
        }),
      options.company,
    )
    const rows = [
      ['Key id', key.id],
      ['API key', key.text],
    ]
    return {
      json: { keyId: key.id, apiKey: key.text },
      text:
        `The key is created.\n\n${columns(rows, '  ')}\n` +
        'It is shown this once: the database keeps only a hash of it.\n',
    }
  },
}

function readKey({ name = 'cli', scopes }: Args['options']): { name: string; scopes?: Scope[] } {
  const asked = [...new Set(scopes?.split(',').map((scope) => scope.trim()))]
  const unknown = asked.filter((scope) => !SCOPES.includes(scope as Scope))
  const faults = unknown.map((scope) => `--scopes: "${scope}" is not one of ${SCOPES.join(', ')}`)
  if (name.length > MAX_NAME) faults.push(`--name: 1 to ${MAX_NAME} characters`)
  const [first, ...others] = faults
  if (first) throw invalid(first, ...others)
  return scopes === undefined ? { name } : { name, scopes: asked as Scope[] }
}

const list: Command = {
  name: 'key list',
  summary: 'List the API keys of a company, the revoked ones too.',
  example: 'vintem key list --company 019a8c5e-2f60-7d31-9d5c-4b1d2e6f7a80',
  operands: [],
  options: { company: COMPANY },
  run: ({ options }) =>
    withDatabase(async ({ db }) => {
      const company = await requireCompany(db, options.company!)
      const keys = (await listKeys(db, company.id)).map((key) => showKey(company, key))
      return { json: keys, text: keyTable(keys) }
    }, options.company),
}

const revoke: Command = {
  name: 'key revoke',
  summary: 'Revoke an API key: every server refuses it at once.',
  example:
    'vintem key revoke --company 019a8c5e-2f60-7d31-9d5c-4b1d2e6f7a80 019a8c5e-2f61-7c02-8d11-5b0f3a9e4c12',
  operands: ['key-id'],
  options: { company: COMPANY },
  async run({ options, operands }) {
    const id = operands[0]!.toLowerCase()
    const { revoked, notice } = await withDatabase(async ({ db, waitForServers }) => {
      const revoked = await db.transaction(async (tx) => {
        const company = await requireCompany(tx, options.company!)
        if (!isUuid(id)) return false
        const isRevoked = await revokeKey(tx, company.id, id, systemClock.now())
        const record = { type: 'key', id } as const
        const change = { action: 'key.revoke', record }
        if (isRevoked) await recordActivity(tx, company.id, commandAuthor(), change)
        return isRevoked
      })
      return { revoked, notice: revoked ? await waitForServers() : '' }
    }, options.company)
    if (!revoked) throw new Refusal(`The company has no key with the id ${operands[0]}.`)
    return { json: { keyId: id, revoked }, text: `The key ${id} is revoked.\n${notice}` }
  },
}

export const keyCommands = [create, list, revoke]
