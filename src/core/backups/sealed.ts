import type { Row, Tx } from '../../db/database.ts'
import type { Vault } from '../../lib/vault.ts'

/** A column whose values are sealed, and what each was sealed with: the context, as SQL. */
type Sealed = { table: string; column: string; context: string }

const ofPayer = (table: string, column: string, index: string): Sealed => ({
  table,
  column,
  context: `company_id || ':' || encode(${index}, 'hex')`,
})

const ofCompany = (table: string, column: string, kind: string, key = 'id'): Sealed => ({
  table,
  column,
  context: `company_id || ':${kind}:' || ${key}`,
})

/** Everything that the vault seals. A value that is copied to another row cannot be opened. */
export const SEALED: readonly Sealed[] = [
  ofPayer('customers', 'sealed', 'tax_id_index'),
  ofPayer('charges', 'payer_sealed', 'payer_index'),
  ofPayer('recurrences', 'payer_sealed', 'payer_index'),
  {
    table: 'charges',
    column: 'shipping_sealed',
    context: `'shipping:' || company_id || ':' || id`,
  },
  ofCompany('payments', 'payer_sealed', 'payment', 'end_to_end_id'),
  ofCompany('bank_connections', 'sealed', 'bank'),
  ofCompany('bank_callbacks', 'sealed', 'callback'),
  ofCompany('webhooks', 'secret_sealed', 'webhook'),
  ofCompany('webhooks', 'previous_secret_sealed', 'webhook'),
  ofCompany('mails', 'sealed', 'mail'),
  ofCompany('idempotency_keys', 'sealed_body', 'answer', 'key'),
  ofCompany('withdrawals', 'key_sealed', 'withdrawal'),
  ofCompany('disputes', 'defense_sealed', 'dispute', `id || ':text'`),
  ofCompany('dispute_files', 'sealed', 'dispute', `dispute_id || ':' || position`),
  ofCompany('notes', 'sealed', 'note'),
  ofCompany('erasures', 'sealed', 'erasure'),
  ofCompany('saved_views', 'sealed', 'view', `person_id || ':' || id`),
  { table: 'recipients', column: 'sealed', context: `'recipient:' || company_id || ':' || id` },
  { table: 'people', column: 'totp_secret', context: `'totp:' || id` },
  {
    table: 'simulated_transfers',
    column: 'payer_sealed',
    context: `account_id || ':transfer:' || end_to_end_id`,
  },
]

/** How many values of each kind are opened, the first and the last of the table. */
const OF_EACH_END = 50

type SealedRow = Row & { sealed: Buffer; context: string }

/** Opens a sample of what is sealed. Returns how much there was, and what could not be opened. */
export async function openSample(
  tx: Tx,
  vault: Vault,
): Promise<{ kinds: number; opened: number; faults: string[] }> {
  let [kinds, opened] = [0, 0]
  const faults: string[] = []
  for (const kind of SEALED) {
    const rows = await readSample(tx, kind)
    const wrong = rows.filter(({ sealed, context }) => !opens(vault, sealed, context))
    if (rows.length > 0) kinds += 1
    opened += rows.length - wrong.length
    if (wrong.length === 0) continue
    faults.push(
      `${wrong.length} of ${rows.length} values of ${kind.table}.${kind.column} do not open`,
    )
  }
  return { kinds, opened, faults }
}

function opens(vault: Vault, sealed: Buffer, context: string): boolean {
  try {
    vault.open(sealed, context)
    return true
  } catch {
    return false
  }
}

function readSample(tx: Tx, { table, column, context }: Sealed): Promise<SealedRow[]> {
  const end = (order: string) =>
    `(select ${column} as sealed, ${context} as context from ${table}
      where length(${column}) > 0 order by ctid ${order} limit ${OF_EACH_END})`
  return tx.query<SealedRow>({ text: `${end('asc')} union all ${end('desc')}` })
}
