import { cpSync, mkdirSync, writeFileSync } from 'node:fs'
import { dirname, join, relative } from 'node:path'
import { build as compile } from 'esbuild'
import { manifestOf, readManifest, writeManifest } from '../package.ts'

const ROOT = join(import.meta.dirname, '../..')
const FOLDER = 'packages/medusa-payment-vintem'

/** Where Medusa looks for what a plugin brings. */
const SERVER = '.medusa/server/src'

/** Writes the package `medusa-payment-vintem` into a folder. Its test checks its types. */
export async function build(folder: string): Promise<void> {
  const { outputFiles } = await compile({
    absWorkingDir: join(ROOT, FOLDER, 'src'),
    entryPoints: ['index.ts', 'jobs/pull-vintem-payments.ts'],
    // Nothing is written there: the maps name the sources as seen from it.
    outdir: join(ROOT, FOLDER, SERVER),
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
    const target = join(folder, relative(join(ROOT, FOLDER), path))
    mkdirSync(dirname(target), { recursive: true })
    writeFileSync(target, contents)
  }
  cpSync(join(ROOT, FOLDER, 'README.md'), join(folder, 'README.md'))
  cpSync(join(ROOT, 'LICENSE'), join(folder, 'LICENSE'))
  const dependencies = { '@vintem/client': readManifest('.').version }
  writeManifest(folder, { ...readManifest(FOLDER), ...manifestOf(FOLDER), dependencies })
}

if (import.meta.main) await build(process.argv[2]!)
