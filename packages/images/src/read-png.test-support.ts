import assert from 'node:assert/strict'
import { crc32, inflateSync } from 'node:zlib'

/**
 * Reads a one-bit PNG with nothing but the specification and node:zlib, which checks the stream and
 * its Adler-32. Returns the pixels without the filter bytes, one byte for eight pixels.
 */
export function readPng(png: Buffer): Buffer {
  assert.equal(png.subarray(0, 8).toString('latin1'), '\x89PNG\r\n\x1a\n')
  const [header, data, end, ...others] = readChunks(png.subarray(8))
  assert.deepEqual(
    [header?.type, data?.type, end?.type, others.length],
    ['IHDR', 'IDAT', 'IEND', 0],
  )
  const width = header!.data.readUInt32BE(0)
  const height = header!.data.readUInt32BE(4)
  assert.deepEqual([...header!.data.subarray(8)], [1, 0, 0, 0, 0])
  const bytes = inflateSync(data!.data)
  const rowBytes = 1 + width / 8
  assert.equal(bytes.length, height * rowBytes)
  const lines = Array.from({ length: height }, (_, y) => {
    assert.equal(bytes[y * rowBytes], 0, 'no filter')
    return bytes.subarray(y * rowBytes + 1, (y + 1) * rowBytes)
  })
  return Buffer.concat(lines)
}

function readChunks(bytes: Buffer): { type: string; data: Buffer }[] {
  const chunks = []
  for (let at = 0; at < bytes.length; ) {
    const length = bytes.readUInt32BE(at)
    const body = bytes.subarray(at + 4, at + 8 + length)
    assert.equal(bytes.readUInt32BE(at + 8 + length), crc32(body))
    chunks.push({ type: body.toString('latin1', 0, 4), data: body.subarray(4) })
    at += 12 + length
  }
  return chunks
}

/** The pixels that a matrix of modules with its quiet zone should have. */
export function pixelsOf(modules: boolean[][]): Buffer {
  const lines = modules.flatMap((row) => {
    const line = Buffer.from(row.map((dark) => (dark ? 0x00 : 0xff)))
    return Array.from({ length: 8 }, () => line)
  })
  return Buffer.concat(lines)
}
