import { execFileSync } from 'node:child_process'
import { cpSync, globSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { manifestOf, readManifest, sourcesAt, writeManifest } from '../package.ts'

const ROOT = join(import.meta.dirname, '../..')
const FOLDER = 'packages/client'
const CLIENT = join(ROOT, FOLDER)

/** For `require`. The sources are written as modules. */
const AS_COMMONJS = ['--module', 'commonjs', '--moduleResolution', 'bundler']

/**
 * Compiles the client where it is, or makes the package in another folder. The package gets its
 * version here, and has none where its sources are: npm refuses to pack those where scripts are
 * turned off (.npmrc), because `prepack` would not run and the package would be empty.
 */
export function buildClient(folder = CLIENT): void {
  const dist = join(folder, 'dist')
  rmSync(dist, { recursive: true, force: true })
  compile(join(dist, 'esm'))
  compile(join(dist, 'cjs'), [...AS_COMMONJS, '--verbatimModuleSyntax', 'false'])
  writeFileSync(join(dist, 'cjs/package.json'), '{ "type": "commonjs" }\n')
  // They have types only.
  for (const path of globSync(join(dist, '*/generated/api-*.js*'))) rmSync(path)
  // The compiler leaves .ts in declarations, which only new compilers of users understand.
  for (const path of globSync(join(dist, '**/*.{js,ts}'))) {
    const text = readFileSync(path, 'utf8')
    writeFileSync(path, text.replace(/((?:from |import\()'\.[^']*)\.ts'/g, "$1.js'"))
  }
  if (folder === CLIENT) return
  for (const name of ['README.md', 'LICENSE']) cpSync(join(CLIENT, name), join(folder, name))
  const { scripts: _scripts, devDependencies: _programs, ...manifest } = readManifest(FOLDER)
  writeManifest(folder, { ...manifest, ...manifestOf(FOLDER) })
}

/** The maps have the sources in them, which are not in the package, under their address. */
function compile(folder: string, more: string[] = []): void {
  const tsc = join(ROOT, 'node_modules/typescript/bin/tsc')
  const { version } = readManifest('.')
  const maps = ['--sourceMap', '--inlineSources', '--sourceRoot', sourcesAt(version, FOLDER)]
  const args = [tsc, '-p', CLIENT, '--outDir', folder, ...maps, ...more]
  execFileSync(process.execPath, args, { stdio: 'inherit' })
}

/** Makes the package in a folder, ready for `npm pack`. */
export const build = async (folder: string): Promise<void> => buildClient(folder)

/** Makes a file of the client that npm can install. */
export function packClient(destination: string): void {
  const folder = mkdtempSync(join(tmpdir(), 'vintem-client-'))
  buildClient(folder)
  const args = ['pack', '--silent', '--pack-destination', destination]
  execFileSync('npm', args, { cwd: folder, stdio: 'inherit' })
  rmSync(folder, { recursive: true })
}

if (import.meta.main) {
  if (process.argv.includes('--pack')) packClient(process.env.INIT_CWD ?? process.cwd())
  else buildClient()
}
