import { createFairQueue, inSlot, type Release, takeWithin } from '../lib/fair-queue.ts'
import { problem } from '../lib/problems.ts'
import { forEachInTurns } from '../lib/turns.ts'
import type { Page, Part } from './page.ts'

/** The most characters of a page. A longer page ends early and links to the rest. */
const MAX_CHARACTERS = 8 * 1024 * 1024
/** The most records in a part: one more than a page of 50, so that such a page is read at once. */
const MAX_IN_PART = 51
/** How many characters the parts after the first should have. */
const PART_CHARACTERS = 512 * 1024

/** A page with more records is a long one. */
export const LONG_PAGE = 100
/** How long a long page waits for others. */
const LONG_PAGE_WAIT_MS = 30_000
/** Long pages that are read at the same time: few, because each takes memory. */
const longPages = createFairQueue({ size: 2, perOwner: 1 })
const tooMany = () =>
  problem('service_unavailable', 'Too many long pages are asked for. Ask for one at a time.', {
    'Retry-After': '1',
  })

/** A page, and after which record the next one begins. */
export type PageResult<View> = { data: View[]; next: string | number | null }

/** Reads something after other long pages. */
export const asLongPage = <R>(companyId: string, read: () => Promise<R>): Promise<R> =>
  inSlot(longPages, companyId, { most_ms: LONG_PAGE_WAIT_MS, late: tooMany }, read)

/** Reads a page, after other long pages if it is a long one itself. */
export async function readPage<Cursor, Row, View>(
  page: Page<Cursor, NoInfer<Row>>,
  read: (part: Part<Cursor>) => Promise<Row[]>,
  show: (row: Row) => View,
): Promise<PageResult<View>> {
  const slot: { release?: Release } = {}
  const onLong = async () => {
    slot.release ??= await takeWithin(longPages, page.companyId, LONG_PAGE_WAIT_MS, tooMany)
  }
  try {
    return await readParts(page, read, show, onLong)
  } finally {
    slot.release?.()
  }
}

/**
 * Reads the records of a page in parts and shows them in turns, so that no more is read than the
 * page can hold.
 */
async function readParts<Cursor, Row, View>(
  page: Page<Cursor, Row>,
  read: (part: Part<Cursor>) => Promise<Row[]>,
  show: (row: Row) => View,
  onLong: () => Promise<void>,
): Promise<PageResult<View>> {
  const shown: View[] = []
  let { after } = page
  let [characters, part] = [0, MAX_IN_PART]
  let last: Row | undefined
  let isFull = false
  while (!isFull) {
    // Read one record more than the page holds, to know whether there is a next page.
    const limit = Math.min(part, page.limit - shown.length + 1)
    if (shown.length + limit > LONG_PAGE + 1) await onLong()
    const rows = await read({ limit, after })
    await forEachInTurns(page.companyId, rows, (row) => {
      isFull ||= last !== undefined && (shown.length === page.limit || characters > MAX_CHARACTERS)
      if (isFull) return
      last = row
      const view = show(row)
      shown.push(view)
      characters += charactersOf(view)
    })
    if (!last || rows.length < limit) break
    after = page.cursorOf(last)
    part = sizeOfPart(characters / shown.length)
  }
  return { data: shown, next: isFull ? page.publicCursorOf(last!) : null }
}

/** Shows records that were read at once. */
export async function showAll<Row, View>(
  companyId: string,
  rows: Row[],
  show: (row: Row) => View,
): Promise<View[]> {
  const shown: View[] = []
  await forEachInTurns(companyId, rows, (row) => shown.push(show(row)))
  return shown
}

const sizeOfPart = (charactersOfOne: number): number =>
  Math.max(1, Math.min(MAX_IN_PART, Math.floor(PART_CHARACTERS / charactersOfOne)))

/** The approximate length of a value as JSON. */
function charactersOf(value: unknown): number {
  if (typeof value === 'string') return value.length + 2
  if (typeof value !== 'object' || value === null) return 8
  let characters = 2
  for (const name in value)
    characters += name.length + 4 + charactersOf((value as Record<string, unknown>)[name])
  return characters
}

/** How many characters are encoded at once. */
const PIECE_CHARACTERS = 64 * 1024

/** How a list is written. */
export type Written<Item> = {
  start: string
  write(item: Item): string
  separator: string
  end: string
}

/** Writes and encodes a list in turns. */
export async function writeList<Item>(
  companyId: string,
  items: Item[],
  { start, write, separator, end }: Written<Item>,
): Promise<Buffer[]> {
  const pieces: Buffer[] = []
  let text = start
  let isFirst = true
  await forEachInTurns(companyId, items, (item) => {
    text += isFirst ? write(item) : separator + write(item)
    isFirst = false
    if (text.length <= PIECE_CHARACTERS) return
    pieces.push(Buffer.from(text))
    text = ''
  })
  pieces.push(Buffer.from(text + end))
  return pieces
}
