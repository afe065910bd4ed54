import { cpSync } from 'node:fs'
import { join } from 'node:path'
import { buildPlugin, ROOT } from '../package.ts'

const FOLDER = 'packages/vendure-plugin-vintem'

/** Writes the package `vendure-plugin-vintem` into a folder. Its test checks its types. */
export async function build(folder: string): Promise<void> {
  await buildPlugin(folder, FOLDER, ['index.ts'], '.')
  cpSync(join(ROOT, FOLDER, 'index.d.ts'), join(folder, 'index.d.ts'))
}

if (import.meta.main) await build(process.argv[2]!)
