import { setImmediate } from 'node:timers/promises'

/** How long one request works before it lets others go on. */
const SLICE_MS = 8
/** What a page may hold, as text. A page that would be larger ends early, and links to the rest. */
const MOST_LETTERS = 8 * 1024 * 1024

/** Waits, if the slice that has begun is over, until others have had their turn. */
function createSlices(): { isOver(): boolean; next(): Promise<void> } {
  let start = performance.now()
  return {
    isOver: () => performance.now() - start > SLICE_MS,
    async next() {
      await setImmediate()
      start = performance.now()
    },
  }
}

/** Shows the records of a page in slices. `endAfter` is told if not all of them fit into it. */
export async function showPage<Row, View>(
  rows: Row[],
  show: (row: Row) => View,
  endAfter: (row: Row) => void,
): Promise<View[]> {
  const slices = createSlices()
  const shown: View[] = []
  let letters = 0
  for (const [i, row] of rows.entries()) {
    const view = show(row)
    shown.push(view)
    letters += lettersOf(view)
    if (letters > MOST_LETTERS && i < rows.length - 1) {
      endAfter(row)
      break
    }
    if (slices.isOver()) await slices.next()
  }
  return shown
}

/** Roughly how long something is as JSON. */
function lettersOf(value: unknown): number {
  if (typeof value === 'string') return value.length + 2
  if (typeof value !== 'object' || value === null) return 8
  let letters = 2
  for (const [name, child] of Object.entries(value)) letters += name.length + 4 + lettersOf(child)
  return letters
}

/** A list as JSON. */
export async function writeInSlices(
  items: unknown[],
  write: (item: unknown) => string,
): Promise<string> {
  const slices = createSlices()
  let text = ''
  for (const item of items) {
    text += text === '' ? write(item) : `,${write(item)}`
    if (slices.isOver()) await slices.next()
  }
  return `[${text}]`
}
