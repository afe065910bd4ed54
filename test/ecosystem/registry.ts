import assert from 'node:assert/strict'
import { execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync, writeFileSync } from 'node:fs'
import { delimiter, join } from 'node:path'
import { after } from 'node:test'
import { freePort, temporaryFolder } from '../support/process.ts'
import { until } from '../support/until.ts'

const ROOT = join(import.meta.dirname, '../..')

export type Environment = Record<string, string>

/** The Node and npm of the machine, and nothing of this clone. */
export const PATH = (process.env.PATH ?? '')
  .split(delimiter)
  .filter((path) => !path.includes('node_modules'))
  .join(delimiter)

/** A registry that has the packages of this clone, and asks for all others where npm asks. */
export async function startRegistry(programs: string): Promise<Environment> {
  const home = temporaryFolder()
  const port = await freePort()
  const url = `http://127.0.0.1:${port}/`
  const beyond = execFileSync('npm', ['config', 'get', 'registry'], { encoding: 'utf8', cwd: home })
  const free = { access: '$all', publish: '$all', unpublish: '$all' }
  // Ours are published here, never fetched from elsewhere.
  const own = ['vintem', '@vintem/*', '*-vintem'].map((name) => [name, free])
  const others = ['**', { access: '$all', proxy: 'npm' }]
  const config = join(home, 'config.yaml')
  const settings = {
    storage: join(home, 'storage'),
    uplinks: { npm: { url: beyond.trim() } },
    packages: Object.fromEntries([...own, others]),
    max_body_size: '100mb',
    log: { type: 'stdout', format: 'json', level: 'warn' },
  }
  // JSON is YAML, too.
  writeFileSync(config, JSON.stringify(settings))
  const program = join(programs, 'node_modules/.bin/verdaccio')
  const server = spawn(process.execPath, [program, '-c', config, '-l', `127.0.0.1:${port}`], {
    cwd: home,
    // It reaches the registry as npm does here, which may need a proxy and its certificate.
    env: { ...process.env, HOME: home },
    stdio: ['ignore', 'ignore', 'inherit'],
  })
  const ended = once(server, 'close')
  after(async () => {
    server.kill('SIGTERM')
    await ended
  })
  await until('the registry answers', async () => {
    const reply = await fetch(`${url}-/ping`).catch(() => null)
    return reply?.ok ?? false
  })
  const npmrc = join(home, '.npmrc')
  writeFileSync(npmrc, `registry=${url}\n//127.0.0.1:${port}/:_authToken=nobody\n`)
  return { PATH, HOME: home, npm_config_userconfig: npmrc, npm_config_cache: join(home, 'cache') }
}

/** The commands of a README, one block after the other, with addresses of this test in them. */
export function shellBlocks(file: string, places: Record<string, string>): string[] {
  const text = readFileSync(join(ROOT, file), 'utf8')
  const blocks = [...text.matchAll(/```sh\n([\s\S]*?)```/g)].map(([, block]) => block!.trim())
  const place = (block: string) =>
    Object.entries(places).reduce((before, [from, to]) => before.replaceAll(from, to), block)
  return blocks.map(place)
}

/** A command in a folder that goes on, until it has printed that it is ready. */
export async function start(
  command: string,
  ready: string,
  cwd: string,
  env: Environment,
): Promise<() => string> {
  const child = spawn('sh', ['-c', command], {
    cwd,
    env,
    stdio: ['ignore', 'pipe', 'pipe'],
    detached: true,
  })
  const ended = once(child, 'close')
  after(async () => {
    process.kill(-child.pid!, 'SIGTERM')
    await ended
  })
  let output = ''
  for (const stream of [child.stdout, child.stderr])
    stream.on('data', (chunk) => {
      output += chunk
    })
  await until(`${command} is ready`, () => {
    assert.equal(child.exitCode, null, output)
    return output.includes(ready)
  })
  return () => output
}
