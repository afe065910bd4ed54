import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createLog } from '../lib/log.ts'
import type { Outcome } from '../provider/port.ts'
import { carryOut } from './orders.ts'

const log = createLog('silent')
const DONE: Outcome<string> = { kind: 'accepted', value: 'E1' }
const REFUSED: Outcome<string> = { kind: 'rejected', reason: 'no such key' }
const SILENT: Outcome<string> = { kind: 'unknown', reason: 'no answer' }
const NEVER_GOT: Outcome<null> = { kind: 'accepted', value: null }
const CUT: Outcome<string> = { kind: 'unknown', reason: 'the bank could not be spoken to' }
const cut = () => Promise.reject(new Error('socket hang up'))

/** What becomes of an order, and what was said to the bank for it. */
async function outcomeOf(
  orderedBefore: boolean,
  find: () => Promise<Outcome<string | null>>,
  order: () => Promise<Outcome<string>>,
) {
  const said: string[] = []
  const saying = <T>(word: string, act: () => T) => {
    return () => {
      said.push(word)
      return act()
    }
  }
  const talk = { find: saying('find', find), order: saying('order', order) }
  return [await carryOut({ log, orderedBefore, ...talk }), said.join(', ')]
}

test('a first order is given without asking, and its outcome is the bank’s', async () => {
  for (const outcome of [DONE, REFUSED, SILENT]) {
    assert.deepEqual(await outcomeOf(false, cut, async () => outcome), [outcome, 'order'])
  }
})

test('what may have been ordered before is asked about, and ordered again only if it never came', async () => {
  for (const outcome of [DONE, REFUSED, SILENT]) {
    assert.deepEqual(await outcomeOf(true, async () => outcome, cut), [outcome, 'find'])
    const again = await outcomeOf(
      true,
      async () => NEVER_GOT,
      async () => outcome,
    )
    assert.deepEqual(again, [outcome, 'find, order'])
  }
})

test('a bank that cannot be spoken to has said nothing: neither yes nor no', async () => {
  assert.deepEqual(await outcomeOf(false, cut, cut), [CUT, 'order'])
  assert.deepEqual(await outcomeOf(true, cut, cut), [CUT, 'find'])
  assert.deepEqual(await outcomeOf(true, async () => NEVER_GOT, cut), [CUT, 'find, order'])
})
