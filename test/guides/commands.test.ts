import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { CLIENT_COMMANDS } from '../../src/cli/client/commands.ts'
import { SCENARIOS } from '../../src/cli/client/trigger-run.ts'
import { ROOT } from './samples.ts'

const editionsOf = (page: string) =>
  ['docs', 'docs/pt'].map((folder) => readFileSync(join(ROOT, folder, 'guides', page), 'utf8'))

/** The names in backticks of each cell of the rows whose first cell has nothing else. */
const rowsOf = (text: string): string[][][] =>
  [...text.matchAll(/^\| (`.*) \|$/gm)].map(([, row]) =>
    row!.split(' | ').map((cell) => [...cell.matchAll(/`([^`]+)`/g)].map(([, name]) => name!)),
  )

test('the guide to the command line names every command of a client', () => {
  for (const text of editionsOf('command-line.md')) {
    const named = rowsOf(text).flatMap(([group, followed]) =>
      group!.flatMap((noun) =>
        followed!.length > 0 ? followed!.map((verb) => `${noun} ${verb}`) : [noun],
      ),
    )
    assert.deepEqual(named.sort(), CLIENT_COMMANDS.map(({ name }) => name).sort())
  }
})

test('the guide to trying everything names every event that moves the clock', () => {
  const moving = Object.entries(SCENARIOS).flatMap(([type, { steps }]) =>
    Object.values(steps)
      .flat()
      .some(({ movesClock }) => movesClock)
      ? [type]
      : [],
  )
  for (const text of editionsOf('testing.md')) {
    const [, section] = /^## (?:Time|Tempo)\n([\s\S]*?)^## /m.exec(text)!
    const named = rowsOf(section!).flatMap(([types]) => types!.filter((name) => /\./.test(name)))
    assert.deepEqual(named.sort(), moving.sort())
  }
})
