import { assert } from './assert.ts'
import { OperatorFault } from './operator-fault.ts'

/**
 * Files in one stream, as `tar` of any system reads them: the form "ustar" of POSIX, without what
 * we do not need of it (owners, links, folders of their own).
 */

const BLOCK = 512
const MODE = '0000600'
const FILE = '0'
/** A file must fit into memory. */
const MOST_BYTES = 1024 ** 3

export type TarFile = { name: string; bytes: Buffer }

const octal = (number: number, digits: number): string => number.toString(8).padStart(digits, '0')

/** The sum of a header's bytes, its own field being spaces. */
function checksumOf(header: Buffer): number {
  let sum = 0
  for (let i = 0; i < BLOCK; i++) sum += i >= 148 && i < 156 ? 0x20 : header[i]!
  return sum
}

function headerOf({ name, bytes }: TarFile, at: Date): Buffer {
  assert(name.length <= 100 && /^[\x21-\x7e]+$/.test(name), 'a name fits into its header')
  assert(bytes.length < MOST_BYTES, 'a file fits into memory')
  const header = Buffer.alloc(BLOCK)
  header.write(name, 0)
  header.write(MODE, 100)
  header.write(octal(0, 7), 108)
  header.write(octal(0, 7), 116)
  header.write(octal(bytes.length, 11), 124)
  header.write(octal(Math.floor(at.getTime() / 1000), 11), 136)
  header.write(FILE, 156)
  header.write('ustar\u000000', 257)
  header.write(`${octal(checksumOf(header), 6)}\0 `, 148)
  return header
}

const paddingOf = (size: number): number => (BLOCK - (size % BLOCK)) % BLOCK

/** Files one after the other, and the two empty blocks at the end. */
export async function* writeTar(files: AsyncIterable<TarFile>, at: Date): AsyncGenerator<Buffer> {
  for await (const file of files) {
    yield headerOf(file, at)
    yield file.bytes
    yield Buffer.alloc(paddingOf(file.bytes.length))
  }
  yield Buffer.alloc(2 * BLOCK)
}

const damaged = () => new OperatorFault('The file is not a backup, or it is damaged.')

function readHeader(header: Buffer): { name: string; size: number } {
  const textOf = (from: number, to: number) =>
    header.toString('latin1', from, to).replace(/[\0 ].*$/s, '')
  if (Number.parseInt(textOf(148, 156), 8) !== checksumOf(header)) throw damaged()
  const size = Number.parseInt(textOf(124, 136), 8)
  if (textOf(156, 157) !== FILE || !(size < MOST_BYTES)) throw damaged()
  return { name: textOf(0, 100), size }
}

/** The files of a stream. It must end with the end of the archive. */
export async function* readTar(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<TarFile> {
  const source = createSource(chunks)
  for (;;) {
    const header = await source.take(BLOCK)
    if (!header) throw damaged()
    // An empty block begins the end.
    if (header.every((byte) => byte === 0)) break
    const { name, size } = readHeader(header)
    const bytes = size === 0 ? Buffer.alloc(0) : await source.take(size)
    if (!bytes || (paddingOf(size) > 0 && !(await source.take(paddingOf(size))))) throw damaged()
    yield { name, bytes }
  }
  // The rest is read too, because only its end proves that nothing is missing.
  while (await source.take(BLOCK));
}

/** Takes as many bytes as are asked for from chunks of any sizes. */
function createSource(chunks: AsyncIterable<Uint8Array>) {
  const iterator = chunks[Symbol.asyncIterator]()
  let held: Uint8Array[] = []
  let size = 0
  return {
    /** Null: there are not so many any more. */
    async take(count: number): Promise<Buffer | null> {
      while (size < count) {
        const { value, done } = await iterator.next()
        if (done) return null
        held.push(value)
        size += value.length
      }
      const all = Buffer.concat(held)
      held = [all.subarray(count)]
      size -= count
      return all.subarray(0, count)
    },
  }
}
