import { createReadStream } from 'node:fs'
import type { FileHandle } from 'node:fs/promises'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import type { ReadableStream } from 'node:stream/web'
import { createGunzip, createGzip } from 'node:zlib'
import { Decrypter, Encrypter } from 'age-encryption'
import { OperatorFault } from './operator-fault.ts'

/**
 * Files that are compressed and encrypted in the format of age, which the program `age` opens too:
 * `age --decrypt FILE | gunzip`. Each 64 KiB are sealed by themselves with their number, and the
 * last ones are marked as such. So a file that was cut off, changed or put in another order is
 * refused, and no part of it is given out unchecked.
 */

/** Who can open a file: whoever knows the passphrase, or has the identity of a recipient. */
export type Lock = { passphrase: string; workFactor?: number } | { recipients: string[] }
export type Opener = { passphrase: string } | { identities: string[] }

/** As the program age has it: to try a passphrase takes about a second, and 256 MiB. */
const WORK_FACTOR = 18
/** The least effort: much of what is compressed is sealed, and other work waits for the core. */
const COMPRESSION = { level: 1 }

function encrypterOf(lock: Lock): Encrypter {
  const encrypter = new Encrypter()
  if ('passphrase' in lock) {
    encrypter.setPassphrase(lock.passphrase)
    encrypter.setScryptWorkFactor(lock.workFactor ?? WORK_FACTOR)
  } else for (const recipient of lock.recipients) addRecipient(encrypter, recipient)
  return encrypter
}

function addRecipient(encrypter: Encrypter, recipient: string): void {
  try {
    encrypter.addRecipient(recipient)
  } catch {
    throw new OperatorFault(
      'A recipient must be a public key of age, such as age1…: age-keygen makes one.',
    )
  }
}

/** Refuses what is no recipient before anything is done. */
export function requireLock(lock: Lock): void {
  encrypterOf(lock)
}

/** Writes what comes from `source`. The file is on the disk when this resolves. */
export async function sealInto(
  file: FileHandle,
  lock: Lock,
  source: AsyncIterable<Uint8Array>,
): Promise<void> {
  const encrypter = encrypterOf(lock)
  async function* encrypted(plain: AsyncIterable<Uint8Array>) {
    const stream = Readable.toWeb(Readable.from(plain)) as unknown
    const sealed = await encrypter.encrypt(stream as Parameters<typeof encrypter.encrypt>[0])
    yield* sealed as unknown as ReadableStream<Uint8Array>
  }
  await pipeline(source, createGzip(COMPRESSION), encrypted, async (chunks) => {
    for await (const chunk of chunks) await file.appendFile(chunk)
  })
  await file.sync()
}

function decrypterOf(opener: Opener): Decrypter {
  const decrypter = new Decrypter()
  if ('passphrase' in opener) decrypter.addPassphrase(opener.passphrase)
  else for (const identity of opener.identities) addIdentity(decrypter, identity)
  return decrypter
}

function addIdentity(decrypter: Decrypter, identity: string): void {
  try {
    decrypter.addIdentity(identity)
  } catch {
    throw new OperatorFault('An identity must be a secret key of age: AGE-SECRET-KEY-1….')
  }
}

const NOT_OPENED = {
  passphrase: 'The passphrase does not open this file, or the file is for a recipient.',
  identities: 'The identity does not open this file, or the file has a passphrase.',
}

/** What was written. It throws where the file is damaged, and at the end if that is missing. */
export async function* openSealed(path: string, opener: Opener): AsyncGenerator<Uint8Array> {
  const decrypter = decrypterOf(opener)
  const file = createReadStream(path)
  async function* decrypted() {
    const stream = Readable.toWeb(file) as unknown
    const opened = await decrypter.decrypt(stream as Parameters<typeof decrypter.decrypt>[0])
    yield* opened as unknown as ReadableStream<Uint8Array>
  }
  const plain = createGunzip()
  // Whoever reads gets the error.
  const piped = pipeline(decrypted, plain).catch(() => {})
  try {
    yield* plain as AsyncIterable<Uint8Array>
  } catch (error) {
    throw faultOf(error as Error, path, opener)
  } finally {
    plain.destroy()
    file.destroy()
    await piped
  }
}

function faultOf(error: Error, path: string, opener: Opener): Error {
  if ((error as NodeJS.ErrnoException).syscall)
    return new OperatorFault(`${path} cannot be read: ${error.message}.`)
  const cause = { cause: error }
  if (/no identity matched/.test(error.message))
    return new OperatorFault(
      'passphrase' in opener ? NOT_OPENED.passphrase : NOT_OPENED.identities,
      cause,
    )
  return new OperatorFault(
    `${path} is no backup, or it was cut off or changed. It cannot be restored.`,
    cause,
  )
}
