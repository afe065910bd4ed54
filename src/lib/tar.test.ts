import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { buffer } from 'node:stream/consumers'
import { test } from 'node:test'
import fc from 'fast-check'
import { readTar, type TarFile, writeTar } from './tar.ts'

const AT = new Date('2026-11-19T04:00:00Z')

async function* given<T>(items: T[]): AsyncGenerator<T> {
  yield* items
}
const pack = (files: TarFile[]): Promise<Buffer> => buffer(writeTar(given(files), AT))

async function unpack(bytes: Buffer, piece: number): Promise<TarFile[]> {
  const count = Math.ceil(bytes.length / piece)
  const pieces = Array.from({ length: count }, (_, i) => bytes.subarray(i * piece, (i + 1) * piece))
  return Array.fromAsync(readTar(given(pieces)))
}

const files = fc.array(
  fc.record(
    {
      name: fc.stringMatching(/^[a-z][a-z0-9/._-]{0,98}$/),
      bytes: fc.uint8Array({ maxLength: 3000 }).map((bytes) => Buffer.from(bytes)),
    },
    { noNullPrototype: true },
  ),
  { maxLength: 6 },
)

test('what is packed is unpacked again, in whatever pieces it comes', async () => {
  await fc.assert(
    fc.asyncProperty(files, fc.integer({ min: 1, max: 5000 }), async (all, piece) => {
      assert.deepEqual(await unpack(await pack(all), piece), all)
    }),
    { numRuns: 50 },
  )
})

test('any other tar lists and reads the same files', async () => {
  const all = [
    { name: 'backup.json', bytes: Buffer.from('{}\n') },
    { name: 'places/1/charges/00001.copy', bytes: Buffer.alloc(100_000, 'é') },
    { name: 'empty', bytes: Buffer.alloc(0) },
  ]
  const input = await pack(all)
  const list = execFileSync('tar', ['--list', '--file', '-'], { input, encoding: 'utf8' })
  assert.deepEqual(
    list.trim().split('\n'),
    all.map(({ name }) => name),
  )
  for (const { name, bytes } of all) {
    const read = execFileSync('tar', ['--extract', '--to-stdout', '--file', '-', name], { input })
    assert.ok(read.equals(bytes), name)
  }
})

test('an archive that is cut off anywhere, or has another byte in a header, is refused', async () => {
  const bytes = await pack([{ name: 'one', bytes: Buffer.alloc(700, 'a') }])
  // The second of the two empty blocks at the end is not needed.
  for (let length = 0; length < bytes.length - 1024; length += 100) {
    await assert.rejects(unpack(bytes.subarray(0, length), 512), /not a backup, or it is damaged/)
  }
  const changed = Buffer.from(bytes)
  changed[3] = 1
  await assert.rejects(unpack(changed, 512), /not a backup, or it is damaged/)
})
