import { basename, join } from 'node:path'
import { build } from '../../scripts/vintem/build.ts'

/** The package as it is published, which starts sooner than the sources do. */
export type Bundle = {
  /** What is run in place of a script of the sources, and with which words before its options. */
  commandOf(script: string): string[]
  /** Where Node keeps what it has compiled of it. */
  compiled: string
}

const SERVER = 'src/main.ts'
const WORKER = 'test/deliveries/worker-process.ts'
const nameOf = (script: string): string => basename(script, '.ts')

/** Builds it into a folder, together with the worker of tests. */
export async function buildBundle(folder: string): Promise<Bundle> {
  await build(folder, [{ entry: WORKER, name: nameOf(WORKER) }])
  const commands = new Map([
    [SERVER, [join(folder, 'bin/vintem.mjs'), 'start']],
    [WORKER, [join(folder, 'dist', `${nameOf(WORKER)}.js`)]],
  ])
  return { commandOf: (script) => commands.get(script)!, compiled: join(folder, '.compiled') }
}
