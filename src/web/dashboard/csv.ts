import { Readable } from 'node:stream'
import type { FastifyReply } from 'fastify'
import { problem } from '../../lib/problems.ts'
import { secure } from '../security.ts'
import { holdSlot } from '../slots.ts'
import type { Visit } from './visit.ts'

/** Files that people of one company read at the same time. Each is work as long as it is read. */
export const MAX_FILES = 2

type Reader = Pick<Visit, 'site' | 'company' | 'reply'>

/**
 * Sends a file that is written while it is sent, so that it may be of any length. If the person
 * stops the download, nothing more is read.
 */
export async function sendFile(
  { site, company, reply }: Reader,
  { filename, type }: { filename: string; type: string },
  pieces: AsyncIterable<string>,
): Promise<FastifyReply> {
  if (!(await holdSlot(site.files, company.id, reply))) {
    throw problem('rate_limited', 'Too many files are read at once.', { 'Retry-After': '10' })
  }
  return secure(reply, null)
    .header('Content-Disposition', `attachment; filename="${filename}"`)
    .type(type)
    .send(Readable.from(pieces))
}

export const sendCsv = (
  reader: Reader,
  filename: string,
  pieces: AsyncIterable<string>,
): Promise<FastifyReply> => sendFile(reader, { filename, type: 'text/csv; charset=utf-8' }, pieces)

/**
 * Adds to the activity log that somebody takes a file with data of people. Of the filters it has
 * those that say nothing about a person: of a search only that there was one.
 */
export async function recordFile(
  { app, record }: Pick<Visit, 'app' | 'record'>,
  file: string,
  filters: Record<string, string>,
  lines?: number,
): Promise<void> {
  const { q, as: _, ...others } = filters
  const named = Object.entries(others).map(([name, value]) => `${name}=${value}`)
  const details = {
    file,
    filters: q ? [...named, 'q'] : named,
    ...(lines === undefined ? {} : { lines }),
  }
  await app.db.transaction((tx) => record(tx, 'file.download', null, details))
}
