import { execFileSync } from 'node:child_process'
import { cpSync, globSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

const ROOT = join(import.meta.dirname, '../..')
const CLIENT = join(ROOT, 'packages/client')

/** Compiles the client where it is, or makes the package in another folder. */
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
  for (const name of ['package.json', 'README.md', 'LICENSE']) {
    cpSync(join(CLIENT, name), join(folder, name))
  }
}

if (import.meta.main) buildClient()
