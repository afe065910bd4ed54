import { readFileSync, realpathSync, statSync } from 'node:fs'
import { dirname } from 'node:path'
import { type Config, secretKeyFile } from '../config.ts'
import { findBackups, noteSavedSecret } from '../core/installation.ts'
import type { Tx } from '../db/database.ts'
import type { Lock, Opener } from '../lib/age-file.ts'
import { readSecretText } from '../lib/secret-file.ts'
import { keysOf } from '../lib/vault.ts'
import { type Args, Refusal, UsageFault } from './command.ts'
import { typedPath } from './typed-path.ts'

/** Shorter ones can be guessed by whoever has the file and time. */
const MIN_PASSPHRASE = 12

function readTyped(option: string, path: string): string {
  try {
    return readFileSync(typedPath(path), 'utf8')
  } catch (error) {
    throw new Refusal(`--${option}: ${path} cannot be read (${(error as Error).message}).`)
  }
}

function readPassphrase(path: string): string {
  const passphrase = readTyped('passphrase-file', path).replace(/\r?\n$/, '')
  if (passphrase.length >= MIN_PASSPHRASE) return passphrase
  throw new Refusal(
    `The passphrase must have at least ${MIN_PASSPHRASE} characters: whoever has the file can try as many as they like.`,
  )
}

/** With what a backup is encrypted. */
export function readLock({ options, lists }: Args): Lock {
  const file = options['passphrase-file']
  const recipients = lists.recipient
  if ((file === undefined) === (recipients === undefined)) {
    throw new UsageFault('A backup is encrypted: give either --recipient or --passphrase-file.')
  }
  return recipients ? { recipients } : { passphrase: readPassphrase(file!) }
}

/** What opens a backup. */
export function readOpener({ options }: Args): Opener {
  const { identity, 'passphrase-file': file } = options
  if ((file === undefined) === (identity === undefined)) {
    throw new UsageFault('A backup is encrypted: give either --identity or --passphrase-file.')
  }
  if (identity === undefined) return { passphrase: readPassphrase(file!) }
  const lines = readTyped('identity', identity).split(/\r?\n/)
  const identities = lines.filter((line) => line.startsWith('AGE-SECRET-KEY-'))
  if (identities.length > 0) return { identities }
  throw new Refusal(`--identity: ${identity} has no secret key of age (AGE-SECRET-KEY-…).`)
}

/**
 * Refuses to make a backup that nobody could use: the secret is not in it. Whoever has shown a copy
 * of it is believed until there is another secret. `keyId` is that of the present one. Returns what is to be said about the copy.
 */
export async function requireSavedSecret(
  config: Config,
  keyId: string,
  tx: Tx,
  copy: string | undefined,
): Promise<string> {
  if (copy === undefined) {
    const { savedSecretKeyId } = await findBackups(tx)
    if (savedSecretKeyId === keyId) return ''
    throw new Refusal(
      `A backup is useless without the secret key ${keyId}, which is not in it. Keep a copy of it in another place than backups and database, and show it once with --secret-copy FILE. For a password manager: … | vintem backup … --secret-copy /dev/stdin.`,
    )
  }
  const shown = readSecretText(readTyped('secret-copy', copy).trim())
  const { secretKey, secretKeyNext } = config
  const isNext = secretKeyNext !== null && keysOf(secretKeyNext).keyId === keyId
  if (!shown?.equals(isNext ? secretKeyNext : secretKey)) {
    throw new Refusal(`--secret-copy: ${copy} is not the secret key ${keyId} that is in use.`)
  }
  const original = secretKeyFile(config, isNext)
  const notice = original === null ? '' : compareFiles(typedPath(copy), original)
  await noteSavedSecret(tx, keyId)
  return notice
}

/** A copy that is lost together with the secret is none. */
function compareFiles(copy: string, original: string): string {
  const [one, other] = [statSync(copy), statSync(original)]
  const isSame = one.dev === other.dev && one.ino === other.ino
  const folderOf = (path: string) => dirname(realpathSync(path))
  if (isSame || (one.isFile() && folderOf(copy) === folderOf(original))) {
    throw new Refusal(
      '--secret-copy: this is the secret key itself, or beside it. Show a copy that is kept elsewhere.',
    )
  }
  const isNear = one.isFile() && one.dev === other.dev
  return isNear
    ? 'The copy of the secret key is on the same disk as the secret key: keep one elsewhere too.\n'
    : ''
}
