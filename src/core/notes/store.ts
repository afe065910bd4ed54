import { companyTableOf } from '../../db/columns.ts'
import type { Tx } from '../../db/database.ts'
import type { Uuid } from '../../lib/ids.ts'

export type NotedType = 'charge' | 'customer'

/** A note of a company's people, about a charge or a customer. Only they read it. */
export type StoredNote = {
  companyId: Uuid
  id: Uuid
  recordType: NotedType
  recordId: Uuid
  authorId: Uuid
  authorName: string
  sealed: Buffer
  createdAt: Date
}

const NOTE = companyTableOf<StoredNote>('notes', {
  companyId: ['company_id', 'uuid'],
  id: ['id', 'uuid'],
  recordType: ['record_type', 'text'],
  recordId: ['record_id', 'uuid'],
  authorId: ['author_id', 'uuid'],
  authorName: ['author_name', 'text'],
  sealed: ['sealed', 'bytea'],
  createdAt: ['created_at', 'timestamptz'],
})

export const { find, list } = NOTE

export async function insert(tx: Tx, note: StoredNote): Promise<void> {
  await tx.query({ text: NOTE.insertInto('notes'), values: NOTE.values([note]) })
}

export async function remove(tx: Tx, companyId: Uuid, id: Uuid): Promise<void> {
  await tx.query({
    text: 'delete from notes where company_id = $1 and id = $2',
    values: [companyId, id],
  })
}

/** Deletes all notes on a record that is deleted, because nobody can read them any more. */
export async function removeAllOn(tx: Tx, companyId: Uuid, recordId: Uuid): Promise<void> {
  await tx.query({
    text: 'delete from notes where company_id = $1 and record_id = $2',
    values: [companyId, recordId],
  })
}
