import { Busboy, type BusboyInstance } from '@fastify/busboy'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import { problem } from '../../lib/problems.ts'
import { addField, type Form } from '../site.ts'

/** The files of forms, by the request that sent them. */
const files = new WeakMap<FastifyRequest, Map<string, Buffer>>()

/** A file that a form has sent; empty if none was chosen, null if the form has no such file. */
export const fileOf = (request: FastifyRequest, name = 'file'): Buffer | null =>
  files.get(request)?.get(name) ?? null

/** Marks the routes whose forms have a file. To others such a form is of an unknown type. */
export const TAKES_FILE = { takesFile: true } as const

/** Refuses a form that has not the token of the session that sends it. */
export type CheckToken = (request: FastifyRequest, token: string | undefined) => void

/** Reads forms with files. */
export function readUploads(scope: FastifyInstance, checkToken: CheckToken): void {
  scope.addContentTypeParser(
    'multipart/form-data',
    { parseAs: 'buffer' },
    async (request: FastifyRequest, body: Buffer): Promise<Form> => {
      const { takesFile } = request.routeOptions.config as Partial<typeof TAKES_FILE>
      if (!takesFile) throw problem('unsupported_media_type')
      const { form, sent } = await readParts(openParser(request), body, (token) =>
        checkToken(request, token),
      )
      files.set(request, sent)
      return form
    },
  )
}

const notAForm = () => problem('invalid_value', 'body: is not a form')

/** The longest form of ours connects a bank: fifteen fields, two of them files. */
const LIMITS = { parts: 20, headerPairs: 10, headerSize: 4096 }
/** Parts beyond the limit cost time until the end of what the parser was given at once. */
const SLICE_BYTES = 8 * 1024

/** What finds the boundary, and counts the parts. */
function openParser({ headers }: FastifyRequest): BusboyInstance {
  try {
    return new Busboy({
      headers: { 'content-type': headers['content-type'] ?? '' },
      limits: LIMITS,
    })
  } catch {
    throw notAForm()
  }
}

/** Reads a form whose first part is its token. Nothing is read behind what is refused. */
function readParts(
  parser: BusboyInstance,
  body: Buffer,
  checkToken: (token: string | undefined) => void,
): Promise<{ form: Form; sent: Map<string, Buffer> }> {
  const form: Form = Object.create(null)
  const pieces = new Map<string, Buffer[]>()
  return new Promise((resolve, reject) => {
    let isRefused = false
    const refuse = (error: Error) => {
      isRefused = true
      reject(error)
    }
    const begin = (name: string | undefined, value?: string): name is string => {
      try {
        if (form.token === undefined) checkToken(name === 'token' ? value : undefined)
        if (name === undefined) throw notAForm()
      } catch (error) {
        refuse(error as Error)
      }
      return !isRefused
    }
    parser
      .on('field', (name, value) => {
        if (begin(name, value)) addField(form, name, value)
      })
      .on('file', (name, file) => {
        const read: Buffer[] = []
        if (begin(name) && !pieces.has(name)) pieces.set(name, read)
        file.on('data', (piece: Buffer) => read.push(piece)).on('error', () => refuse(notAForm()))
      })
      .on('partsLimit', () => refuse(notAForm()))
      .on('error', () => refuse(notAForm()))
      .on('finish', () => {
        const sent = [...pieces].map(([name, read]) => [name, Buffer.concat(read)] as const)
        resolve({ form, sent: new Map(sent) })
      })
    // A slice is given when the one before was read, so that nothing waits behind what is refused.
    const give = (at: number) => {
      if (isRefused) return
      if (at >= body.length) parser.end()
      else parser.write(body.subarray(at, at + SLICE_BYTES), () => give(at + SLICE_BYTES))
    }
    give(0)
  })
}
