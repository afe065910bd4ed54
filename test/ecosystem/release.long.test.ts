import assert from 'node:assert/strict'
import { execFile, execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { delimiter, join } from 'node:path'
import { after, test } from 'node:test'
import { promisify } from 'node:util'
import { PACKAGES, release, VERSION } from '../../scripts/release.ts'
import { freePort, readSandbox, temporaryFolder } from '../support/process.ts'
import { until } from '../support/until.ts'
import { install } from './installed.ts'

const ROOT = join(import.meta.dirname, '../..')
const run = promisify(execFile)
const { folder: programs, missing } = install('release')

/** The most that a package may take which is no service. */
const MAX_BYTES = 1_000_000

/** The Node and npm of the machine, and nothing of this clone. */
const PATH = (process.env.PATH ?? '')
  .split(delimiter)
  .filter((path) => !path.includes('node_modules'))
  .join(delimiter)

/** A registry that has the packages of this clone, and asks for all others where npm asks. */
async function startRegistry(): Promise<Record<string, string>> {
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

/** The commands of a README, one block after the other. */
function shellBlocks(file: string, port: number): string[] {
  const text = readFileSync(join(ROOT, file), 'utf8')
  return [...text.matchAll(/```sh\n([\s\S]*?)```/g)].map(([, block]) =>
    block!.replaceAll('127.0.0.1:3000', `127.0.0.1:${port}`),
  )
}

/** `npx vintem start` in a folder, until it is ready. */
async function start(command: string, cwd: string, env: Record<string, string>): Promise<string> {
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
  await until('the service is ready', () => {
    assert.equal(child.exitCode, null, output)
    return output.includes('Press Ctrl-C to stop')
  })
  return output
}

test('each package is installed by name from a registry, and its README can be followed in an empty folder', {
  skip: missing,
}, async (t) => {
  const packages = temporaryFolder()
  const packed = await release(packages)
  assert.equal(packed.length, PACKAGES.length)
  for (const { name, size } of packed) {
    // `vintem` has a limit of its own in test/release.long.test.ts.
    if (name !== 'vintem') assert.ok(size < MAX_BYTES, `${name}: ${size} bytes to download`)
  }
  const npm = await startRegistry()
  for (const { file } of packed) {
    // Its provenance can be proven only where a release is made.
    await run('npm', ['publish', join(packages, file), '--provenance=false'], {
      cwd: packages,
      env: npm,
    })
  }
  const folder = temporaryFolder()
  const port = await freePort()
  const env = { ...npm, PORT: String(port) }

  const [command, ...rest] = shellBlocks('scripts/vintem/README.md', port)
  assert.equal(command!.trim(), 'npx vintem start')
  const output = await start('npx --yes vintem start', folder, env)

  await t.test('vintem: a charge is created and paid, and the books agree', async () => {
    for (const path of ['', '/docs', '/guides', '/']) {
      const reply = await fetch(`http://127.0.0.1:${port}${path}`)
      assert.equal(reply.status, 200, path)
    }
    const { apiKey } = readSandbox(join(folder, '.data'))
    assert.ok(output.includes(apiKey))
    const { stdout } = await run('sh', ['-ec', rest.join('\n')], { cwd: folder, env })
    assert.match(stdout, /"status":"COMPLETED","paymentStatus":"PAID"|"paymentStatus":"PAID"/)
    assert.match(stdout, /The books agree\./)
    const headers = { 'X-API-KEY': apiKey }
    const figures = await fetch(`http://127.0.0.1:${port}/account-balance/figures`, { headers })
    assert.equal(figures.status, 200)
    assert.match(await figures.text(), /1990/)
    const version = await run('npx', ['vintem', '--version'], { cwd: folder, env })
    assert.equal(version.stdout, `${VERSION}\n`)
  })

  await t.test('@vintem/client: a charge is created and paid by a program', async () => {
    const { apiKey, url } = readSandbox(join(folder, '.data'))
    const project = temporaryFolder()
    mkdirSync(project, { recursive: true })
    writeFileSync(join(project, 'package.json'), '{"private": true, "type": "module"}')
    await run('npm', ['install', '@vintem/client'], { cwd: project, env: npm })
    const program = `
      import { Vintem } from '@vintem/client'
      const vintem = new Vintem({ url: process.env.VINTEM_URL, key: process.env.VINTEM_KEY })
      const customer = { name: 'Maria da Silva', taxId: '12345678909' }
      const charge = await vintem.charges.createPix({ amount: 2990, customer, devMode: true })
      await vintem.charges.simulatePayment(charge.id)
      console.log((await vintem.charges.get(charge.id)).paymentStatus)`
    writeFileSync(join(project, 'pay.js'), program)
    const { stdout } = await run('node', ['pay.js'], {
      cwd: project,
      env: { PATH, VINTEM_URL: url, VINTEM_KEY: apiKey },
    })
    assert.equal(stdout, 'PAID\n')
  })
})
