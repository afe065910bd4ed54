import { execFileSync } from 'node:child_process'
import { globSync, mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { packClient } from '../../scripts/client/build.ts'
import { temporaryFolder } from './process.ts'

/** A project of somebody else, in which the client is installed as npm packs it. */
export function makeClientProject(project = temporaryFolder()): {
  project: string
  installed: string
} {
  const installed = join(project, 'node_modules/@vintem/client')
  packClient(project)
  mkdirSync(installed, { recursive: true })
  const [file] = globSync(join(project, '*.tgz'))
  execFileSync('tar', ['-xzf', file!, '--strip-components=1', '-C', installed])
  writeFileSync(join(project, 'package.json'), '{"type":"module"}')
  return { project, installed }
}
