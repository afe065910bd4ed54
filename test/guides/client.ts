import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { buildClient } from '../../scripts/client/build.ts'
import { temporaryFolder } from '../support/process.ts'
import { ROOT } from './samples.ts'

const CLIENT = temporaryFolder()
buildClient(CLIENT)

/** A folder of somebody who has installed the client, and the types of Node.js. */
export function folderWithClient(): string {
  const folder = temporaryFolder()
  mkdirSync(join(folder, 'node_modules/@vintem'), { recursive: true })
  symlinkSync(CLIENT, join(folder, 'node_modules/@vintem/client'))
  symlinkSync(join(ROOT, 'node_modules/@types'), join(folder, 'node_modules/@types'))
  writeFileSync(join(folder, 'package.json'), JSON.stringify({ type: 'module' }))
  return folder
}
