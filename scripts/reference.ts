import { mkdirSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { referencePages } from '../src/reference.ts'
import { exampleFile } from './examples.ts'
import { nodeFiles } from './n8n/operations.ts'
import { architecturePage } from './noun-graph.ts'
import { readNewSchema, schemaPage } from './schema.ts'

/** Writes the generated pages. `npm test` fails when they are not what the code says. */
const root = join(import.meta.dirname, '..')
const pages = {
  ...exampleFile(),
  ...referencePages(),
  ...architecturePage(),
  ...nodeFiles(),
  ...schemaPage(await readNewSchema()),
}
for (const [path, text] of Object.entries(pages)) {
  mkdirSync(dirname(join(root, path)), { recursive: true })
  writeFileSync(join(root, path), text)
  console.log(`wrote ${path}`)
}
