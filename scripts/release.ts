import { execFileSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { globSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, dirname, join } from 'node:path'
import { parseArgs } from 'node:util'

const ROOT = join(import.meta.dirname, '..')
const read = (path: string) => readFileSync(join(ROOT, path), 'utf8')

/** The version of all packages. */
export const VERSION: string = JSON.parse(read('package.json')).version

/** The packages: each folder of `scripts/` that has a `build.ts`. */
export const PACKAGES = globSync('scripts/*/build.ts', { cwd: ROOT })
  .map((path) => basename(dirname(path)))
  .sort()

/** A file that npm can install, and what it takes. */
export type Packed = {
  name: string
  version: string
  file: string
  /** Its own bytes, and those of all files in it. */
  size: number
  unpackedSize: number
  entryCount: number
}

/** Builds a package and packs it. The same sources give the same bytes. */
export async function packInto(folder: string, name: string): Promise<Packed> {
  const { build } = await import(join(ROOT, 'scripts', name, 'build.ts'))
  if (!build) throw new Error(`scripts/${name}/build.ts does not export build(folder)`)
  const built = mkdtempSync(join(tmpdir(), 'vintem-package-'))
  await build(built)
  const args = ['pack', '--json', '--ignore-scripts', '--pack-destination', folder]
  const answer = JSON.parse(execFileSync('npm', args, { cwd: built, encoding: 'utf8' }))
  rmSync(built, { recursive: true })
  // npm 12 gives an object with the name of each package, older ones a list.
  const [packed] = Object.values(answer) as (Packed & { filename: string })[]
  const { version, filename, size, unpackedSize, entryCount } = packed!
  if (version !== VERSION) throw new Error(`${packed!.name} has version ${version}, not ${VERSION}`)
  return { name: packed!.name, version, file: filename, size, unpackedSize, entryCount }
}

/** The part of CHANGELOG.md about a version, or about what is not released yet. */
export function changesOf(version: string, changelog = read('CHANGELOG.md')): string | null {
  const [, ...parts] = changelog.split(/^## /m)
  const part = parts.find((text) => text.split('\n')[0]!.split(' ')[0] === version)
  return part === undefined ? null : `## ${part.trim()}\n`
}

/** What runs and what builds, as `npm run sbom` lists it, without what differs in each run. */
function billOfMaterials(): string {
  const [, ...args] = JSON.parse(read('package.json')).scripts.sbom.split(' ')
  const bill = JSON.parse(
    execFileSync('npm', args, { cwd: ROOT, encoding: 'utf8', maxBuffer: 1e8 }),
  )
  const { serialNumber: _number, metadata, ...rest } = bill
  const { timestamp: _timestamp, tools: _tools, ...about } = metadata
  return `${JSON.stringify({ ...rest, metadata: about }, null, 2)}\n`
}

/** If a tag is released, it must name this version, and the changelog must have a part about it. */
function requireTag(tag: string): void {
  if (tag !== `v${VERSION}`)
    throw new Error(`The tag ${tag} is not v${VERSION}, the version of package.json.`)
  if (changesOf(VERSION) === null)
    throw new Error(`CHANGELOG.md has no part "## ${VERSION}". Rename "## Unreleased".`)
}

/** Makes all packages with their sums, bill of materials and changes in a folder. */
export async function release(folder: string, names = PACKAGES): Promise<Packed[]> {
  rmSync(folder, { recursive: true, force: true })
  mkdirSync(folder, { recursive: true })
  const packed: Packed[] = []
  for (const name of names) packed.push(await packInto(folder, name))
  writeFileSync(join(folder, `vintem-${VERSION}.cdx.json`), billOfMaterials())
  writeFileSync(join(folder, 'CHANGES.md'), changesOf(VERSION) ?? changesOf('Unreleased') ?? '')
  writeFileSync(join(folder, 'SHA256SUMS'), sumsOf(folder))
  return packed
}

/** As `sha256sum --check` reads it. */
function sumsOf(folder: string): string {
  const lines = globSync('*', { cwd: folder })
    .sort()
    .map((name) => {
      const hash = createHash('sha256').update(readFileSync(join(folder, name)))
      return `${hash.digest('hex')}  ${name}\n`
    })
  return lines.join('')
}

const kilobytes = (bytes: number): string => `${(bytes / 1000).toFixed(0)} kB`

function print(packed: Packed[]): void {
  const columns = (texts: string[]) =>
    console.log(texts.map((text, i) => (i ? text.padStart(12) : text.padEnd(34))).join(''))
  columns(['package', 'to download', 'unpacked', 'files'])
  for (const { name, version, size, unpackedSize, entryCount } of packed)
    columns([`${name} ${version}`, kilobytes(size), kilobytes(unpackedSize), entryCount.toString()])
}

if (import.meta.main) {
  const { values, positionals } = parseArgs({
    options: { tag: { type: 'string' } },
    allowPositionals: true,
  })
  const unknown = positionals.filter((name) => !PACKAGES.includes(name))
  if (unknown.length > 0)
    throw new Error(`No packages: ${unknown.join(', ')}. There are ${PACKAGES.join(', ')}.`)
  if (values.tag !== undefined) requireTag(values.tag)
  const folder = join(ROOT, 'release')
  print(await release(folder, positionals.length > 0 ? positionals : PACKAGES))
  console.log(`\nThey are in ${folder}, with SHA256SUMS.`)
}
