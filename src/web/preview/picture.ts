import { setImmediate as endOfTick } from 'node:timers/promises'
import {
  createCanvas,
  drawText,
  encode,
  fillBox,
  widthOf,
} from '../../../packages/images/src/canvas.ts'
import { type Font, readInter } from '../../../packages/images/src/font.ts'
import { inkOn } from '../../lib/contrast.ts'
import { oneLine } from '../../lib/one-line.ts'

export const PICTURE = { width: 1200, height: 630 }

/** The content of a picture. The same parts always give the same bytes. */
export type PictureParts = {
  name: string
  color: string
  caption: string
  /** Text in a box at the top, if it is not real money. */
  mark: string | null
}

const MARGIN = 110
const WIDEST = PICTURE.width - 2 * MARGIN
/** The sizes that are tried for the name, and the most lines of each. */
const SIZES: { size: number; lines: number }[] = [
  { size: 116, lines: 2 },
  { size: 92, lines: 3 },
  { size: 72, lines: 3 },
]
/** More characters do not fit in any size. */
const MAX_CHARACTERS = 120
const LINE = 1.2
/** The height of capitals above the baseline. */
const CAPITAL = 0.73
const CAPTION = { size: 44, baseline: 540 }
const MARK = { size: 32, top: 64, high: 64, side: 32 }

let inter: Font | null = null

/** The picture that a messenger shows with a link: the company's name and a caption. */
export async function drawPicture(parts: PictureParts): Promise<Buffer> {
  inter ??= readInter()
  const font = inter
  const canvas = createCanvas(PICTURE.width, PICTURE.height)
  const centered = async (text: string, size: number, baseline: number) => {
    const left = (PICTURE.width - widthOf(font, text, size)) / 2
    drawText(canvas, font, text, { left, baseline, size })
    // A line takes a few milliseconds, so other requests are served before the next line.
    await endOfTick()
  }
  const { lines, size } = fit(font, readable(font, parts.name) || 'Pix')
  const middle = 318
  const first = middle + (CAPITAL * size) / 2 - ((lines.length - 1) * LINE * size) / 2
  for (const [i, line] of lines.entries()) await centered(line, size, first + i * LINE * size)
  await centered(parts.caption, CAPTION.size, CAPTION.baseline)
  if (parts.mark) {
    const wide = Math.round(widthOf(font, parts.mark, MARK.size)) + 2 * MARK.side
    const left = Math.round((PICTURE.width - wide) / 2)
    fillBox(canvas, { left, top: MARK.top, width: wide, height: MARK.high })
    const baseline = MARK.top + (MARK.high + CAPITAL * MARK.size) / 2
    const position = { left: left + MARK.side, baseline, size: MARK.size, shade: 0 } as const
    drawText(canvas, font, parts.mark, position)
  }
  return encode(canvas, parts.color, inkOn(parts.color))
}

/** Removes accents and characters that the font does not have. */
function readable(font: Font, name: string): string {
  const line = oneLine(name.slice(0, 1000)).normalize('NFC')
  const shown = [...line].slice(0, 4 * MAX_CHARACTERS).map((character) => {
    if (font.glyphOf(character.codePointAt(0)!)) return character
    const [base = ''] = character.normalize('NFKD')
    return base && font.glyphOf(base.codePointAt(0)!) ? base : ' '
  })
  return [...shown.join('').replace(/\s+/g, ' ').trim()].slice(0, MAX_CHARACTERS).join('')
}

function fit(font: Font, text: string): { lines: string[]; size: number } {
  for (const { size, lines: max } of SIZES) {
    const lines = wrap(font, text, size)
    if (lines.length <= max) return { lines, size }
  }
  const { size, lines: max } = SIZES.at(-1)!
  const lines = wrap(font, text, size).slice(0, max)
  return { lines: [...lines.slice(0, -1), cut(font, lines.at(-1)!, size)], size }
}

function wrap(font: Font, text: string, size: number): string[] {
  const lines: string[] = []
  let line = ''
  for (const word of text.split(' ').flatMap((word) => pieces(font, word, size))) {
    const longer = line === '' ? word : `${line} ${word}`
    if (widthOf(font, longer, size) <= WIDEST) line = longer
    else {
      lines.push(line)
      line = word
    }
  }
  return [...lines, line]
}

/** Splits a word that is wider than the picture. */
function pieces(font: Font, word: string, size: number): string[] {
  const found: string[] = []
  let piece = ''
  for (const character of word) {
    if (piece !== '' && widthOf(font, piece + character, size) > WIDEST) {
      found.push(piece)
      piece = ''
    }
    piece += character
  }
  return [...found, piece]
}

function cut(font: Font, line: string, size: number): string {
  const characters = [...line]
  while (widthOf(font, `${characters.join('')}…`, size) > WIDEST) characters.pop()
  return `${characters.join('').trimEnd()}…`
}
