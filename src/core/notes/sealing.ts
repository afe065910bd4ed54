import type { Vault } from '../../lib/vault.ts'
import type { StoredNote } from './store.ts'

type Named = Pick<StoredNote, 'companyId' | 'id'>

const contextOf = ({ companyId, id }: Named) => `${companyId}:note:${id}`

export const sealNote = (vault: Vault, note: Named, text: string): Buffer =>
  vault.seal(text, contextOf(note))

export const openNote = (vault: Vault, note: Named & Pick<StoredNote, 'sealed'>): string =>
  vault.open(note.sealed, contextOf(note))
