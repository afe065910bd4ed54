import type { Vault } from '../../lib/vault.ts'

/**
 * What a page has to send back unchanged. It is sealed for one use, which `context` names, so that
 * it can be read and sent only for that.
 */
export function sealState(vault: Vault, context: string, value: object, expiresAt: Date): string {
  const text = JSON.stringify({ value, expiresAt: expiresAt.getTime() })
  return vault.seal(text, `state:${context}`).toString('base64url')
}

/** What was sealed, or null if it has expired or was not sealed for this. */
export function openState<T extends object>(
  vault: Vault,
  context: string,
  sealed: string,
  now: Date,
): T | null {
  const text = tryToOpen(vault, context, sealed)
  if (text === null) return null
  const { value, expiresAt } = JSON.parse(text) as { value: T; expiresAt: number }
  return now.getTime() < expiresAt ? value : null
}

function tryToOpen(vault: Vault, context: string, sealed: string): string | null {
  try {
    return vault.open(Buffer.from(sealed, 'base64url'), `state:${context}`)
  } catch {
    return null
  }
}
