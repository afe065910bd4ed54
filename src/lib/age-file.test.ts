import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import { open, readFile, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { buffer } from 'node:stream/consumers'
import { after, test } from 'node:test'
import { generateX25519Identity, identityToRecipient } from 'age-encryption'
import { type Lock, type Opener, openSealed, sealInto } from './age-file.ts'

const folder = mkdtempSync(join(tmpdir(), 'vintem-age-'))
after(() => rmSync(folder, { recursive: true }))
const identity = await generateX25519Identity()
const mine: Lock = { recipients: [await identityToRecipient(identity)] }
const me: Opener = { identities: [identity] }

let files = 0
async function seal(lock: Lock, bytes: Buffer): Promise<string> {
  const path = join(folder, `${files++}`)
  const file = await open(path, 'wx')
  const source = async function* () {
    yield bytes
  }
  await sealInto(file, lock, source())
  await file.close()
  return path
}
const read = (path: string, opener: Opener): Promise<Buffer> => buffer(openSealed(path, opener))

/** Random, so that it is not compressed, and of several parts of 64 KiB. */
const SECRET = randomBytes(200_000)

test('who has the identity, or knows the passphrase, reads what was written; nobody else', async () => {
  const path = await seal(mine, SECRET)
  assert.ok((await read(path, me)).equals(SECRET))
  assert.ok(!(await readFile(path)).includes(SECRET.subarray(0, 16)))
  const other: Opener = { identities: [await generateX25519Identity()] }
  await assert.rejects(read(path, other), /identity does not open this file/)

  // To try a passphrase otherwise takes a second.
  const guarded = await seal({ passphrase: 'correct horse battery', workFactor: 10 }, SECRET)
  assert.ok((await read(guarded, { passphrase: 'correct horse battery' })).equals(SECRET))
  await assert.rejects(read(guarded, { passphrase: 'wrong horse battery' }), /does not open this/)
  await assert.rejects(read(guarded, me), /identity does not open this file/)
})

test('a file that was cut off, changed, or put in another order is refused', async () => {
  const path = await seal(mine, SECRET)
  const bytes = await readFile(path)
  const payload = bytes.length - SECRET.length
  const part = 64 * 1024 + 16
  const swapped = Buffer.concat([
    bytes.subarray(0, payload),
    bytes.subarray(payload + part, payload + 2 * part),
    bytes.subarray(payload, payload + part),
    bytes.subarray(payload + 2 * part),
  ])
  const flipped = (at: number) => {
    const copy = Buffer.from(bytes)
    copy[at]! ^= 1
    return copy
  }
  const wrong = {
    empty: Buffer.alloc(0),
    'without its last byte': bytes.subarray(0, -1),
    'cut at the end of a part': bytes.subarray(0, bytes.length - (bytes.length % part) - 1),
    swapped,
    'another byte in the middle': flipped(100_000),
    'another byte at the end': flipped(bytes.length - 1),
    'another byte in the header': flipped(60),
    longer: Buffer.concat([bytes, Buffer.from([0])]),
    'something else': Buffer.from('PGDMP and so on'.repeat(100)),
  }
  for (const [name, changed] of Object.entries(wrong)) {
    const other = join(folder, name.replaceAll(' ', '-'))
    await writeFile(other, changed)
    await assert.rejects(
      read(other, me),
      /no backup, or it was cut off or changed|does not open/,
      name,
    )
  }
})
