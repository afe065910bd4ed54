import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { generateX25519Identity, identityToRecipient } from 'age-encryption'

/** What a backup is encrypted for, and the file that opens it. */
export type AgeKeys = { recipient: string; identityFile: string; identity: string }

export async function makeAgeKeys(folder: string): Promise<AgeKeys> {
  const identity = await generateX25519Identity()
  const recipient = await identityToRecipient(identity)
  const identityFile = join(folder, 'age.key')
  // As age-keygen writes it.
  writeFileSync(identityFile, `# public key: ${recipient}\n${identity}\n`)
  return { identity, recipient, identityFile }
}

/** A copy of the secret that is kept elsewhere. */
export function copySecret(folder: string, secretKey: string): string {
  const path = join(folder, 'copy-of-secret.key')
  writeFileSync(path, `${secretKey}\n`)
  return path
}
