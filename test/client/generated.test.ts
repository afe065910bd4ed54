import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { clientSources } from '../../scripts/client/files.ts'
import { sealFault } from '../../scripts/client/sealed.ts'

const ROOT = join(import.meta.dirname, '../..')

for (const { path, source } of clientSources()) {
  test(`${path} says what the code says (npm run client:types)`, () => {
    assert.equal(sealFault(source, readFileSync(join(ROOT, path), 'utf8')), null)
  })
}
