import { cpSync } from 'node:fs'
import { join } from 'node:path'
import { buildProgram, manifestOf, PROGRAM, readManifest, writeManifest } from '../package.ts'

const ROOT = join(import.meta.dirname, '../..')

/** Writes the package `@vintem/cli` into a folder: the commands of a client, bundled from src/cli. */
export async function build(folder: string): Promise<void> {
  await buildProgram(folder, 'src/cli/client/main.ts')
  cpSync(join(ROOT, 'scripts/cli/README.md'), join(folder, 'README.md'))
  const { exports } = readManifest('.')
  writeManifest(folder, {
    name: '@vintem/cli',
    description: 'The command line of Vintém: charges, events, webhooks, logs and tests of Pix',
    keywords: ['pix', 'vintem', 'payments', 'instant-payments', 'brazil', 'cli', 'webhooks'],
    ...manifestOf('src/cli'),
    ...PROGRAM,
    exports,
    imports: { '#package.json': './package.json' },
  })
}

if (import.meta.main) await build(process.argv[2]!)
