import { createHash } from 'node:crypto'
import { readdirSync, readFileSync } from 'node:fs'
import { basename, extname, join } from 'node:path'
import { gzipSync } from 'node:zlib'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { inkOn } from '../lib/contrast.ts'
import { ownFile } from '../lib/own-files.ts'

const FOLDER = ownFile('web')

const TYPES: Record<string, string> = {
  '.css': 'text/css; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.svg': 'image/svg+xml',
}

type File = { type: string; plain: Buffer; packed: Buffer }

/**
 * The files that pages load. Each has its hash in its URL, so that browsers can cache it forever.
 */
export type Assets = {
  /** The URL of a file in `web/`. */
  url(name: string): string
  /** The URL of a style sheet with a company's color. */
  theme(color: string): string
  find(path: string): File | null
  /** A file in `web/` by its own name, for what pages of others load. */
  named(name: string): File
}

export function readAssets(): Assets {
  const files = new Map<string, File>()
  const urls = new Map<string, string>()
  for (const name of readdirSync(FOLDER)) {
    const type = TYPES[extname(name)]
    if (!type) continue
    const plain = readFileSync(join(FOLDER, name))
    const hash = createHash('sha256').update(plain).digest('hex').slice(0, 10)
    const hashed = name.replace(/\.(\w+)$/, `.${hash}.$1`)
    files.set(hashed, { type, plain, packed: gzipSync(plain, { level: 9 }) })
    urls.set(name, `/assets/${hashed}`)
  }
  const url = (name: string) => {
    const found = urls.get(name)
    if (!found) throw new Error(`web/${name} does not exist`)
    return found
  }
  return {
    url,
    theme: (color) => `/assets/theme/${color.slice(1)}.css`,
    find: (path) => files.get(path) ?? null,
    named: (name) => files.get(basename(url(name)))!,
  }
}

/** A theme holds only the color in its URL, so it never changes either. */
const themeOf = (rrggbb: string): string =>
  `:root{--brand:#${rrggbb};--brand-ink:${inkOn(`#${rrggbb}`)}}\n`

export function registerAssets(server: FastifyInstance, assets: Assets): void {
  server.get<{ Params: { name: string } }>('/assets/:name', async (request, reply) => {
    const file = assets.find(request.params.name)
    if (!file) return reply.status(404).type('text/plain; charset=utf-8').send('Not found.\n')
    return sendFile(request, cacheForever(reply), file)
  })
  server.get<{ Params: { file: string } }>('/assets/theme/:file', async (request, reply) => {
    const color = /^([0-9a-f]{6})\.css$/.exec(request.params.file)?.[1]
    if (!color) return reply.status(404).type('text/plain; charset=utf-8').send('Not found.\n')
    return cacheForever(reply).type(TYPES['.css']!).send(themeOf(color))
  })
}

const cacheForever = (reply: FastifyReply): FastifyReply =>
  reply.headers({
    'Cache-Control': 'public, max-age=31536000, immutable',
    'X-Content-Type-Options': 'nosniff',
  })

export function sendFile(request: FastifyRequest, reply: FastifyReply, file: File): FastifyReply {
  reply.type(file.type).header('Vary', 'Accept-Encoding')
  if (!takesGzip(request)) return reply.send(file.plain)
  return reply.header('Content-Encoding', 'gzip').send(file.packed)
}

export const takesGzip = ({ headers }: FastifyRequest): boolean =>
  /\bgzip\b/.test(String(headers['accept-encoding'] ?? ''))
