import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { exampleFile } from '../scripts/examples.ts'
import { architecturePage } from '../scripts/noun-graph.ts'
import { referencePages } from '../src/reference.ts'

const pages = { ...exampleFile(), ...referencePages(), ...architecturePage() }

for (const [path, text] of Object.entries(pages)) {
  test(`${path} says what the code says (npm run docs)`, () => {
    assert.equal(readFileSync(join(import.meta.dirname, '..', path), 'utf8'), text)
  })
}
