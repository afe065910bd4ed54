import { setImmediate as whenFree } from 'node:timers'
import { setImmediate } from 'node:timers/promises'
import { LONG_PAGE } from './long-pages.ts'
import { spending } from './loop-shares.ts'
import type { Page, Part } from './page.ts'

/** How long one request works before it lets others go on. */
const SLICE_MS = 2
/** What a page may hold, as text. A page that would be larger ends early, and links to the rest. */
const MAX_LETTERS = 8 * 1024 * 1024

/** When requests began to use the event loop since it was free the last time. */
let began_ms: number | null = null

/**
 * Whether the slice that has begun is over. All requests share it: many short ones keep the event
 * loop as one long one does. If it is not over, work has to begin without waiting for anything.
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

/** Waits until others have been served, and until the company may use another slice. */
export async function nextSlice(): Promise<void> {
  await spending.getStore()?.take(SLICE_MS)
  while (isOver()) await setImmediate()
}

/** How many records are read first, while nobody knows how large they are. */
const FIRST_PART = 10
const MAX_IN_PART = 50
/** What the other parts are to have, as text. */
const PART_LETTERS = 512 * 1024
/** What it takes to read a record from the database's answer. */
const RECORD_MS = 0.02
/** Few large records make a long page too. */
const LONG_PAGE_LETTERS = 1024 * 1024

/**
 * Reads the records of a page in parts and shows them in slices, so that others are served
 * meanwhile and no more is read than the page can hold.
 */
export async function readPage<Cursor, Row, View>(
  page: Page<Cursor, NoInfer<Row>>,
  read: (part: Part<Cursor>) => Promise<Row[]>,
  show: (row: Row) => View,
): Promise<View[]> {
  const shown: View[] = []
  let { after } = page
  let [letters, part] = [0, FIRST_PART]
  let last: Row | undefined
  for (;;) {
    // One record more than the page has room for says whether there is a next page.
    const limit = Math.min(part, page.limit - shown.length + 1)
    if (shown.length + limit > LONG_PAGE + 1 || letters > LONG_PAGE_LETTERS) await page.long.begin()
    await spending.getStore()?.take(limit * RECORD_MS)
    const rows = await read({ limit, after })
    for (const row of rows) {
      const isFull = shown.length === page.limit || letters > MAX_LETTERS
      if (last && isFull) {
        page.linkAfter(last)
        return shown
      }
      last = row
      if (isOver()) await nextSlice()
      const view = show(row)
      shown.push(view)
      letters += lettersOf(view)
    }
    if (!last || rows.length < limit) return shown
    after = page.cursorOf(last)
    part = sizeOfPart(letters / shown.length)
  }
}

function sizeOfPart(lettersOfOne: number): number {
  return Math.max(1, Math.min(MAX_IN_PART, Math.floor(PART_LETTERS / lettersOfOne)))
}

/** Roughly how long something is as JSON. */
function lettersOf(value: unknown): number {
  if (typeof value === 'string') return value.length + 2
  if (typeof value !== 'object' || value === null) return 8
  let letters = 2
  for (const [name, child] of Object.entries(value)) letters += name.length + 4 + lettersOf(child)
  return letters
}

/** How long a piece is, as text, that is made into bytes at once. */
const PIECE_LETTERS = 64 * 1024

/** How a list is written. */
export type Written<Item> = {
  start: string
  write(item: Item): string
  separator: string
  end: string
}

/** A list as bytes, in pieces: to encode a long text takes long too. */
export async function writeInSlices<Item>(
  items: Item[],
  { start, write, separator, end }: Written<Item>,
): Promise<Buffer[]> {
  const pieces: Buffer[] = []
  let text = start
  for (const [i, item] of items.entries()) {
    if (isOver()) await nextSlice()
    text += i === 0 ? write(item) : separator + write(item)
    if (text.length > PIECE_LETTERS) {
      pieces.push(Buffer.from(text))
      text = ''
    }
  }
  pieces.push(Buffer.from(text + end))
  return pieces
}
