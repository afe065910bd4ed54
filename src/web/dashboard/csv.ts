import { Readable } from 'node:stream'
import type { FastifyReply } from 'fastify'
import { secure } from '../security.ts'
import type { Visit } from './visit.ts'

/**
 * Sends a file that is written while it is sent, so that it may be of any length. If the person
 * stops the download, nothing more is read.
 */
export function sendCsv(
  { reply }: Pick<Visit, 'reply'>,
  filename: string,
  pieces: AsyncIterable<string>,
): FastifyReply {
  return secure(reply, null)
    .header('Content-Disposition', `attachment; filename="${filename}"`)
    .type('text/csv; charset=utf-8')
    .send(Readable.from(pieces))
}
