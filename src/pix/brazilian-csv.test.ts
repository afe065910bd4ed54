import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { type Cell, type Column, csvWriter, PLAIN } from '../lib/csv.ts'
import { BRAZILIAN } from './brazilian-csv.ts'

/** A reader of its own, after the grammar of RFC 4180: records of fields, quoted or not. */
function read(text: string, separator: string): string[][] {
  const records: string[][] = [[]]
  const token = new RegExp(`(?:"((?:[^"]|"")*)"|([^"\r\n${separator}]*))(${separator}|\r\n)`, 'y')
  while (token.lastIndex < text.length) {
    const found = token.exec(text)
    assert.ok(found, `not CSV: ${JSON.stringify(text)}`)
    records.at(-1)!.push(found[1]?.replaceAll('""', '"') ?? found[2]!)
    if (found[3] === '\r\n') records.push([])
  }
  return records.slice(0, -1)
}

const columns = (count: number): Column<Cell[]>[] =>
  Array.from({ length: count }, (_, i) => ({
    name: `n${i}`,
    title: `T${i}`,
    of: (cells) => cells[i]!,
  }))

const line = (cells: Cell[], dialect = PLAIN) =>
  csvWriter(columns(cells.length), dialect).line(cells)

const WHEN = new Date('2026-08-21T02:59:58.007Z')

test('each kind of cell is written as its reader expects it', () => {
  const cells = ['Pão', 7, -7, true, false, WHEN, { cents: 123_456 }, { cents: 5 }, null]
  assert.equal(line(cells), 'Pão,7,-7,true,false,2026-08-21T02:59:58.007Z,123456,5,\r\n')
  assert.equal(
    line(cells, BRAZILIAN),
    'Pão;7;-7;sim;não;20/08/2026 23:59:58;1234,56;0,05;\r\n',
    'the day is that of São Paulo',
  )
})

test('people read words for codes and a minus before what leaves, programs read neither', () => {
  const cells = [
    { code: 'PAID', word: 'Pago; já' },
    { code: 'X', word: '=1+1' },
    { cents: 1990, signed: -1990 },
    { cents: 5, signed: -5 },
    { cents: 0, signed: 0 },
  ]
  assert.equal(line(cells), 'PAID,X,1990,5,0\r\n')
  assert.equal(line(cells, BRAZILIAN), '"Pago; já";\'=1+1;-19,90;-0,05;0,00\r\n')
})

test('the largest amount keeps every centavo', () => {
  const cents = Number.MAX_SAFE_INTEGER
  assert.equal(line([{ cents }], BRAZILIAN), '90071992547409,91\r\n')
  assert.equal(line([{ cents: 0 }], BRAZILIAN), '0,00\r\n')
})

test('programs read names, people read titles in a file that says it is UTF-8', () => {
  assert.equal(csvWriter(columns(2), PLAIN).heading, 'n0,n1\r\n')
  assert.equal(csvWriter(columns(2), BRAZILIAN).heading, '\uFEFFT0;T1\r\n')
})

test('text that starts like a formula is kept from being one; numbers are left alone', () => {
  const armed = [
    '=1+1',
    '+1',
    '-1',
    '@A1',
    '\t=1',
    '\r=1',
    '\n1',
    ' =1',
    '＝1',
    '＋1',
    '－1',
    '＠1',
  ]
  for (const text of armed) assert.deepEqual(read(line([text]), ','), [[`'${text}`]], text)
  for (const text of ['a=1', '1-1', "'=1", 'x@y', '']) assert.equal(line([text]), `${text}\r\n`)
})

const text = fc.string({ unit: fc.constantFrom(...'ab,;"\r\n\t =+-@é') })

test('whatever the text, a reader gets it back, an apostrophe before what looks like a formula', () => {
  const table = fc.array(fc.array(text, { minLength: 3, maxLength: 3 }))
  fc.assert(
    fc.property(table, fc.constantFrom(PLAIN, BRAZILIAN), (rows, dialect) => {
      const file = rows.map((cells) => line(cells, dialect)).join('')
      const found = read(file, dialect.separator)
      assert.equal(found.length, rows.length)
      for (const [i, cells] of found.entries()) {
        for (const [j, cell] of cells.entries()) {
          assert.ok(!/^[=+\-@\t\r\n]/.test(cell), JSON.stringify(cell))
          assert.ok([rows[i]![j], `'${rows[i]![j]}`].includes(cell), JSON.stringify(cell))
        }
      }
    }),
  )
})
