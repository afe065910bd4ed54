import { invalid } from '../../lib/problems.ts'
import type { Vault } from '../../lib/vault.ts'
import type { Dispute } from './rules.ts'
import type { StoredFile } from './store.ts'

export const MAX_FILES = 5
export const MAX_FILE_BYTES = 1024 * 1024
/** The same in base64. */
export const MAX_FILE_TEXT = 4 * Math.ceil(MAX_FILE_BYTES / 3)
export const MAX_TEXT = 4000
export const MAX_FILE_NAME = 120

export const FILE_TYPES = ['application/pdf', 'image/png', 'image/jpeg'] as const
export type FileType = (typeof FILE_TYPES)[number]

/** A file of a defense, whose type was read from its bytes. */
export type NewFile = { name: string; type: FileType; content: Buffer }

/** How files of a type begin. */
const SIGNATURES: [type: FileType, start: Buffer][] = [
  ['application/pdf', Buffer.from('%PDF-')],
  ['image/png', Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a])],
  ['image/jpeg', Buffer.from([0xff, 0xd8, 0xff])],
]

/** Reads a file. Its name and what its sender calls it are not believed: its bytes decide. */
export function readFile(name: string, content: Buffer, field: string): NewFile {
  const type = SIGNATURES.find(([, start]) => content.subarray(0, start.length).equals(start))?.[0]
  if (content.length === 0) throw invalid(`${field}: is empty`)
  if (!type) throw invalid(`${field}: must be a PDF, a PNG or a JPEG`)
  if (content.length > MAX_FILE_BYTES) throw invalid(`${field}: must not be larger than 1 MiB`)
  return { name, type, content }
}

type Owner = Pick<Dispute, 'companyId' | 'id'>

export const disputeContext = ({ companyId, id }: Owner, part: string) =>
  `${companyId}:dispute:${id}:${part}`

export const sealDefense = (vault: Vault, dispute: Owner, text: string): Buffer =>
  vault.seal(text, disputeContext(dispute, 'text'))

export const openDefense = (vault: Vault, dispute: Dispute): string | null =>
  dispute.defense && vault.open(dispute.defense, disputeContext(dispute, 'text'))

export const sealFile = (
  vault: Vault,
  dispute: Owner,
  position: number,
  { name, type, content }: NewFile,
): StoredFile => ({
  companyId: dispute.companyId,
  disputeId: dispute.id,
  position,
  type,
  size: content.length,
  sealed: vault.seal(
    JSON.stringify({ name, content: content.toString('base64') }),
    disputeContext(dispute, String(position)),
  ),
})

export function openFile(
  vault: Vault,
  { companyId, disputeId: id, position, sealed }: StoredFile,
): { name: string; content: Buffer } {
  const opened = JSON.parse(vault.open(sealed, disputeContext({ companyId, id }, String(position))))
  return { name: opened.name, content: Buffer.from(opened.content, 'base64') }
}
