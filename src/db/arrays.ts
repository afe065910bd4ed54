import { byteOf, type Uuid } from '../lib/ids.ts'

/**
 * Arrays in PostgreSQL's binary form, for statements that take a whole group at once. The driver
 * would write them as text, quote each element, and let the server parse it all again.
 */
type Cell = number | string | boolean | Buffer | Date | null

/** How one type is written: its oid, the size of a value, and the writing itself. */
type Kind<T> = {
  oid: number
  size(value: T): number
  write(to: Buffer, at: number, value: T): void
}

const HEADER_BYTES = 20
const LENGTH_BYTES = 4
/** PostgreSQL counts time from the year 2000, in microseconds. */
const EPOCH_MS = Date.UTC(2000, 0, 1)
const DAY_MS = 86_400_000
const TWO_32 = 2 ** 32

function writeInteger64(to: Buffer, at: number, value: number): void {
  to.writeInt32BE(Math.floor(value / TWO_32), at)
  to.writeUInt32BE(value - Math.floor(value / TWO_32) * TWO_32, at + 4)
}

function encoder<T extends Cell>(kind: Kind<T>): (values: (T | null)[]) => Buffer {
  return (values) => {
    const bytes = values.reduce<number>(
      (sum, value) => sum + LENGTH_BYTES + (value === null ? 0 : kind.size(value)),
      HEADER_BYTES,
    )
    const array = Buffer.allocUnsafe(bytes)
    array.writeInt32BE(1, 0)
    array.writeInt32BE(1, 4)
    array.writeInt32BE(kind.oid, 8)
    array.writeInt32BE(values.length, 12)
    array.writeInt32BE(1, 16)
    let at = HEADER_BYTES
    for (const value of values) {
      const size = value === null ? 0 : kind.size(value)
      array.writeInt32BE(value === null ? -1 : size, at)
      if (value !== null) kind.write(array, at + LENGTH_BYTES, value)
      at += LENGTH_BYTES + size
    }
    return array
  }
}

export const uuids = encoder<Uuid>({
  oid: 2950,
  size: () => 16,
  write: (to, at, value) => {
    for (let i = 0; i < 16; i++) to[at + i] = byteOf(value, i)
  },
})

export const texts = encoder<string>({
  oid: 25,
  size: (value) => Buffer.byteLength(value),
  write: (to, at, value) => {
    to.write(value, at)
  },
})

export const integers = encoder<number>({ oid: 20, size: () => 8, write: writeInteger64 })

export const booleans = encoder<boolean>({
  oid: 16,
  size: () => 1,
  write: (to, at, value) => {
    to[at] = value ? 1 : 0
  },
})

export const bytes = encoder<Buffer>({
  oid: 17,
  size: (value) => value.length,
  write: (to, at, value) => {
    to.set(value, at)
  },
})

export const timestamps = encoder<Date>({
  oid: 1184,
  size: () => 8,
  write: (to, at, value) => writeInteger64(to, at, (value.getTime() - EPOCH_MS) * 1000),
})

/** Days, as they are written: `2026-09-07`. */
export const dates = encoder<string>({
  oid: 1082,
  size: () => 4,
  write: (to, at, value) => {
    to.writeInt32BE((Date.parse(value) - EPOCH_MS) / DAY_MS, at)
  },
})

/** Places of rows, as they are written: `(block,row)`. */
export const tids = encoder<string>({
  oid: 27,
  size: () => 6,
  write: (to, at, value) => {
    const comma = value.indexOf(',')
    to.writeUInt32BE(Number(value.slice(1, comma)), at)
    to.writeUInt16BE(Number(value.slice(comma + 1, -1)), at + 4)
  },
})
