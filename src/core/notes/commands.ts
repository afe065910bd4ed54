import type { Tx } from '../../db/database.ts'
import { newId, type Uuid } from '../../lib/ids.ts'
import { invalid, problem } from '../../lib/problems.ts'
import type { Vault } from '../../lib/vault.ts'
import { openNote, sealNote } from './sealing.ts'
import * as store from './store.ts'

export const MAX_NOTE = 1000
/** Notes that a record can have, so that its page stays short. */
export const MAX_NOTES = 100

/** The charge or customer that a note is about. */
export type Noted = { companyId: Uuid; recordType: store.NotedType; recordId: Uuid }

/** A note as people read it. */
export type Note = Omit<store.StoredNote, 'sealed'> & { text: string }

type Writer = { id: Uuid; name: string }

/** The notes on a record, the newest first. */
export async function readNotes(
  { db, vault }: { db: Tx; vault: Vault },
  { companyId, ...of }: Noted,
): Promise<Note[]> {
  const found = await store.list(db, companyId, { ...of, limit: MAX_NOTES, after: null })
  return found.map(({ sealed, ...note }) => ({
    ...note,
    text: openNote(vault, { ...note, sealed }),
  }))
}

/** Writes down what somebody wants others to know about a record. */
export async function addNote(
  tx: Tx,
  vault: Vault,
  { companyId, ...of }: Noted,
  author: Writer,
  { text: written, now }: { text: string; now: Date },
): Promise<Uuid> {
  const text = written.replaceAll('\r\n', '\n').trim()
  if (text.length < 1 || text.length > MAX_NOTE) {
    throw invalid(`text: must have 1 to ${MAX_NOTE} characters`)
  }
  const before = await store.list(tx, companyId, { ...of, limit: MAX_NOTES, after: null })
  if (before.length >= MAX_NOTES) {
    throw invalid(`text: a ${of.recordType} has at most ${MAX_NOTES} notes; delete one first`)
  }
  const id = newId()
  await store.insert(tx, {
    companyId,
    id,
    ...of,
    authorId: author.id,
    authorName: author.name,
    sealed: sealNote(vault, { companyId, id }, text.toWellFormed()),
    createdAt: now,
  })
  return id
}

/** Whether somebody may delete a note: who has written it, and owners. */
export const mayRemove = (note: Pick<Note, 'authorId'>, personId: Uuid, isOwner: boolean) =>
  isOwner || note.authorId === personId

/** Deletes a note of a record. A note of another record is not found. */
export async function removeNote(
  tx: Tx,
  { companyId, recordId }: Noted,
  id: Uuid | null,
  by: { personId: Uuid; isOwner: boolean },
): Promise<void> {
  const note = id && (await store.find(tx, companyId, id, 'for update'))
  if (!note || note.recordId !== recordId || !mayRemove(note, by.personId, by.isOwner)) {
    throw problem('route_not_found')
  }
  await store.remove(tx, companyId, note.id)
}
