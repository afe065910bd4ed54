import { mkdirSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { referencePages } from '../src/reference.ts'
import { exampleFile } from './examples.ts'

/** Writes the generated pages. `npm test` fails when they are not what the code says. */
const root = join(import.meta.dirname, '..')
for (const [path, text] of Object.entries({ ...exampleFile(), ...referencePages() })) {
  mkdirSync(dirname(join(root, path)), { recursive: true })
  writeFileSync(join(root, path), text)
  console.log(`wrote ${path}`)
}
