import assert from 'node:assert/strict'
import { execFile, execFileSync } from 'node:child_process'
import { globSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { promisify } from 'node:util'
import { unwrapWebhook } from '../../packages/client/src/webhooks.js'
import { type Packed, release, VERSION } from '../../scripts/release.ts'
import { freePort, readSandbox, temporaryFolder } from '../support/process.ts'
import { startReceiver } from '../support/receiver.ts'
import { until } from '../support/until.ts'
import { install } from './installed.ts'
import { type Environment, PATH, shellBlocks, start, startRegistry } from './registry.ts'

const run = promisify(execFile)
const { folder: programs, missing } = install('release')

/** The most that a package may take to download. */
const MAX_BYTES: Record<string, number> = {
  '@vintem/cli': 1_000_000,
  '@vintem/client': 1_000_000,
  '@vintem/element': 20_000,
  'medusa-payment-vintem': 100_000,
  'n8n-nodes-vintem': 100_000,
  'vendure-plugin-vintem': 100_000,
  vintem: 6_000_000,
}
/** The most that the command line may take once it is installed. */
const MAX_CLI_BYTES = 5_000_000

/** Runs commands of a README as somebody types them. */
const shell = (command: string, cwd: string, env: Environment) =>
  run('sh', ['-ec', command], { cwd, env })

/** The packages below a folder, as npm has installed them. */
const installedIn = (folder: string): string[] =>
  globSync('node_modules/{*,@*/*}/package.json', { cwd: folder })
    .map((path) => JSON.parse(readFileSync(join(folder, path), 'utf8')))
    .map(({ name, version }) => `${name} ${version}`)
    .sort()

const sizeOf = ({ name, size, unpackedSize }: Packed): string =>
  `${name} ${Math.round(size / 1000)} kB (${Math.round(unpackedSize / 1000)} kB)`

test('each package is installed by name from a registry, and its README can be followed in an empty folder', {
  skip: missing,
}, async (t) => {
  const packages = temporaryFolder()
  const packed = await release(packages)
  assert.deepEqual(packed.map(({ name }) => name).sort(), Object.keys(MAX_BYTES))
  for (const { name, size, unpackedSize } of packed) {
    assert.ok(size < MAX_BYTES[name]!, `${name}: ${size} bytes to download`)
    if (name === '@vintem/cli') assert.ok(unpackedSize < MAX_CLI_BYTES, `${unpackedSize} bytes`)
  }
  const npm = await startRegistry(programs)
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
  const own = { '127.0.0.1:3000': `127.0.0.1:${port}` }

  const [command, ...rest] = shellBlocks('scripts/vintem/README.md', own)
  assert.equal(command, 'npx vintem start')
  const output = await start('npx --yes vintem start', 'Press Ctrl-C to stop', folder, env)
  const { apiKey, url } = readSandbox(join(folder, '.data'))
  const settings = { VINTEM_URL: url, VINTEM_KEY: apiKey }

  await t.test('vintem: a charge is created and paid, and the books agree', async () => {
    for (const path of ['', '/docs', '/guides', '/']) {
      const reply = await fetch(`http://127.0.0.1:${port}${path}`)
      assert.equal(reply.status, 200, path)
    }
    assert.ok(output().includes(apiKey))
    const { stdout } = await shell(rest.join('\n'), folder, env)
    assert.match(stdout, /"paymentStatus":"PAID"/)
    assert.match(stdout, /The books agree\./)
    const headers = { 'X-API-KEY': apiKey }
    const figures = await fetch(`http://127.0.0.1:${port}/account-balance/figures`, { headers })
    assert.equal(figures.status, 200)
    assert.match(await figures.text(), /1990/)
    const version = await run('npx', ['vintem', '--version'], { cwd: folder, env })
    assert.equal(version.stdout, `${VERSION}\n`)
  })

  await t.test('@vintem/client: a charge is created and paid by a program', async () => {
    const project = temporaryFolder()
    const [command] = shellBlocks('packages/client/README.md', own)
    await shell(command!, project, npm)
    assert.deepEqual(installedIn(project), [`@vintem/client ${VERSION}`])
    const readme = readFileSync(join(project, 'node_modules/@vintem/client/README.md'), 'utf8')
    const [, program] = /```ts\n([\s\S]*?)```/.exec(readme)!
    writeFileSync(join(project, 'pay.mjs'), program!)
    const { stdout } = await run('node', ['pay.mjs'], { cwd: project, env: { PATH, ...settings } })
    assert.match(stdout, /^charge_\w+ PAID$/m)
  })

  await t.test('@vintem/cli: it listens from another folder to what happens', async () => {
    const [cwd, home, receiver] = [temporaryFolder(), temporaryFolder(), await startReceiver()]
    const global = join(home, 'global')
    const env = {
      ...npm,
      HOME: home,
      npm_config_prefix: global,
      PATH: `${join(global, 'bin')}:${PATH}`,
    }
    const places = { ...own, 'http://localhost:4000/webhook': receiver.url }
    const [installs, profile, charges, listens, triggers, ...more] = shellBlocks(
      'scripts/cli/README.md',
      places,
    )
    assert.deepEqual(more, [])
    await shell(installs!, cwd, env)
    assert.deepEqual(installedIn(join(global, 'lib')), [`@vintem/cli ${VERSION}`])
    // Without a terminal, a key is not typed.
    execFileSync('sh', ['-ec', `${profile} --key -`], { cwd, env, input: apiKey })
    const { stdout } = await shell(charges!, cwd, env)
    assert.match(stdout, /charge_\w+/)

    const output = await start(listens!, 'Ready.', cwd, env)
    await shell(triggers!, cwd, env)
    const paid = await until('the event is forwarded', () => {
      const found = receiver.received.find(({ body }) => body.includes('"Charge.Paid"'))
      return found ?? false
    })
    const [secret] = /whsec_\S+/.exec(output())!
    const event = await unwrapWebhook(paid.body, paid.headers, secret)
    assert.equal(event.event === 'Charge.Paid' && event.charge.total, 4990)
  })

  await t.test('n8n-nodes-vintem: nothing else is installed with it', async () => {
    const [command] = shellBlocks('packages/n8n-nodes-vintem/README.md', own)
    const home = temporaryFolder()
    const nodes = join(home, '.n8n/nodes')
    mkdirSync(nodes, { recursive: true })
    await shell(command!, home, { ...npm, HOME: home })
    assert.deepEqual(installedIn(nodes), [`n8n-nodes-vintem ${VERSION}`])
  })

  await t.test('@vintem/element: nothing else is installed with it', async () => {
    const [command] = shellBlocks('packages/element/README.md', own)
    const page = temporaryFolder()
    await shell(command!, page, npm)
    assert.deepEqual(installedIn(page), [`@vintem/element ${VERSION}`])
  })

  for (const name of ['medusa-payment-vintem', 'vendure-plugin-vintem']) {
    await t.test(`${name}: it brings the client`, async () => {
      const [command] = shellBlocks(`packages/${name}/README.md`, own)
      const shop = temporaryFolder()
      // The shop has its server, which is not installed once more here.
      await shell(command!, shop, { ...npm, npm_config_legacy_peer_deps: 'true' })
      assert.deepEqual(installedIn(shop), [`@vintem/client ${VERSION}`, `${name} ${VERSION}`])
    })
  }

  const manifest = join(programs, 'node_modules/verdaccio/package.json')
  const { version } = JSON.parse(readFileSync(manifest, 'utf8'))
  const sizes = packed.map(sizeOf).join(', ')
  t.diagnostic(
    `ECOSYSTEM verdaccio ${version}: ${packed.length} packages are published, installed by name in empty folders, and their READMEs followed; ${sizes}`,
  )
})
