import type { Row } from '../../db/database.ts'
import type { Uuid } from '../../lib/ids.ts'
import type { Keys } from '../../lib/vault.ts'
import { bankContext } from '../banks/store.ts'
import { shippingContext } from '../charges/shipping.ts'
import { partsOf } from '../customers/parts.ts'
import type { Private } from '../customers/rules.ts'
import { indexEmail, indexPhone, personContext, tokensOf } from '../customers/sealing.ts'
import { disputeContext } from '../disputes/files.ts'
import { answerContext } from '../idempotency.ts'
import { hashingContext } from '../installation.ts'
import { mailContext } from '../mails/sealing.ts'
import { noteContext } from '../notes/sealing.ts'
import { erasureContext } from '../payers/store.ts'
import { callbackContext, payerContext } from '../payments/sealing.ts'
import { totpContext } from '../people/rules.ts'
import { recipientContext } from '../recipients/store.ts'
import { viewContext } from '../saved-views.ts'
import { transferContext } from '../simulated-bank/records.ts'
import { secretContext } from '../webhooks/rules.ts'
import { destinationContext } from '../withdrawals/destinations.ts'

/** A column of a primary key, with its type. */
type KeyColumn = readonly [name: string, type: 'uuid' | 'text' | 'int4' | 'bytea']

/** What a column gets instead of what it has. */
export type Change = Buffer | string | null

/**
 * A table with something that the vault has made. A new column of it that is not here is found by
 * `test/secrets/columns.test.ts`.
 */
export type SealedTable = {
  name: string
  key: readonly KeyColumn[]
  /** Columns with envelopes, and what each is sealed for: it must be given again to open it. */
  sealed: Record<string, (row: Row) => string>
  /** Columns that are made of what is sealed in the same row, with their types. */
  computed: Record<string, 'bytea' | 'int4[]'>
  /** Other columns that are read. */
  reads?: readonly string[]
  /**
   * Computes these with the keys of a secret. `opened` has the text of each envelope by its column.
   * What is null stays null.
   */
  compute?(keys: Keys, row: Row, opened: Record<string, string>): Record<string, Change>
  /** Columns with hashes of what could be guessed, and what is not known here. */
  hashed: readonly string[]
  /** Rows that are read at once, if they are large. */
  batch?: number
}

const OF_COMPANY = [['company_id', 'uuid']] as const
const BY_ID = [...OF_COMPANY, ['id', 'uuid']] as const

const companyOf = (row: Row): Uuid => row.company_id as Uuid
const idOf = (row: Row): Uuid => row.id as Uuid
const ofRow = (row: Row) => ({ companyId: companyOf(row), id: idOf(row) })

const personIn = (column: string) => (row: Row) =>
  personContext(companyOf(row), row[column] as Buffer)

/** The payer of a charge or a subscription, if there is one. */
function indexPayer(keys: Keys, row: Row, { payer_sealed: text }: Record<string, string>) {
  if (text === undefined) return {}
  return { payer_index: keys.index(companyOf(row), (JSON.parse(text) as Private).taxId) }
}

function indexCharge(keys: Keys, row: Row, opened: Record<string, string>) {
  if (opened.payer_sealed === undefined) return {}
  const { email } = JSON.parse(opened.payer_sealed) as Private
  const isFound = row.email_index instanceof Buffer && email !== undefined
  const index = isFound ? indexEmail(keys, companyOf(row), email) : null
  return { ...indexPayer(keys, row, opened), email_index: index }
}

function indexCustomer(keys: Keys, row: Row, { sealed: text }: Record<string, string>) {
  const known = JSON.parse(text!) as Private
  const company = companyOf(row)
  const { taxId, email, phone } = known
  return {
    tax_id_index: keys.index(company, taxId),
    email_index:
      row.email_index === null || email === undefined ? null : indexEmail(keys, company, email),
    phone_index: row.phone_index === null ? null : indexPhone(keys, company, phone),
    search_tokens:
      row.search_tokens === null
        ? null
        : tokensOf(keys, company, partsOf({ ...known, name: row.name as string })),
  }
}

/**
 * All that is sealed, or hashed so that it could be guessed. What others copy from comes first, and
 * hashes of what is in no other column of their row come last.
 */
export const SEALED: readonly SealedTable[] = [
  {
    name: 'secret_keys',
    key: [['id', 'text']],
    sealed: { hashing: (row) => hashingContext(row.id as string) },
    computed: {},
    hashed: [],
  },
  {
    name: 'people',
    key: [['id', 'uuid']],
    sealed: { totp_secret: (row) => totpContext({ id: idOf(row) }) },
    computed: {},
    hashed: [],
  },
  {
    name: 'customers',
    key: BY_ID,
    sealed: { sealed: personIn('tax_id_index') },
    computed: {
      tax_id_index: 'bytea',
      email_index: 'bytea',
      phone_index: 'bytea',
      search_tokens: 'int4[]',
    },
    reads: ['name'],
    compute: indexCustomer,
    hashed: [],
  },
  {
    name: 'recurrences',
    key: BY_ID,
    sealed: { payer_sealed: personIn('payer_index') },
    computed: { payer_index: 'bytea' },
    compute: indexPayer,
    hashed: [],
  },
  {
    name: 'charges',
    key: BY_ID,
    sealed: {
      payer_sealed: personIn('payer_index'),
      shipping_sealed: (row) => shippingContext(companyOf(row), idOf(row)),
    },
    computed: { payer_index: 'bytea', email_index: 'bytea' },
    compute: indexCharge,
    hashed: ['fingerprint'],
  },
  {
    name: 'recipients',
    key: BY_ID,
    sealed: { sealed: (row) => recipientContext(ofRow(row)) },
    computed: { tax_id_index: 'bytea' },
    compute: (keys, row, { sealed }) => ({
      tax_id_index: keys.index(companyOf(row), (JSON.parse(sealed!) as Private).taxId),
    }),
    hashed: [],
  },
  {
    name: 'payments',
    key: [...OF_COMPANY, ['end_to_end_id', 'text'], ['source', 'text']],
    sealed: {
      payer_sealed: (row) =>
        payerContext({ companyId: companyOf(row), endToEndId: row.end_to_end_id as string }),
    },
    computed: {},
    hashed: [],
  },
  {
    name: 'bank_connections',
    key: OF_COMPANY,
    sealed: { sealed: (row) => bankContext(companyOf(row), idOf(row)) },
    computed: {},
    reads: ['id'],
    hashed: [],
  },
  {
    name: 'bank_callbacks',
    key: BY_ID,
    sealed: { sealed: (row) => callbackContext(companyOf(row), idOf(row)) },
    computed: {},
    hashed: [],
  },
  {
    name: 'webhooks',
    key: BY_ID,
    sealed: {
      secret_sealed: (row) => secretContext(companyOf(row), idOf(row)),
      previous_secret_sealed: (row) => secretContext(companyOf(row), idOf(row)),
    },
    computed: {},
    hashed: [],
  },
  {
    name: 'mails',
    key: BY_ID,
    sealed: { sealed: (row) => mailContext(companyOf(row), idOf(row)) },
    computed: {},
    hashed: [],
  },
  {
    name: 'notes',
    key: BY_ID,
    sealed: { sealed: (row) => noteContext(ofRow(row)) },
    computed: {},
    hashed: [],
  },
  {
    name: 'saved_views',
    key: [...OF_COMPANY, ['person_id', 'uuid'], ['id', 'uuid']],
    sealed: {
      sealed: (row) =>
        viewContext({ companyId: companyOf(row), personId: row.person_id as Uuid }, idOf(row)),
    },
    computed: {},
    hashed: [],
  },
  {
    name: 'disputes',
    key: BY_ID,
    sealed: { defense_sealed: (row) => disputeContext(ofRow(row), 'text') },
    computed: {},
    hashed: [],
  },
  {
    name: 'dispute_files',
    key: [...OF_COMPANY, ['dispute_id', 'uuid'], ['position', 'int4']],
    sealed: {
      sealed: (row) =>
        disputeContext(
          { companyId: companyOf(row), id: row.dispute_id as Uuid },
          String(row.position),
        ),
    },
    computed: {},
    hashed: [],
    batch: 5,
  },
  {
    name: 'withdrawals',
    key: BY_ID,
    sealed: { key_sealed: (row) => destinationContext(companyOf(row), idOf(row)) },
    computed: {},
    hashed: [],
  },
  {
    name: 'simulated_transfers',
    key: [
      ['account_id', 'uuid'],
      ['end_to_end_id', 'text'],
    ],
    sealed: {
      payer_sealed: (row) =>
        transferContext({
          accountId: row.account_id as Uuid,
          endToEndId: row.end_to_end_id as string,
        }),
    },
    computed: {},
    hashed: [],
  },
  {
    name: 'idempotency_keys',
    key: [...OF_COMPANY, ['key', 'text']],
    sealed: { sealed_body: (row) => answerContext(companyOf(row), row.key as string) },
    computed: {},
    hashed: ['fingerprint'],
    batch: 50,
  },
  {
    name: 'erasures',
    key: BY_ID,
    sealed: { sealed: (row) => erasureContext(companyOf(row), idOf(row)) },
    computed: {},
    hashed: ['tax_id_index'],
  },
  { name: 'charge_plans', key: BY_ID, sealed: {}, computed: {}, hashed: ['fingerprint'] },
  {
    name: 'recovery_codes',
    key: [
      ['person_id', 'uuid'],
      ['hash', 'bytea'],
    ],
    sealed: {},
    computed: {},
    hashed: ['hash'],
  },
  {
    name: 'charge_emails',
    key: [...OF_COMPANY, ['email_index', 'bytea'], ['charge_id', 'uuid']],
    sealed: {},
    computed: {},
    hashed: ['email_index'],
  },
  {
    name: 'former_tax_ids',
    key: [...OF_COMPANY, ['tax_id_index', 'bytea'], ['customer_id', 'uuid']],
    sealed: {},
    computed: {},
    hashed: ['tax_id_index'],
  },
  {
    name: 'reminder_stops',
    key: [...OF_COMPANY, ['email_index', 'bytea']],
    sealed: {},
    computed: {},
    hashed: ['email_index'],
  },
]

/** Bytes that stay as they are when a secret is replaced, and why. */
export const UNCHANGED: Readonly<Record<string, string>> = {
  'api_keys.hash': 'a hash of 32 random bytes, which nobody can guess',
  'sessions.token_hash': 'a hash of 32 random bytes, which nobody can guess',
  'person_links.token_hash': 'a hash of 32 random bytes, which nobody can guess',
  'withdrawals.otp_hash': 'a hash of a code that works for some minutes',
  'charge_intents.fingerprint': 'a hash that is kept for as long as a request takes',
  'events.trace': 'the id of a trace, and not made by the vault',
  'passkeys.public_key': 'public, and not made by the vault',
  'logos.bytes': 'public, and not made by the vault',
}
