import { randomBytes } from 'node:crypto'
import { crc32 } from 'node:zlib'
import { idOfSuffix, newId, suffixOf, type Uuid } from '../../lib/ids.ts'
import type { Mode } from './rules.ts'

/**
 * An API key: `vk_live_` or `vk_sandbox_`, the public key id (26 characters), 32 random bytes (64
 * hex digits) and a checksum (8). By the checksum mistyped and made-up keys are refused without
 * a lookup.
 */
const FORM = /^vk_(?:live|sandbox)_([0-9a-hjkmnp-tv-z]{26})[0-9a-f]{64}([0-9a-f]{8})$/

const checksumOf = (text: string): string => crc32(text).toString(16).padStart(8, '0')

export function makeKey(mode: Mode): { id: Uuid; text: string } {
  const id = newId()
  const head = `vk_${mode}_${suffixOf(id)}${randomBytes(32).toString('hex')}`
  return { id, text: head + checksumOf(head) }
}

/** The key's public id, or null when the text cannot be a key. */
export function keyIdOf(text: string): Uuid | null {
  const form = FORM.exec(text)
  if (!form || checksumOf(text.slice(0, -8)) !== form[2]) return null
  return idOfSuffix(form[1]!)
}
