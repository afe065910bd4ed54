import assert from 'node:assert/strict'
import { test } from 'node:test'
import { inflateSync } from 'node:zlib'
import fc from 'fast-check'
import { inkOn } from '../../lib/contrast.ts'
import { drawPicture, PICTURE, type PictureParts } from './picture.ts'

const parts = (fields: Partial<PictureParts> = {}): PictureParts => ({
  name: 'Padaria São João',
  color: '#0f766e',
  caption: 'Pagamento via Pix',
  mark: null,
  ...fields,
})

type Picture = { size: number[]; colors: Set<string>; inkOf(from: number, to: number): number }

/** The picture as its pixels, read back with what reads any PNG: chunks, zlib, a palette. */
function read(png: Buffer): Picture {
  assert.equal(png.toString('hex', 0, 8), '89504e470d0a1a0a')
  const chunks = new Map<string, Buffer>()
  for (let at = 8; at < png.length; at += 12 + png.readUInt32BE(at)) {
    const size = png.readUInt32BE(at)
    chunks.set(png.toString('latin1', at + 4, at + 8), png.subarray(at + 8, at + 8 + size))
  }
  const header = chunks.get('IHDR')!
  const [width, height] = [header.readUInt32BE(0), header.readUInt32BE(4)]
  const lines = inflateSync(chunks.get('IDAT')!)
  assert.equal(lines.length, (width + 1) * height)
  const palette = chunks.get('PLTE')!
  const colorOf = (i: number) => `#${palette.toString('hex', i * 3, i * 3 + 3)}`
  const pixels = (y: number) => lines.subarray(y * (width + 1) + 1, (y + 1) * (width + 1))
  return {
    size: [width, height],
    colors: new Set([...new Set(lines)].map(colorOf)),
    inkOf(from, to) {
      let sum = 0
      for (let y = from; y < to; y++) for (const ink of pixels(y)) sum += ink / 255
      return sum
    },
  }
}

test('a picture has the size that messengers ask for, the company’s color, and its name', async () => {
  const png = await drawPicture(parts())
  const { size, colors, inkOf } = read(png)
  assert.deepEqual(size, [PICTURE.width, PICTURE.height])
  assert.ok(png.length < 100_000, `${png.length} bytes`)
  assert.ok(colors.has('#0f766e') && colors.has(inkOn('#0f766e')))
  assert.ok(inkOf(200, 440) > 5_000, 'the name')
  assert.ok(inkOf(490, 560) > 1_000, 'what it is for')
  assert.equal(inkOf(0, 150), 0, 'no mark')
  const { inkOf: marked } = read(await drawPicture(parts({ mark: 'AMBIENTE DE TESTES' })))
  assert.ok(marked(0, 150) > 10_000)
})

test('the same parts make the same picture, others another', async () => {
  const first = await drawPicture(parts())
  assert.ok(first.equals(await drawPicture(parts())))
  for (const other of [{ name: 'Padaria Sao João' }, { color: '#0f766f' }, { mark: 'TESTE' }]) {
    assert.ok(!first.equals(await drawPicture(parts(other))), JSON.stringify(other))
  }
})

test('a character that the font lacks is left out, an accent it lacks is dropped', async () => {
  const same = async (one: string, other: string) =>
    (await drawPicture(parts({ name: one }))).equals(await drawPicture(parts({ name: other })))
  assert.ok(await same('Café 🍞 Açaí', 'Café Açaí'))
  assert.ok(await same('Cafe\u0301', 'Café'))
  assert.ok(await same('Škoda', 'Skoda'))
  assert.ok(await same('日本🍞', ''), 'a name of nothing else')
  assert.ok(read(await drawPicture(parts({ name: '日本🍞' }))).inkOf(200, 440) > 1_000)
})

test('any name in any color makes a small picture that stays inside its margins', async () => {
  const name = fc.oneof(
    fc.string({ unit: 'binary', maxLength: 255 }),
    fc.string({ unit: 'grapheme', maxLength: 255 }),
    fc.constantFrom('W'.repeat(255), 'i'.repeat(255), 'W '.repeat(127), '\ud800', '\u202e', ' '),
  )
  const color = fc.integer({ min: 0, max: 0xffffff }).map((value) => {
    return `#${value.toString(16).padStart(6, '0')}`
  })
  await fc.assert(
    fc.asyncProperty(name, color, async (name, color) => {
      const png = await drawPicture(parts({ name, color }))
      const { size, inkOf } = read(png)
      assert.deepEqual(size, [PICTURE.width, PICTURE.height])
      assert.ok(png.length < 100_000, `${png.length} bytes`)
      // The smallest name is a full stop.
      assert.ok(inkOf(170, 470) > 20, 'something is written')
      assert.equal(inkOf(0, 120) + inkOf(600, 630), 0)
    }),
    { numRuns: 15 },
  )
})
