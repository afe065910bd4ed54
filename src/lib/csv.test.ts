import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { readCsv } from './csv.ts'

const cellsOf = (text: string) => readCsv(text).map(({ cells }) => cells)

test('commas, semicolons and tabs separate cells, whichever the first line has most of', () => {
  assert.deepEqual(cellsOf('a;b\r\n1,5;2\r\n'), [
    ['a', 'b'],
    ['1,5', '2'],
  ])
  assert.deepEqual(cellsOf('a,b\n"1,5",2'), [
    ['a', 'b'],
    ['1,5', '2'],
  ])
  assert.deepEqual(cellsOf('a\tb\n1\t2'), [
    ['a', 'b'],
    ['1', '2'],
  ])
})

test('empty lines are left out, and each row has the number of its line', () => {
  const rows = readCsv('a;b\n\n;\n"x\ny";1\nz;2')
  assert.deepEqual(rows, [
    { line: 1, cells: ['a', 'b'] },
    { line: 4, cells: ['x\ny', '1'] },
    { line: 6, cells: ['z', '2'] },
  ])
})

test('what is quoted is read as it was', () => {
  const cell = fc.string().map((text) => `x${text.replaceAll('\0', '')}`)
  const rows = fc.array(fc.array(cell, { minLength: 3, maxLength: 3 }), { minLength: 1 })
  fc.assert(
    fc.property(rows, (written) => {
      const line = (cells: string[]) =>
        cells.map((one) => `"${one.replaceAll('"', '""')}"`).join(';')
      // The first line decides about the separator.
      const text = ['"a";"b";"c"', ...written.map(line)].join('\r\n')
      assert.deepEqual(cellsOf(text), [['a', 'b', 'c'], ...written])
    }),
  )
})
