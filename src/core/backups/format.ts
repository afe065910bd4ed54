import { hash } from 'node:crypto'
import type { Applied } from '../../db/migrate.ts'
import { assert } from '../../lib/assert.ts'

/**
 * What is in a backup: files, as `tar` lists them.
 *
 *     backup.json                        what it is of, see `Beginning`
 *     configuration.env                  the settings, without secrets
 *     places/1/charges/00001.copy        rows, as COPY writes and reads them
 *     mails/….eml                        mails that were kept as files
 *     contents.json                      how much there must be of everything, see `Ending`
 */
export const FORMAT = 1
export const BEGINNING = 'backup.json'
export const CONFIGURATION = 'configuration.env'
export const ENDING = 'contents.json'

export type SavedTable = { name: string; columns: string[] }

export type Beginning = {
  format: number
  /** The version of Vintém that has made it. */
  version: string
  /** Everything is as it was at this moment. */
  at: string
  /** Of the secret, which is not in it. */
  secretKeyId: string
  migrations: Applied[]
  /** Of each place the tables, those that refer to others after them. */
  places: { tables: SavedTable[] }[]
}

/** How many rows a table has, and what they are, in whatever order. */
export type Contents = { rows: number; digest: string }

/** The last file. Without it a backup is not whole. */
export type Ending = {
  places: { tables: Record<string, Contents>; sequences: Record<string, number> }[]
  mails: number
}

export const rowsName = (place: number, table: string, part: number): string =>
  `places/${place}/${table}/${String(part).padStart(5, '0')}.copy`

/** The place and the table of a file of rows. Null: it is something else. */
export function readRowsName(name: string): { place: number; table: string } | null {
  const [, place, table] = /^places\/(\d+)\/(\w+)\/\d+\.copy$/.exec(name) ?? []
  return table ? { place: Number(place), table } : null
}

export const mailName = (file: string): string => `mails/${file}`
/** Null: it is something else. What it returns is the name of a file and of no folder. */
export const readMailName = (name: string): string | null =>
  /^mails\/(\w[\w-]*\.eml)$/.exec(name)?.[1] ?? null

const LINE_END = 0x0a
const WORDS = [0, 4, 8, 12]

/**
 * Adds up hashes of lines: the same rows have the same digest in any order, and no other rows do,
 * because none is there twice.
 */
export function createDigest() {
  const sums = WORDS.map(() => 0)
  let rows = 0
  return {
    /** Whole lines, each with its end. */
    add(lines: Buffer): void {
      assert(lines.length === 0 || lines.at(-1) === LINE_END, 'lines are whole')
      for (let from = 0; from < lines.length; ) {
        const to = lines.indexOf(LINE_END, from) + 1
        const hashed = hash('sha256', lines.subarray(from, to), 'buffer')
        for (const [i, at] of WORDS.entries()) sums[i] = (sums[i]! + hashed.readUInt32LE(at)) >>> 0
        rows += 1
        from = to
      }
    },
    contents: (): Contents => ({
      rows,
      digest: sums.map((sum) => sum.toString(16).padStart(8, '0')).join(''),
    }),
  }
}
