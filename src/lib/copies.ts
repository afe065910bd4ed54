import { createHash } from 'node:crypto'
import type { IncomingHttpHeaders } from 'node:http'
import { promisify } from 'node:util'
import { gzip } from 'node:zlib'

/** Bytes that do not change while the server runs: compressed and hashed once. */
export type Copy = { plain: Buffer; packed: Buffer; tag: string }

export type CopyAnswer = {
  status: 200 | 304
  headers: Record<string, string>
  body: Buffer | null
}

const pack = promisify(gzip)

/** Compresses on another thread, because a script may have megabytes. */
export async function makeCopy(content: string | Buffer): Promise<Copy> {
  const plain = Buffer.from(content as string)
  const hash = createHash('sha256').update(plain).digest('base64url').slice(0, 22)
  return { plain, packed: await pack(plain), tag: `W/"${hash}"` }
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
