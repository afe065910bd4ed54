import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { exampleFile } from '../scripts/examples.ts'
import { nodeFiles } from '../scripts/n8n/operations.ts'
import { architecturePage } from '../scripts/noun-graph.ts'
import { readSchema, schemaPage } from '../scripts/schema.ts'
import { migrate } from '../src/db/migrate.ts'
import { referencePages } from '../src/reference.ts'
import { emptyDatabase } from './support/database.ts'

const url = await emptyDatabase()
await migrate(url)
const schema = await readSchema(url)
const pages = {
  ...exampleFile(),
  ...referencePages(),
  ...architecturePage(),
  ...nodeFiles(),
  ...schemaPage(schema),
}

for (const [path, text] of Object.entries(pages)) {
  test(`${path} says what the code says (npm run docs)`, () => {
    assert.equal(readFileSync(join(import.meta.dirname, '..', path), 'utf8'), text)
  })
}

test('every table says what it holds (comment on table)', () => {
  const silent = schema.tables.filter(({ comment, isPart }) => !isPart && !comment)
  assert.deepEqual(
    silent.map(({ name }) => name),
    [],
  )
})
