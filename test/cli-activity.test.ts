import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir, userInfo } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import pg from 'pg'
import { bankCommands } from '../src/cli/bank.ts'
import { companyCommands } from '../src/cli/company.ts'
import { exportCommands } from '../src/cli/export.ts'
import { keyCommands } from '../src/cli/key.ts'
import { ledgerCommands } from '../src/cli/ledger.ts'
import { personCommands } from '../src/cli/person.ts'
import { sandboxCommands } from '../src/cli/sandbox.ts'
import { withdrawalCommands } from '../src/cli/withdrawal.ts'
import { hostedVintemIn } from './support/cli.ts'
import { cloneDatabase } from './support/database.ts'
import { secretOf } from './support/process.ts'

/** Commands that change nothing of a company. */
const READING = [
  'bank check',
  'bank show',
  'company list',
  'company show',
  'key list',
  'ledger audit',
  'person list',
  'sandbox code',
  'withdrawal list',
]
/** Commands whose entries other tests look for, because they need a bank or the local sandbox. */
const ELSEWHERE = [
  'bank connect',
  'bank disconnect',
  'bank reconcile',
  'sandbox reset',
  'withdrawal complete',
  'withdrawal fail',
]

const home = mkdtempSync(join(tmpdir(), 'vintem-cli-'))
after(() => rmSync(home, { recursive: true, force: true }))
const databaseUrl = await cloneDatabase()
const env = {
  DATABASE_URL: databaseUrl,
  SECRET_KEY: secretOf('cli-activity'),
  PUBLIC_URL: 'https://pix.example.com',
  SMTP_URL: 'smtp://127.0.0.1:9',
  MAIL_FROM: 'pix@example.com',
}
const run = hostedVintemIn(home)
const done = new Set<string>()

// biome-ignore lint/suspicious/noExplicitAny: a test asserts what it expects of an answer
async function vintem(command: string, ...args: string[]): Promise<any> {
  const { code, stdout, stderr } = await run([...command.split(' '), ...args, '--json'], env)
  assert.equal(code, 0, stderr)
  done.add(command)
  return JSON.parse(stdout)
}

/** In a container the user may have no name. */
function nameOfUser(): string {
  try {
    return userInfo().username
  } catch {
    return 'unknown'
  }
}

test('every command that changes something leaves an entry with the name of the user', async () => {
  const company = ['--name', 'Padaria', '--tax-id', '11222333000181', '--email', 'dona@example.com']
  const { companyId } = await vintem('company create', ...company)
  const own = ['--company', companyId]
  await vintem('company update', companyId, '--city', 'Recife', '--color', '#b45309')
  await vintem('company update', companyId, '--city', 'Recife')
  await vintem('company pin', companyId, '2025-01-01')
  await vintem('company suspend', companyId)
  await vintem('company resume', companyId)
  const { keyId } = await vintem('key create', ...own, '--scopes', 'payments:read')
  await vintem('key revoke', keyId, ...own)
  await vintem('person invite', '--email', 'ana@example.com', ...own, '--role', 'finance')
  const client = new pg.Client({ connectionString: databaseUrl })
  await client.connect()
  const person = '01890a5d-ac96-774b-bcce-b302099a8057'
  await client.query(
    `insert into people (id, email, name, created_at, updated_at)
     values ($1, 'rui@example.com', 'Rui', now(), now())`,
    [person],
  )
  await client.query(`insert into memberships values ($1, $2, 'viewer', now())`, [
    companyId,
    person,
  ])
  const rui = ['--email', 'rui@example.com']
  await vintem('person link', ...rui)
  await client.query(
    "update people set totp_secret = '', totp_confirmed_at = now() where id = $1",
    [person],
  )
  await vintem('person reset-factors', ...rui)
  await vintem('person role', ...rui, ...own, '--role', 'support')
  await vintem('person remove', ...rui, ...own)
  const { rows } = await client.query(
    `select author_kind, author_name, action, record_type, details from activity
     where company_id = $1 order by id`,
    [companyId],
  )
  await client.end()
  const userName = nameOfUser()
  for (const { author_kind, author_name } of rows) {
    assert.deepEqual([author_kind, author_name], ['command-line', userName])
  }
  assert.deepEqual(
    rows.map(({ action, record_type, details }) => [action, record_type, details]),
    [
      ['company.create', 'company', null],
      ['key.create', 'key', { name: 'first' }],
      ['company.update', 'company', { fields: ['color', 'city'] }],
      ['company.pin-version', 'company', { version: '2025-01-01' }],
      ['company.suspend', 'company', null],
      ['company.resume', 'company', null],
      ['key.create', 'key', { name: 'cli', scopes: ['payments:read'] }],
      ['key.revoke', 'key', null],
      ['member.invite', 'invitation', { role: 'finance', makesOperator: false }],
      ['sign-in-link.create', 'person', {}],
      ['two-factor.reset', 'person', {}],
      ['member.change-role', 'person', { role: 'support' }],
      ['member.remove', 'person', null],
    ],
  )
})

test('no command is forgotten', () => {
  const all = [
    ...bankCommands,
    ...companyCommands,
    ...keyCommands,
    ...ledgerCommands,
    ...personCommands,
    ...sandboxCommands,
    ...withdrawalCommands,
  ].map(({ name }) => name)
  assert.deepEqual(all.sort(), [...READING, ...ELSEWHERE, ...done].sort())
  assert.ok(exportCommands.every(({ name }) => name.startsWith('export')))
})
