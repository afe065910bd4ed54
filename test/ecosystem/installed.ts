import { spawnSync } from 'node:child_process'
import { copyFileSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

const ROOT = join(import.meta.dirname, '..', '..')
const FILES = ['package.json', 'package-lock.json'] as const
const MINUTES = 20

export type Installed = { folder: string; missing: false } | { folder: string; missing: string }

/**
 * Installs the programs that `test/ecosystem/<name>/package-lock.json` lists, unless they are there
 * from a run before. `missing` is the reason for which a test is skipped if that is impossible.
 */
export function install(name: string): Installed {
  const folder = join(ROOT, 'node_modules/.cache/ecosystem', name)
  const read = (file: string) => readFileSync(join(import.meta.dirname, name, file), 'utf8')
  const wanted = FILES.map(read).join('')
  // It is written last, so what was interrupted does not count as installed.
  const done = join(folder, '.installed')
  if (existsSync(done) && readFileSync(done, 'utf8') === wanted) return { folder, missing: false }
  mkdirSync(folder, { recursive: true })
  for (const file of FILES) {
    copyFileSync(join(import.meta.dirname, name, file), join(folder, file))
  }
  // Not `npm ci`: it refuses a lock file without the optional packages of other systems.
  const { status, stderr } = spawnSync(
    'npm',
    ['install', '--ignore-scripts', '--no-audit', '--no-fund', '--loglevel=error'],
    { cwd: folder, encoding: 'utf8', timeout: MINUTES * 60_000 },
  )
  if (status !== 0) return { folder, missing: `npm cannot install ${name}: ${stderr.trim()}` }
  writeFileSync(done, wanted)
  return { folder, missing: false }
}
