import { execFileSync } from 'node:child_process'
import { cpSync, globSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

const ROOT = join(import.meta.dirname, '../..')
const CLIENT = join(ROOT, 'packages/client')

/**
 * Compiles the client where it is, or makes the package in another folder. The package gets its
 * version here, and has none where its sources are: npm refuses to pack those, because `prepack`
 * would not run (.npmrc) and the package would be empty.
 */
export function buildClient(folder = CLIENT): void {
  const dist = join(folder, 'dist')
  rmSync(dist, { recursive: true, force: true })
  const tsc = join(ROOT, 'node_modules/typescript/bin/tsc')
  execFileSync(process.execPath, [tsc, '-p', CLIENT, '--outDir', dist], { stdio: 'inherit' })
  // The compiler leaves .ts in declarations, which only new compilers of users understand.
  for (const path of globSync(join(dist, '**/*.{js,ts}'))) {
    const text = readFileSync(path, 'utf8')
    writeFileSync(path, text.replace(/((?:from |import\()'\.[^']*)\.ts'/g, "$1.js'"))
  }
  if (folder === CLIENT) return
  for (const name of ['README.md', 'LICENSE']) cpSync(join(CLIENT, name), join(folder, name))
  const read = (path: string) => JSON.parse(readFileSync(join(ROOT, path), 'utf8'))
  const { version } = read('package.json')
  const manifest = { ...read('packages/client/package.json'), version }
  writeFileSync(join(folder, 'package.json'), JSON.stringify(manifest, null, 2))
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
