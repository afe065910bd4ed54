import { chmodSync, cpSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join, relative } from 'node:path'
import { build } from 'esbuild'
import { bundle, type Entry, licencesOf } from './bundle.ts'

export const ROOT = join(import.meta.dirname, '..')
const REPOSITORY = 'https://github.com/vintem/vintem'

type Manifest = Record<string, unknown> & {
  version: string
  imports: Record<string, string>
  optionalDependencies: Record<string, string>
}

/** The package.json of a folder of the clone. */
export const readManifest = (folder: string): Manifest =>
  JSON.parse(readFileSync(join(ROOT, folder, 'package.json'), 'utf8'))

/** What every package says of itself. `folder` is where its sources are. */
export function manifestOf(folder: string): object {
  const { version, license } = readManifest('.')
  const directory = folder === '.' ? {} : { directory: folder }
  const page = folder === '.' ? `${REPOSITORY}#readme` : `${REPOSITORY}/tree/main/${folder}#readme`
  return {
    version,
    license,
    repository: { type: 'git', url: `git+${REPOSITORY}.git`, ...directory },
    homepage: page,
    bugs: `${REPOSITORY}/issues`,
    publishConfig: { access: 'public', provenance: true },
  }
}

/** The address of the sources of a version, for maps. */
export const sourcesAt = (version: string, folder: string): string =>
  `${REPOSITORY}/blob/v${version}/${folder}/src/`

/** Writes the package.json of a package that is made. */
export const writeManifest = (folder: string, manifest: object): void =>
  writeFileSync(join(folder, 'package.json'), `${JSON.stringify(manifest, null, 2)}\n`)

/** What a package with the command `vintem` has, besides what only one of them needs. */
export const PROGRAM = {
  type: 'module',
  engines: { node: '>=20.19' },
  bin: { vintem: 'bin/vintem.mjs' },
  files: ['bin', 'dist', 'LICENSE', 'THIRD-PARTY-LICENSES.md'],
}

/** Bundles a program, and puts beside it what starts it, and the licences of what is inside. */
export async function buildProgram(
  folder: string,
  main: string,
  { more = [], external = [] }: { more?: Entry[]; external?: string[] } = {},
): Promise<void> {
  const entries = [
    { entry: main, name: 'main' },
    { entry: 'scripts/vintem/node-20.ts', name: 'node-20' },
    ...more,
  ]
  const packages = await bundle(entries, join(folder, 'dist'), { external, minify: true })
  mkdirSync(join(folder, 'bin'), { recursive: true })
  cpSync(join(ROOT, 'scripts/vintem/vintem.mjs'), join(folder, 'bin/vintem.mjs'))
  chmodSync(join(folder, 'bin/vintem.mjs'), 0o755)
  cpSync(join(ROOT, 'LICENSE'), join(folder, 'LICENSE'))
  writeFileSync(join(folder, 'THIRD-PARTY-LICENSES.md'), licencesOf(packages))
}

/** Bundles a plugin of a shop as CommonJS for `server`, a folder of it. What the shop has stays outside. */
export async function buildPlugin(
  folder: string,
  sources: string,
  entryPoints: string[],
  server: string,
): Promise<void> {
  const { outputFiles } = await build({
    absWorkingDir: join(ROOT, sources, 'src'),
    entryPoints,
    // Nothing is written there: the maps name the sources as seen from it.
    outdir: join(ROOT, sources, server),
    write: false,
    bundle: true,
    packages: 'external',
    platform: 'node',
    format: 'cjs',
    target: 'node20',
    sourcemap: 'linked',
    logLevel: 'warning',
  })
  for (const { path, contents } of outputFiles) {
    const target = join(folder, relative(join(ROOT, sources), path))
    mkdirSync(dirname(target), { recursive: true })
    writeFileSync(target, contents)
  }
  cpSync(join(ROOT, sources, 'README.md'), join(folder, 'README.md'))
  cpSync(join(ROOT, 'LICENSE'), join(folder, 'LICENSE'))
  const dependencies = { '@vintem/client': readManifest('.').version }
  const own = { ...readManifest(sources), type: 'commonjs' }
  writeManifest(folder, { ...own, ...manifestOf(sources), dependencies })
}
