import type { FastifyInstance, FastifyRequest } from 'fastify'
import { problem } from '../../lib/problems.ts'
import type { Form } from '../site.ts'

/** The files of forms, by the request that sent them. */
const files = new WeakMap<FastifyRequest, Map<string, Buffer>>()

/** A file that a form has sent; empty if none was chosen, null if the form has no such file. */
export const fileOf = (request: FastifyRequest, name = 'file'): Buffer | null =>
  files.get(request)?.get(name) ?? null

/** Marks the routes whose forms have a file. To others such a form is of an unknown type. */
export const TAKES_FILE = { takesFile: true } as const

/** Reads forms with files. */
export function readUploads(scope: FastifyInstance): void {
  scope.addContentTypeParser(
    'multipart/form-data',
    { parseAs: 'buffer' },
    async (request: FastifyRequest, body: Buffer): Promise<Form> => {
      const { takesFile } = request.routeOptions.config as Partial<typeof TAKES_FILE>
      if (!takesFile) throw problem('unsupported_media_type')
      return readMultipart(request, body)
    },
  )
}

const notAForm = () => problem('invalid_value', 'body: is not a form')

/** The longest form of ours connects a bank: fifteen fields, two of them files. */
const MAX_PARTS = 20
const MAX_HEAD_BYTES = 4096
const END_OF_HEAD = Buffer.from('\r\n\r\n')
const DASHES = Buffer.from('--')

/** Whether a form has few parts with short heads. To parse any other may take long. */
function isShort(body: Buffer, type: string): boolean {
  const [, quoted, plain] = /boundary=(?:"([^"]+)"|([^;\s]+))/i.exec(type) ?? []
  const boundary = Buffer.from(`--${quoted ?? plain ?? ''}`)
  let parts = 0
  for (let at = body.indexOf(boundary); at !== -1; at = body.indexOf(boundary, at + 1)) {
    const isLast = body.subarray(at + boundary.length, at + boundary.length + 2).equals(DASHES)
    if (isLast) return true
    parts += 1
    const head = body.subarray(at, at + MAX_HEAD_BYTES)
    if (parts > MAX_PARTS || !head.includes(END_OF_HEAD)) return false
  }
  return false
}

async function readMultipart(request: FastifyRequest, body: Buffer): Promise<Form> {
  const headers = { 'content-type': request.headers['content-type'] ?? '' }
  if (!isShort(body, headers['content-type'])) throw notAForm()
  const parsed = await new Response(new Uint8Array(body), { headers }).formData().catch(() => {
    throw notAForm()
  })
  const form: Form = Object.create(null)
  const sent = new Map<string, Buffer>()
  for (const [name, value] of parsed) {
    if (typeof value === 'string') form[name] ??= value.replaceAll('\0', '').toWellFormed()
    else if (!sent.has(name)) sent.set(name, Buffer.from(await value.arrayBuffer()))
  }
  files.set(request, sent)
  return form
}
