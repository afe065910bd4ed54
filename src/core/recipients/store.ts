import { companyTableOf, newestOf, type Part } from '../../db/columns.ts'
import type { Tx } from '../../db/database.ts'
import type { Uuid } from '../../lib/ids.ts'
import type { Vault } from '../../lib/vault.ts'
import type { Recipient } from './rules.ts'

type Private = Pick<Recipient, 'taxId' | 'pixKey'>

/** A recipient whose tax id and key are sealed. */
type StoredRecipient = Omit<Recipient, keyof Private> & { index: Buffer; sealed: Buffer }

const RECIPIENT = companyTableOf<StoredRecipient>('recipients', {
  companyId: ['company_id', 'uuid'],
  id: ['id', 'uuid'],
  name: ['name', 'text'],
  index: ['tax_id_index', 'bytea'],
  sealed: ['sealed', 'bytea'],
  status: ['status', 'text'],
  keyChangedAt: ['key_changed_at', 'timestamptz'],
  createdAt: ['created_at', 'timestamptz'],
  updatedAt: ['updated_at', 'timestamptz'],
})

const CHANGING = RECIPIENT.without('companyId', 'id', 'index', 'createdAt')

const SAVE = `${RECIPIENT.insertInto('recipients')}
  on conflict (company_id, id) do update set ${CHANGING.assigned('excluded')}`

// Names the recipient: what is sealed cannot be opened if it is copied to another row.
export const recipientContext = ({ companyId, id }: { companyId: Uuid; id: Uuid }) =>
  `recipient:${companyId}:${id}`

function open(vault: Vault, stored: StoredRecipient): Recipient {
  const { index: _, sealed, ...recipient } = stored
  return { ...recipient, ...(JSON.parse(vault.open(sealed, recipientContext(stored))) as Private) }
}

/** Inserts a recipient, or overwrites it if it exists. */
export async function save(tx: Tx, vault: Vault, recipient: Recipient): Promise<void> {
  const { taxId, pixKey, ...fields } = recipient
  const sealed = vault.seal(JSON.stringify({ taxId, pixKey }), recipientContext(recipient))
  const index = vault.index(recipient.companyId, taxId)
  await tx.query({ text: SAVE, values: RECIPIENT.values([{ ...fields, index, sealed }]) })
}

export async function find(
  tx: Tx,
  vault: Vault,
  companyId: Uuid,
  id: Uuid,
  lock: 'for update' | '' = '',
): Promise<Recipient | null> {
  const stored = await RECIPIENT.find(tx, companyId, id, lock)
  return stored && open(vault, stored)
}

/** Recipients by their ids, without what is sealed. */
export async function findMany(
  tx: Tx,
  companyId: Uuid,
  ids: Uuid[],
): Promise<Map<Uuid, Pick<Recipient, 'id' | 'name' | 'status'>>> {
  if (ids.length === 0) return new Map()
  const rows = await tx.query<Pick<Recipient, 'id' | 'name' | 'status'>>({
    text: `select id, name, status from recipients
           where company_id = $1 and id = any ($2::uuid[])`,
    values: [companyId, ids],
  })
  return new Map(rows.map((row) => [row.id, row]))
}

type RecipientFilter = Part & { status: Recipient['status'] | null; taxId: string | null }

/** Newest first. */
export async function list(
  tx: Tx,
  vault: Vault,
  companyId: Uuid,
  { taxId, ...filter }: RecipientFilter,
): Promise<Recipient[]> {
  const indexes = taxId === null ? [null] : vault.each.map((keys) => keys.index(companyId, taxId))
  const found = await newestOf(indexes, filter.limit, (index) =>
    RECIPIENT.list(tx, companyId, { ...filter, index }),
  )
  return found.map((stored) => open(vault, stored))
}
