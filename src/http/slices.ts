import { setImmediate as whenFree } from 'node:timers'
import { createAlternating } from '../lib/alternating.ts'
import { piecesOf } from '../lib/text-pieces.ts'
import { LONG_PAGE } from './long-pages.ts'
import { spending } from './loop-shares.ts'
import type { Page, Part } from './page.ts'

/** How long requests use the event loop before others are served. */
const SLICE_MS = 2
/** The most characters of a page. A longer page ends early and links to the rest. */
const MAX_CHARACTERS = 8 * 1024 * 1024

/** When requests began to use the event loop after it was last free. */
let began_ms: number | null = null

/**
 * Whether the current slice is over. All requests share it, because many short ones block the event
 * loop as one long one does. If it is not over, the caller must begin its work at once.
 */
export function isOver(): boolean {
  if (began_ms === null) {
    began_ms = performance.now()
    whenFree(() => {
      began_ms = null
    })
  }
  return performance.now() - began_ms > SLICE_MS
}

/** Requests that wait for their next slice. */
const waiting = createAlternating<() => void>()
let isResuming = false

/** Waits until other requests were served, and until the company may use another slice. */
export async function nextSlice(): Promise<void> {
  const spender = spending.getStore()
  await spender?.take(SLICE_MS)
  await new Promise<void>((resume) => {
    waiting.add(spender?.name ?? '', resume)
    if (!isResuming) whenFree(resumeNext)
    isResuming = true
  })
}

/** Resumes a request, and the next when it has done what it does at once. */
function resumeNext(): void {
  waiting.next()!()
  // A tick that is asked for among the microtasks comes after all of them.
  queueMicrotask(() =>
    process.nextTick(() => {
      isResuming = !waiting.isEmpty()
      if (isResuming && isOver()) whenFree(resumeNext)
      else if (isResuming) resumeNext()
    }),
  )
}

/** The most records in a part: one more than a page of 50, so that such a page is read at once. */
const MAX_IN_PART = 51
/** How many characters the parts after the first should have. */
const PART_CHARACTERS = 512 * 1024
/** The time to read a record from the answer of the database. */
const RECORD_MS = 0.02
/** A page with fewer but large records is long too. */
const LONG_PAGE_CHARACTERS = 1024 * 1024

/**
 * Reads the records of a page in parts and shows them in slices, so that other requests are served
 * in between and no more is read than the page can hold.
 */
export async function readPage<Cursor, Row, View>(
  page: Page<Cursor, NoInfer<Row>>,
  read: (part: Part<Cursor>) => Promise<Row[]>,
  show: (row: Row) => View,
): Promise<View[]> {
  const shown: View[] = []
  let { after } = page
  let [characters, part] = [0, MAX_IN_PART]
  let last: Row | undefined
  for (;;) {
    // Read one record more than the page holds, to know whether there is a next page.
    const limit = Math.min(part, page.limit - shown.length + 1)
    if (shown.length + limit > LONG_PAGE + 1 || characters > LONG_PAGE_CHARACTERS)
      await page.long.begin()
    await spending.getStore()?.take(limit * RECORD_MS)
    const rows = await read({ limit, after })
    for (const row of rows) {
      const isFull = shown.length === page.limit || characters > MAX_CHARACTERS
      if (last && isFull) {
        page.linkAfter(last)
        return shown
      }
      last = row
      if (isOver()) await nextSlice()
      const view = show(row)
      shown.push(view)
      characters += charactersOf(view)
    }
    if (!last || rows.length < limit) return shown
    after = page.cursorOf(last)
    part = sizeOfPart(characters / shown.length)
  }
}

/** Shows records that were read at once, in slices. */
export async function showInSlices<Row, View>(
  rows: Row[],
  show: (row: Row) => View,
): Promise<View[]> {
  await spending.getStore()?.take(rows.length * RECORD_MS)
  const shown: View[] = []
  for (const row of rows) {
    if (isOver()) await nextSlice()
    shown.push(show(row))
  }
  return shown
}

function sizeOfPart(charactersOfOne: number): number {
  return Math.max(1, Math.min(MAX_IN_PART, Math.floor(PART_CHARACTERS / charactersOfOne)))
}

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
export const PIECE_CHARACTERS = 64 * 1024

/** Encodes a text in pieces if it is long, because encoding it blocks the event loop too. */
export async function encodeInSlices(text: string): Promise<Buffer[]> {
  const pieces: Buffer[] = []
  for (const piece of piecesOf(text, PIECE_CHARACTERS)) {
    if (isOver()) await nextSlice()
    pieces.push(Buffer.from(piece))
  }
  return pieces
}

/** How a list is written. */
export type Written<Item> = {
  start: string
  write(item: Item): string
  separator: string
  end: string
}

/** Writes and encodes a list in pieces. */
export async function writeInSlices<Item>(
  items: Item[],
  { start, write, separator, end }: Written<Item>,
): Promise<Buffer[]> {
  const pieces: Buffer[] = []
  let text = start
  for (const [i, item] of items.entries()) {
    if (isOver()) await nextSlice()
    text += i === 0 ? write(item) : separator + write(item)
    if (text.length <= PIECE_CHARACTERS) continue
    pieces.push(...(await encodeInSlices(text)))
    text = ''
  }
  pieces.push(Buffer.from(text + end))
  return pieces
}
