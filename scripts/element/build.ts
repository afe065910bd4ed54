import { cpSync } from 'node:fs'
import { join } from 'node:path'
import { manifestOf, ROOT, readManifest, writeManifest } from '../package.ts'

const FOLDER = 'packages/element'

/** Writes the package `@vintem/element` into a folder: the file that the service gives too. */
export async function build(folder: string): Promise<void> {
  cpSync(join(ROOT, 'web/element.js'), join(folder, 'element.js'))
  for (const name of ['element.d.ts', 'react.d.ts', 'README.md'])
    cpSync(join(ROOT, FOLDER, name), join(folder, name))
  cpSync(join(ROOT, 'LICENSE'), join(folder, 'LICENSE'))
  writeManifest(folder, { ...readManifest(FOLDER), ...manifestOf(FOLDER) })
}

if (import.meta.main) await build(process.argv[2]!)
