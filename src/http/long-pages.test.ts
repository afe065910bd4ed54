import assert from 'node:assert/strict'
import { test } from 'node:test'
import { longPageOf } from './long-pages.ts'

/** Begins a long page, and shows whether it has begun. */
function begin(companyId: string) {
  const page = longPageOf(companyId)
  const state = { hasBegun: false, begun: page.begin(), end: () => page.end() }
  state.begun.then(() => {
    state.hasBegun = true
  })
  return state
}

const settled = () => new Promise((resolve) => setImmediate(resolve))

test('a company has one long page at a time, and two companies have one each', async () => {
  const [first, second, other, third] = ['a', 'a', 'b', 'c'].map(begin)
  await settled()
  const begun = () => [first, second, other, third].map((page) => page!.hasBegun)
  assert.deepEqual(begun(), [true, false, true, false])
  other!.end()
  await settled()
  assert.deepEqual(begun(), [true, false, true, true])
  first!.end()
  await settled()
  assert.deepEqual(begun(), [true, true, true, true])
  for (const page of [second, third]) page!.end()
})

test('a page that becomes longer keeps its slot, and gives back one', async () => {
  const page = longPageOf('a')
  await page.begin()
  await page.begin()
  page.end()
  page.end()
  const next = begin('a')
  await settled()
  assert.ok(next.hasBegun)
  const more = begin('a')
  await settled()
  assert.ok(!more.hasBegun)
  next.end()
  await more.begun
  more.end()
})

test('a page that never was long has no slot to give back', async () => {
  longPageOf('a').end()
  const pages = ['a', 'b', 'c'].map(begin)
  await settled()
  assert.deepEqual(
    pages.map(({ hasBegun }) => hasBegun),
    [true, true, false],
  )
  for (const page of pages.slice(0, 2)) page.end()
  await pages[2]!.begun
  pages[2]!.end()
})
