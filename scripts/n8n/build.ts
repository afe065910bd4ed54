import { execFileSync, type SpawnSyncReturns, spawnSync } from 'node:child_process'
import { cpSync, existsSync, mkdtempSync, rmSync, symlinkSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { delimiter, join } from 'node:path'
import { manifestOf, readManifest, writeManifest } from '../package.ts'

const ROOT = join(import.meta.dirname, '../..')
const FOLDER = 'packages/n8n-nodes-vintem'
const SOURCES = join(ROOT, FOLDER)
const TOOLS = join(SOURCES, 'node_modules')
const COPIED = ['credentials', 'icons', 'nodes', 'eslint.config.mjs', 'tsconfig.json']

/** Runs a command of n8n's own tool, such as `build` or `lint`, on the package. */
export function runTool(command: string, project: string): SpawnSyncReturns<string> {
  const program = join(TOOLS, '@n8n/node-cli/bin/n8n-node.mjs')
  const PATH = [join(TOOLS, '.bin'), process.env.PATH].join(delimiter)
  return spawnSync(process.execPath, [program, command], {
    cwd: project,
    env: { ...process.env, PATH },
    encoding: 'utf8',
  })
}

/** Its sources are modules, but n8n loads CommonJS, which the tool makes of them. */
function manifestOfPackage(): Record<string, unknown> {
  const { type: _type, ...manifest } = readManifest(FOLDER)
  return { ...manifest, ...manifestOf(FOLDER) }
}

/** The package as its tool expects it: sources with a whole package.json, and the tool. */
export function makeProject(): string {
  if (!existsSync(join(TOOLS, '.package-lock.json')))
    execFileSync('npm', ['ci', '--loglevel=error'], { cwd: SOURCES, stdio: 'inherit' })
  const project = mkdtempSync(join(tmpdir(), 'vintem-n8n-'))
  for (const name of COPIED) cpSync(join(SOURCES, name), join(project, name), { recursive: true })
  for (const name of ['README.md', 'LICENSE']) cpSync(join(SOURCES, name), join(project, name))
  writeManifest(project, manifestOfPackage())
  symlinkSync(TOOLS, join(project, 'node_modules'))
  return project
}

/** Writes the package `n8n-nodes-vintem` into a folder, built by n8n's tool. */
export async function build(folder: string): Promise<void> {
  const project = makeProject()
  const { status, stdout, stderr } = runTool('build', project)
  if (status !== 0) throw new Error(`n8n-node build: ${stdout}${stderr}`)
  for (const name of ['dist', 'README.md', 'LICENSE'])
    cpSync(join(project, name), join(folder, name), { recursive: true })
  const { devDependencies: _programs, ...manifest } = manifestOfPackage()
  writeManifest(folder, manifest)
  rmSync(project, { recursive: true })
}

if (import.meta.main) await build(process.argv[2]!)
