import { createHash } from 'node:crypto'
import type { Cleaned } from '../../../packages/images/src/cleaned-image.ts'
import { companyTableOf, type Part, tableOf } from '../../db/columns.ts'
import type { Row, Tx } from '../../db/database.ts'
import type { Uuid } from '../../lib/ids.ts'
import type { ChangeableField } from './changes.ts'
import type { Company, Scope } from './rules.ts'

export type ApiKey = {
  companyId: Uuid
  id: Uuid
  name: string
  hash: Buffer
  scopes: Scope[]
  createdAt: Date
  lastUsedAt: Date | null
  revokedAt: Date | null
}

/** Some columns are those of the company's clock and bank; see `JOINS`. */
const COMPANY = tableOf<Company>({
  id: ['id', 'uuid'],
  name: ['name', 'text'],
  taxId: ['tax_id', 'text'],
  email: ['email', 'text'],
  color: ['color', 'text'],
  imageUrl: ['image_url', 'text'],
  pixKey: ['pix_key', 'text'],
  city: ['city', 'text'],
  mode: ['mode', 'text'],
  apiVersion: ['api_version', 'text'],
  language: ['language', 'text'],
  releaseDelay_s: ['settlement_delay_s', 'int8'],
  staticSalesLimit: ['static_sales_limit', 'int8'],
  mailsReceipts: ['mails_receipts', 'bool'],
  strictTaxIds: ['strict_tax_ids', 'bool'],
  settlesExactPayments: ['settles_exact_payments', 'bool'],
  contactEmail: ['contact_email', 'text'],
  contactPhone: ['contact_phone', 'text'],
  contactWhatsapp: ['contact_whatsapp', 'text'],
  newCodes: ['new_codes', 'text'],
  reminderDays: ['reminder_days', 'json'],
  clockAhead_ms: ['clock_ahead_ms', 'int8'],
  bankId: ['bank_id', 'uuid'],
  payouts: ['payouts', 'text'],
  payoutKey: ['payout_key', 'text'],
  codeEmail: ['code_email', 'text'],
  codeEmailUntil: ['code_email_until', 'timestamptz'],
  destinationChangedAt: ['destination_changed_at', 'timestamptz'],
  destinationChangedBy: ['destination_changed_by', 'uuid'],
  suspendedAt: ['suspended_at', 'timestamptz'],
  createdAt: ['created_at', 'timestamptz'],
  updatedAt: ['updated_at', 'timestamptz'],
})

/** What a company has when it is created. The other columns have their defaults. */
const CREATED = COMPANY.without(
  'reminderDays',
  'clockAhead_ms',
  'bankId',
  'payouts',
  'payoutKey',
  'codeEmail',
  'codeEmailUntil',
  'destinationChangedAt',
  'destinationChangedBy',
  'suspendedAt',
  'contactEmail',
  'contactPhone',
  'contactWhatsapp',
  'newCodes',
)

const API_KEY = companyTableOf<ApiKey>('api_keys', {
  companyId: ['company_id', 'uuid'],
  id: ['id', 'uuid'],
  name: ['name', 'text'],
  hash: ['hash', 'bytea'],
  scopes: ['scopes', 'texts'],
  createdAt: ['created_at', 'timestamptz'],
  lastUsedAt: ['last_used_at', 'timestamptz'],
  revokedAt: ['revoked_at', 'timestamptz'],
})

export async function insertCompany(tx: Tx, company: Company): Promise<void> {
  await tx.query({ text: CREATED.insertInto('companies'), values: CREATED.values([company]) })
}

/** Companies c with their clocks and banks, which most have not. */
const COLUMNS = `c.*, coalesce(t.ahead_ms, 0) as clock_ahead_ms, b.id as bank_id, b.payouts,
  b.payout_key`
const JOINS = `left join test_clocks t on t.company_id = c.id
               left join bank_connections b on b.company_id = c.id`

/** Locked for a change, it can still be referred to by new records. */
export async function findCompany(
  tx: Tx,
  id: Uuid,
  lock: 'for no key update of c' | '' = '',
): Promise<Company | null> {
  const rows = await tx.query({
    name: lock === '' ? 'find_company' : 'find_company_to_change',
    text: `select ${COLUMNS} from companies c ${JOINS} where c.id = $1 ${lock}`,
    values: [id],
  })
  return rows[0] ? COMPANY.read(rows[0]) : null
}

/** Companies by id. Ids without a company are left out. */
export async function findCompanies(tx: Tx, ids: Uuid[]): Promise<Map<Uuid, Company>> {
  const rows = await tx.query({
    name: 'find_companies',
    text: `select ${COLUMNS} from companies c ${JOINS} where c.id = any ($1::uuid[])`,
    values: [ids],
  })
  return new Map(rows.map(COMPANY.read).map((company) => [company.id, company]))
}

/** For the operator: the one list that is not scoped to a company. */
export async function listCompanies(tx: Tx): Promise<Company[]> {
  const rows = await tx.query({
    text: `select ${COLUMNS} from companies c ${JOINS} order by c.id`,
  })
  return rows.map(COMPANY.read)
}

/** Whether anybody here plays with the simulated bank. */
export async function hasSandbox(tx: Tx): Promise<boolean> {
  const rows = await tx.query({
    text: `select 1 from companies where mode = 'sandbox' limit 1`,
  })
  return rows.length === 1
}

export async function updateVersion(
  tx: Tx,
  id: Uuid,
  version: string,
  now: Date,
): Promise<boolean> {
  const rows = await tx.query({
    text: 'update companies set api_version = $2, updated_at = $3 where id = $1 returning id',
    values: [id, version, now],
  })
  return rows.length === 1
}

/** Suspends or resumes a company. Returns false if it is so already. */
export async function updateSuspension(
  tx: Tx,
  id: Uuid,
  suspendedAt: Date | null,
): Promise<boolean> {
  const rows = await tx.query({
    text: `update companies set suspended_at = $2
           where id = $1 and (suspended_at is null) = ($2::timestamptz is not null) returning id`,
    values: [id, suspendedAt],
  })
  return rows.length === 1
}

/** Stores when it was changed where the money of a company goes, and by whom. */
export async function updateDestinationChange(
  tx: Tx,
  id: Uuid,
  personId: Uuid,
  now: Date,
): Promise<void> {
  await tx.query({
    text: `update companies set destination_changed_at = $2, destination_changed_by = $3
           where id = $1`,
    values: [id, now, personId],
  })
}

/** Keeps with the company what creating a charge must know of its reminders. */
export async function updateReminderDays(tx: Tx, id: Uuid, days: number[]): Promise<void> {
  await tx.query({
    text: 'update companies set reminder_days = $2::jsonb where id = $1',
    values: [id, JSON.stringify(days)],
  })
}

/** The column of each field that can be changed. */
const CHANGED_COLUMNS: Record<ChangeableField, string> = {
  name: 'name',
  email: 'email',
  color: 'color',
  imageUrl: 'image_url',
  city: 'city',
  language: 'language',
  mailsReceipts: 'mails_receipts',
  strictTaxIds: 'strict_tax_ids',
  settlesExactPayments: 'settles_exact_payments',
  contactEmail: 'contact_email',
  contactPhone: 'contact_phone',
  contactWhatsapp: 'contact_whatsapp',
  newCodes: 'new_codes',
  pixKey: 'pix_key',
  taxId: 'tax_id',
}

/** Writes all fields that can be changed. */
export async function updateCompany(tx: Tx, company: Company): Promise<void> {
  const fields = Object.keys(CHANGED_COLUMNS) as ChangeableField[]
  const columns = fields.map((field, i) => `${CHANGED_COLUMNS[field]} = $${i + 5}`)
  await tx.query({
    text: `update companies set code_email = $2, code_email_until = $3, updated_at = $4,
             ${columns.join(', ')}
           where id = $1`,
    values: [
      company.id,
      company.codeEmail,
      company.codeEmailUntil,
      company.updatedAt,
      ...fields.map((field) => company[field]),
    ],
  })
}

export async function insertKey(
  tx: Tx,
  key: Omit<ApiKey, 'lastUsedAt' | 'revokedAt'>,
): Promise<void> {
  await tx.query({
    text: `insert into api_keys (company_id, id, name, hash, scopes, created_at)
           values ($1, $2, $3, $4, $5, $6)`,
    values: [key.companyId, key.id, key.name, key.hash, key.scopes, key.createdAt],
  })
}

/** Of all companies of the place or of one, in the order in which they were made. */
export async function listAllKeys(
  tx: Tx,
  companyId: Uuid | null,
  { limit, after }: Part,
): Promise<ApiKey[]> {
  const rows = await tx.query({
    text: `select ${API_KEY.select('k')} from api_keys k
           where ($1::uuid is null or company_id = $1) and ($2::uuid is null or id > $2)
           order by id limit $3`,
    values: [companyId, after, limit],
  })
  return rows.map(API_KEY.read)
}

/** A part of the keys of a company: first those that work, each kind newest first. */
export async function listWorkingFirst(
  tx: Tx,
  companyId: Uuid,
  { limit, after }: Part,
): Promise<ApiKey[]> {
  const rows = await tx.query({
    text: `select ${API_KEY.select('k')} from api_keys k
           where k.company_id = $1 and ($2::uuid is null or (k.revoked_at is null, k.id) < (
             select a.revoked_at is null, a.id from api_keys a
             where a.company_id = $1 and a.id = $2))
           order by (k.revoked_at is null) desc, k.id desc limit $3`,
    values: [companyId, after, limit],
  })
  return rows.map(API_KEY.read)
}

/** Keys of a company by their ids that work, newest first. */
export async function findWorkingKeys(tx: Tx, companyId: Uuid, ids: Uuid[]): Promise<ApiKey[]> {
  const rows = await tx.query({
    text: `select ${API_KEY.select('k')} from api_keys k
           where company_id = $1 and id = any ($2::uuid[]) and revoked_at is null
           order by id desc`,
    values: [companyId, ids],
  })
  return rows.map(API_KEY.read)
}

export async function listKeys(tx: Tx, companyId: Uuid): Promise<ApiKey[]> {
  const rows = await tx.query({
    text: `select ${API_KEY.select('k')} from api_keys k where company_id = $1 order by id`,
    values: [companyId],
  })
  return rows.map(API_KEY.read)
}

/** Keys by id, and a part of them, newest first. */
export const { find: findKey, list: listKeysAfter } = API_KEY

export async function findKeyNames(
  tx: Tx,
  companyId: Uuid,
  ids: Uuid[],
): Promise<Map<Uuid, string>> {
  const rows = await tx.query<{ id: Uuid; name: string }>({
    text: 'select id, name from api_keys where company_id = $1 and id = any($2::uuid[])',
    values: [companyId, ids],
  })
  return new Map(rows.map(({ id, name }) => [id, name]))
}

export type ActiveKey = { key: Pick<ApiKey, 'id' | 'name' | 'hash' | 'scopes'>; company: Company }

type ActiveKeyRow = Row & {
  key_id: Uuid
  key_name: string
  key_hash: Buffer
  key_scopes: Scope[]
}

/**
 * For each id the key, if it is not revoked, with its company. The one lookup that starts without
 * a company.
 */
export async function findActiveKeys(tx: Tx, ids: Uuid[]): Promise<(ActiveKey | null)[]> {
  const rows = await tx.query<ActiveKeyRow>({
    name: 'find_active_keys',
    text: `select ${COLUMNS}, k.id as key_id, k.name as key_name, k.hash as key_hash,
             k.scopes as key_scopes
           from api_keys k join companies c on c.id = k.company_id ${JOINS}
           where k.id = any($1::uuid[]) and k.revoked_at is null`,
    values: [ids],
  })
  const found = new Map(rows.map((row) => [row.key_id, row]))
  return ids.map((id) => {
    const row = found.get(id)
    if (!row) return null
    const { key_name: name, key_hash: hash, key_scopes: scopes } = row
    return { key: { id, name, hash, scopes }, company: COMPANY.read(row) }
  })
}

export async function revokeKey(tx: Tx, companyId: Uuid, id: Uuid, now: Date): Promise<boolean> {
  const rows = await tx.query({
    text: `update api_keys set revoked_at = coalesce(revoked_at, $3)
           where company_id = $1 and id = $2 returning id`,
    values: [companyId, id, now],
  })
  return rows.length === 1
}

/** Revokes all keys of a company that still work. */
export async function revokeKeys(tx: Tx, companyId: Uuid, now: Date): Promise<void> {
  await tx.query({
    text: 'update api_keys set revoked_at = $2 where company_id = $1 and revoked_at is null',
    values: [companyId, now],
  })
}

/** Notes when keys were last used. A company that has left this place would refuse it for all. */
export async function touchKeys(
  tx: Tx,
  uses: Map<Uuid, { companyId: Uuid; at: Date }>,
): Promise<void> {
  const ids = [...uses.keys()].sort()
  await tx.query({
    text: `update api_keys k set last_used_at = greatest(k.last_used_at, u.at)
           from unnest($1::uuid[], $2::uuid[], $3::timestamptz[]) u (company_id, id, at)
           where k.company_id = u.company_id and k.id = u.id
             and not exists (select from company_moves m
                             where m.company_id = k.company_id and m.state <> 'leaving')`,
    values: [ids.map((id) => uses.get(id)!.companyId), ids, ids.map((id) => uses.get(id)!.at)],
  })
}

/** Whether the company has, or ever had, a charge, code or agreement for real money. */
export async function hasRealSales(tx: Tx, companyId: Uuid): Promise<boolean> {
  const [row] = await tx.query<{ found: boolean }>({
    text: `select exists (select from charges where company_id = $1 and not dev_mode)
             or exists (select from static_codes where company_id = $1 and not dev_mode)
             or exists (select from recurrences where company_id = $1) as found`,
    values: [companyId],
  })
  return row!.found
}

/** An image of a company that we serve. Its name has the hash of its content. */
type Logo = Pick<Cleaned, 'type' | 'bytes'>

export const MAX_LOGO_BYTES = 256 * 1024
/** In pixels. */
export const MAX_LOGO_SIDE = 2048
/** Former logos are in mails that were sent. The newest of them are kept. */
const KEPT_LOGOS = 5

const HASH_DIGITS = 32
const ENDINGS = { 'image/png': 'png', 'image/jpeg': 'jpg' } as const
const NAME_FORM = /^([0-9a-f]{32})\.(?:png|jpg)$/

/** Stores a logo and returns its name. */
export async function saveLogo(
  tx: Tx,
  companyId: Uuid,
  { type, bytes }: Logo,
  now: Date,
): Promise<string> {
  const hash = createHash('sha256').update(bytes).digest('hex').slice(0, HASH_DIGITS)
  await tx.query({
    text: `insert into logos (company_id, hash, type, bytes, created_at)
           values ($1, $2, $3, $4, $5)
           on conflict (company_id, hash) do update set created_at = excluded.created_at`,
    values: [companyId, hash, type, bytes, now],
  })
  await tx.query({
    text: `delete from logos where company_id = $1 and hash not in (
             select hash from logos where company_id = $1 order by created_at desc, hash limit $2)`,
    values: [companyId, KEPT_LOGOS],
  })
  return `${hash}.${ENDINGS[type]}`
}

export async function findLogo(tx: Tx, companyId: Uuid, name: string): Promise<Logo | null> {
  const hash = NAME_FORM.exec(name)?.[1]
  if (!hash) return null
  const [logo] = await tx.query<Logo>({
    name: 'find_logo',
    text: 'select type, bytes from logos where company_id = $1 and hash = $2',
    values: [companyId, hash],
  })
  return logo && name.endsWith(ENDINGS[logo.type]) ? logo : null
}
