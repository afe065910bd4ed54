import { Readable } from 'node:stream'
import type { FastifyReply } from 'fastify'
import { problem } from '../../lib/problems.ts'
import { secure } from '../security.ts'
import { holdSlot } from '../slots.ts'
import type { Visit } from './visit.ts'

/** Files that people of one company read at the same time. Each is work as long as it is read. */
export const MAX_FILES = 2

/**
 * Sends a file that is written while it is sent, so that it may be of any length. If the person
 * stops the download, nothing more is read.
 */
export async function sendCsv(
  { site, company, reply }: Pick<Visit, 'site' | 'company' | 'reply'>,
  filename: string,
  pieces: AsyncIterable<string>,
): Promise<FastifyReply> {
  if (!(await holdSlot(site.files, company.id, reply))) {
    throw problem('rate_limited', 'Too many files are read at once.', { 'Retry-After': '10' })
  }
  return secure(reply, null)
    .header('Content-Disposition', `attachment; filename="${filename}"`)
    .type('text/csv; charset=utf-8')
    .send(Readable.from(pieces))
}
