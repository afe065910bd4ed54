import assert from 'node:assert/strict'
import { openShipping } from '../../src/core/charges/shipping.ts'
import { openPerson } from '../../src/core/customers/sealing.ts'
import { openFile } from '../../src/core/disputes/files.ts'
import { openAnswer } from '../../src/core/idempotency.ts'
import { openMail } from '../../src/core/mails/sealing.ts'
import { openNote } from '../../src/core/notes/sealing.ts'
import { openCallback } from '../../src/core/payments/callbacks.ts'
import { openPayer } from '../../src/core/payments/sealing.ts'
import { openView } from '../../src/core/saved-views.ts'
import type { Vault } from '../../src/lib/vault.ts'
import type { TestApi } from '../support/api.ts'

// biome-ignore lint/suspicious/noExplicitAny: rows of any table
type Row = any

/** How what is sealed in a column is opened. Null: it is no text of or about payers. */
const OPENED: Record<string, ((vault: Vault, row: Row) => unknown) | null> = {
  'bank_callbacks.sealed': (vault, { company_id: companyId, id, sealed }) =>
    openCallback(vault, { companyId, id, sealed }),
  'bank_connections.sealed': null,
  'charges.payer_sealed': (vault, { company_id, payer_index: index, payer_sealed: sealed }) =>
    openPerson(vault, company_id, { index, sealed }),
  'charges.shipping_sealed': (vault, { company_id: companyId, id, shipping_sealed: sealed }) =>
    openShipping(vault, { companyId, id }, sealed),
  'customers.sealed': (vault, { company_id, tax_id_index: index, sealed }) =>
    openPerson(vault, company_id, { index, sealed }),
  'dispute_files.sealed': (vault, row) => {
    const { name, content } = openFile(vault, {
      ...row,
      companyId: row.company_id,
      disputeId: row.dispute_id,
    })
    return `${name} ${content}`
  },
  'disputes.defense_sealed': (vault, { company_id, id, defense_sealed }) =>
    vault.open(defense_sealed, `${company_id}:dispute:${id}:text`),
  'erasures.sealed': (vault, { company_id, id, sealed }) =>
    vault.open(sealed, `${company_id}:erasure:${id}`),
  'idempotency_keys.sealed_body': (vault, { company_id, sealed_body: sealedBody, ...row }) =>
    openAnswer(vault, company_id, { ...row, sealedBody }),
  'mails.sealed': (vault, { company_id: companyId, id, sealed }) =>
    openMail(vault, { companyId, id, sealed } as Parameters<typeof openMail>[1]),
  'notes.sealed': (vault, { company_id: companyId, id, sealed }) =>
    openNote(vault, { companyId, id, sealed }),
  'payments.payer_sealed': (vault, { company_id, end_to_end_id, payer_sealed }) =>
    openPayer(vault, { companyId: company_id, endToEndId: end_to_end_id }, payer_sealed),
  'people.totp_secret': null,
  'recipients.sealed': null,
  'recurrences.payer_sealed': (vault, { company_id, payer_index: index, payer_sealed: sealed }) =>
    openPerson(vault, company_id, { index, sealed }),
  'saved_views.sealed': (vault, { company_id: companyId, person_id: personId, ...view }) =>
    openView({ vault, companyId, personId }, view),
  'simulated_transfers.payer_sealed': (vault, row) =>
    vault.open(row.payer_sealed, `${row.account_id}:transfer:${row.end_to_end_id}`),
  'webhooks.secret_sealed': null,
  'webhooks.previous_secret_sealed': null,
  'withdrawals.key_sealed': null,
}

type Table = { name: string; company: string | null }

/**
 * All rows of a company, or all that belong to none, as text with all that is sealed opened. It
 * fails if something is sealed of which nobody has said how it is opened.
 */
export async function readAll(api: TestApi, companyId: string | null): Promise<string> {
  const { vault } = api.app
  const tables = await api.rows<Table>(
    `select c.relname as name, (
       select a.attname from pg_attribute a where a.attrelid = c.oid
         and (a.attname = 'company_id' or (c.relname ^@ 'simulated_' and a.attname = 'account_id'))
       limit 1) as company
     from pg_class c where c.relnamespace = current_schema()::regnamespace
       and c.relkind in ('r', 'p') and not c.relispartition order by c.relname`,
  )
  const texts: string[] = []
  for (const { name, company } of tables) {
    if (companyId !== null && company === null) continue
    const where = companyId === null ? '' : `where ${company} = '${companyId}'`
    const rows = await api.rows<Row>(`select t.*, t::text as as_text from ${name} t ${where}`)
    const lines = rows.map((row) => `${name} ${row.as_text} ${openedOf(vault, name, row)}`)
    texts.push(...lines.sort())
  }
  return texts.join('\n')
}

function openedOf(vault: Vault, table: string, row: Row): string {
  const opened: string[] = []
  for (const [column, value] of Object.entries(row)) {
    if (!Buffer.isBuffer(value) || value.subarray(0, 4).toString('hex') !== vault.keyId) continue
    const open = OPENED[`${table}.${column}`]
    assert.ok(open !== undefined, `say in test/payers/opened.ts how ${table}.${column} is opened`)
    if (open) opened.push(JSON.stringify(open(vault, row)))
  }
  return opened.join(' ')
}
