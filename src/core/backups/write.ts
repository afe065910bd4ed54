import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { copyOut } from '../../db/copy.ts'
import type { TarFile } from '../../lib/tar.ts'
import {
  BEGINNING,
  CONFIGURATION,
  type Contents,
  createDigest,
  ENDING,
  type Ending,
  mailName,
  readMailName,
  rowsName,
  type SavedTable,
} from './format.ts'
import type { Snapshot } from './snapshot.ts'
import { readSequences, rowsOf } from './tables.ts'

/** About so much is held in memory at once, and one row more. */
const PART_BYTES = 4 * 1024 * 1024

/** What is saved besides the database. */
export type Besides = {
  /** The settings without secrets, as a file `.env`. */
  configuration: string
  /** Where mails are kept as files. Null: they are sent. */
  mailFolder: string | null
}

const jsonFile = (name: string, content: object): TarFile => ({
  name,
  bytes: Buffer.from(`${JSON.stringify(content, null, 2)}\n`),
})

/** The files of a backup. `wrote` is called with what was written in the end. */
export async function* filesOf(
  { beginning, clients }: Snapshot,
  { configuration, mailFolder }: Besides,
  wrote: (ending: Ending) => void,
): AsyncGenerator<TarFile> {
  yield jsonFile(BEGINNING, beginning)
  yield { name: CONFIGURATION, bytes: Buffer.from(configuration) }
  const places: Ending['places'] = []
  for (const [i, client] of clients.entries()) {
    const { tables } = beginning.places[i]!
    const contents: Record<string, Contents> = {}
    for (const table of tables) {
      const saved = (one: Contents) => {
        contents[table.name] = one
      }
      yield* rowsFiles(copyOut(client, rowsOf(table)), i + 1, table, saved)
    }
    places.push({ tables: contents, sequences: await readSequences(client, tables) })
    await client.query('commit')
  }
  const mails = mailFolder === null ? [] : await listMails(mailFolder)
  for (const file of mails) {
    yield { name: mailName(file), bytes: await readFile(join(mailFolder!, file)) }
  }
  const ending = { places, mails: mails.length }
  yield jsonFile(ENDING, ending)
  wrote(ending)
}

/** The rows of a table, in files of a few MiB. */
async function* rowsFiles(
  rows: AsyncIterable<Buffer>,
  place: number,
  table: SavedTable,
  saved: (contents: Contents) => void,
): AsyncGenerator<TarFile> {
  const digest = createDigest()
  let part = 0
  let [held, size]: [Buffer[], number] = [[], 0]
  const file = (): TarFile => {
    part += 1
    const bytes = Buffer.concat(held)
    held = []
    size = 0
    return { name: rowsName(place, table.name, part), bytes }
  }
  for await (const lines of rows) {
    digest.add(lines)
    held.push(lines)
    size += lines.length
    if (size >= PART_BYTES) yield file()
  }
  if (size > 0) yield file()
  saved(digest.contents())
}

/** None that is being written, and nothing else that is there. */
async function listMails(folder: string): Promise<string[]> {
  const files = await readdir(folder).catch(() => [])
  return files.filter((file) => readMailName(mailName(file)) !== null).sort()
}
