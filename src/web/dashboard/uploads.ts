import type { FastifyInstance, FastifyRequest } from 'fastify'
import { problem } from '../../lib/problems.ts'
import type { Form } from '../site.ts'

/** The files of forms, by the request that sent them. */
const files = new WeakMap<FastifyRequest, Buffer>()

/** The file that a form has sent; empty if none was chosen, null if the form has no file. */
export const fileOf = (request: FastifyRequest): Buffer | null => files.get(request) ?? null

/** Marks the routes whose forms have a file. To others such a form is of an unknown type. */
export const TAKES_FILE = { takesFile: true } as const

/** Reads forms with one file. */
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

async function readMultipart(request: FastifyRequest, body: Buffer): Promise<Form> {
  const headers = { 'content-type': request.headers['content-type'] ?? '' }
  const parsed = await new Response(new Uint8Array(body), { headers }).formData().catch(() => {
    throw problem('invalid_value', 'body: is not a form')
  })
  const form: Form = Object.create(null)
  for (const [name, value] of parsed) {
    if (typeof value === 'string') form[name] ??= value.replaceAll('\0', '').toWellFormed()
    else if (!files.has(request)) files.set(request, Buffer.from(await value.arrayBuffer()))
  }
  return form
}
