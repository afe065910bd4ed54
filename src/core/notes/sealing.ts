import type { Vault } from '../../lib/vault.ts'
import type { StoredNote } from './store.ts'

type Named = Pick<StoredNote, 'companyId' | 'id'>

/** What the text of a note is sealed for. */
export const noteContext = ({ companyId, id }: Named) => `${companyId}:note:${id}`

export const sealNote = (vault: Vault, note: Named, text: string): Buffer =>
  vault.seal(text, noteContext(note))

export const openNote = (vault: Vault, note: Named & Pick<StoredNote, 'sealed'>): string =>
  vault.open(note.sealed, noteContext(note))
