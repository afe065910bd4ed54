import { execFileSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { VERSIONS, type Version } from '../../src/versions/history.ts'
import { typesDocument } from './document.ts'
import { clientSources, FOLDER } from './files.ts'
import { operationTypes, resourcesFile } from './resources.ts'
import { seal } from './sealed.ts'

/** Writes the generated files of the client. `npm test` fails if they are not what the code says. */
const root = join(import.meta.dirname, '../..')
const generator = join(root, 'packages/client/node_modules/@hey-api/openapi-ts/bin/run.js')
const biome = join(root, 'node_modules/@biomejs/biome/bin/biome')
const folder = mkdtempSync(join(tmpdir(), 'vintem-client-'))
try {
  const bodies = new Map([[`${FOLDER}/resources.ts`, resourcesFile()]])
  for (const version of VERSIONS) bodies.set(`${FOLDER}/api-${version.name}.ts`, typesOf(version))
  mkdirSync(join(root, FOLDER), { recursive: true })
  for (const { path, source } of clientSources()) {
    writeFileSync(join(root, path), seal(source, format(bodies.get(path)!)))
    console.log(`wrote ${path}`)
  }
} finally {
  rmSync(folder, { recursive: true, force: true })
}

function typesOf(version: Version): string {
  const [input, output] = [join(folder, `${version.name}.json`), join(folder, version.name)]
  writeFileSync(input, JSON.stringify(typesDocument(version)))
  const args = ['-i', input, '-o', output, '-p', '@hey-api/typescript']
  execFileSync(process.execPath, [generator, ...args], { cwd: folder, stdio: 'pipe' })
  return readFileSync(join(output, 'types.gen.ts'), 'utf8') + operationTypes()
}

/** Under a name that is not generated, because biome leaves those as they are. */
function format(text: string): string {
  const args = [biome, 'format', '--stdin-file-path=packages/client/src/any.ts']
  return execFileSync(process.execPath, args, { cwd: root, input: text, encoding: 'utf8' })
}
