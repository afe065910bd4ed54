import { createHash } from 'node:crypto'
import type { IncomingHttpHeaders } from 'node:http'
import { setImmediate as endOfTick } from 'node:timers/promises'
import { promisify } from 'node:util'
import { gzip } from 'node:zlib'

/** Divides a long text into pieces of about this many characters, to be encoded one by one. */
export function* piecesOf(text: string, length: number): Generator<string> {
  for (let start = 0, end = 0; start < text.length; start = end) {
    end = start + length
    // If a piece would end inside of a pair of surrogates, it takes both.
    if (text.codePointAt(end - 1)! > 0xffff) end++
    yield text.slice(start, end)
  }
}

/** Bytes that do not change while the server runs: compressed and hashed once. */
export type Copy = { plain: Buffer; packed: Buffer; tag: string }

export type CopyAnswer = {
  status: 200 | 304
  headers: Record<string, string>
  body: Buffer | null
}

const pack = promisify(gzip)
const PIECE_CHARACTERS = 256 * 1024

/**
 * Encodes in pieces and compresses on another thread, because a script may have megabytes. The tag
 * is made of the compressed bytes, because they are fewer.
 */
export async function makeCopy(content: string | Buffer): Promise<Copy> {
  const plain = typeof content === 'string' ? await encode(content) : content
  const packed = await pack(plain)
  const hash = createHash('sha256').update(packed).digest('base64url').slice(0, 22)
  return { plain, packed, tag: `W/"${hash}"` }
}

async function encode(text: string): Promise<Buffer> {
  const pieces: Buffer[] = []
  for (const piece of piecesOf(text, PIECE_CHARACTERS)) {
    pieces.push(Buffer.from(piece))
    await endOfTick()
  }
  return Buffer.concat(pieces)
}

/** What a client gets that may have the same copy already. */
export function answerWith(copy: Copy, asked: IncomingHttpHeaders): CopyAnswer {
  const headers = { ETag: copy.tag, Vary: 'Accept-Encoding' }
  const known = String(asked['if-none-match'] ?? '').split(/\s*,\s*/)
  if (known.includes(copy.tag) || known.includes('*')) return { status: 304, headers, body: null }
  if (!/\bgzip\b/.test(String(asked['accept-encoding'] ?? ''))) {
    return { status: 200, headers, body: copy.plain }
  }
  return { status: 200, headers: { ...headers, 'Content-Encoding': 'gzip' }, body: copy.packed }
}
