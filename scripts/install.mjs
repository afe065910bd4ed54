/**
 * Installs what package-lock.json lists and node_modules lacks: `node scripts/install.mjs [--dev]`.
 * npm runs it before `start`, `test` and `vintem`, so it has to work on any Node from 20 with
 * nothing installed, to cost next to nothing when there is nothing to do, and to leave stdout to
 * the command that follows.
 */
import { spawn } from 'node:child_process'
import {
  existsSync,
  mkdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { constants } from 'node:os'
import { delimiter, join, sep } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'

const root = fileURLToPath(new URL('..', import.meta.url))
const modules = join(root, 'node_modules')
const lock = join(root, '.installing')

/** The Node that runs Vintém, whatever Node the machine has. */
export const pinnedNode = join(
  modules,
  'node',
  'bin',
  process.platform === 'win32' ? 'node.exe' : 'node',
)

/** Installs the dependencies, with `dev` those of the tests too, unless they are there. */
export async function ensureInstalled({ dev = false } = {}) {
  if (Number(process.versions.node.split('.')[0]) < 20) {
    throw new Error(`Vintém needs Node 20 or newer; this is ${process.version}.`)
  }
  if (isInstalled(dev)) return
  const release = await takeLock()
  try {
    if (!isInstalled(dev)) await install(dev)
  } finally {
    release()
  }
}

// npm writes the second file at the very end, so an interrupted install does not count as one.
// An optional package may rightly be missing: most are for other machines than this one.
function isInstalled(dev) {
  const wanted = readPackages(join(root, 'package-lock.json'))
  const present = readPackages(join(modules, '.package-lock.json'))
  const stands = ([path, { version, dev: forTests, optional, devOptional }]) =>
    path === '' ||
    optional ||
    devOptional ||
    (forTests && !dev) ||
    present[path]?.version === version
  return existsSync(pinnedNode) && Object.entries(wanted).every(stands)
}

function readPackages(file) {
  return existsSync(file) ? JSON.parse(readFileSync(file, 'utf8')).packages : {}
}

async function install(dev) {
  // `npm ci` empties node_modules first. A server may be running from it, so when only the tests'
  // packages are missing they are added to what stands there.
  const command = dev && isInstalled(false) ? ['install', '--no-save'] : ['ci']
  const flags = ['--include=optional', dev ? '--include=dev' : '--omit=dev']
  const quiet = ['--loglevel=error', '--no-audit', '--no-fund', '--no-progress']
  const finish = showProgress(`Installing what ${dev ? 'the tests need' : 'Vintém needs'}`)
  const { code, output } = await runNpm([...command, ...flags, ...quiet])
  finish(code === 0)
  if (code === 0 && isInstalled(dev)) return
  process.stderr.write(output)
  throw new Error(
    code === 0
      ? 'npm has finished, but not everything is there. Does your npm configuration forbid install ' +
          'scripts (npm config get ignore-scripts)? The pinned Node comes through one.'
      : `npm could not install what is missing (npm ${command[0]} ended with ${code}). Its words ` +
          'are above; when it is the network or the registry, running this again is enough.',
  )
}

function runNpm(args) {
  const [program, ...first] = findNpm()
  const npm = spawn(program, [...first, ...args], {
    cwd: root,
    env: { ...process.env, PATH: outsidePath() },
    stdio: ['ignore', 'pipe', 'pipe'],
    shell: program === 'npm' && process.platform === 'win32',
  })
  let output = ''
  for (const stream of [npm.stdout, npm.stderr]) {
    stream.setEncoding('utf8').on('data', (chunk) => {
      output += chunk
    })
  }
  return new Promise((resolve) => {
    npm.on('error', (fault) => resolve({ code: fault.message, output }))
    npm.on('close', (code, signal) => resolve({ code: signal ?? code, output }))
  })
}

// Below `npm start` the running npm is used again. It must not run on the pinned Node: `npm ci`
// removes that one while it works.
function findNpm() {
  const { npm_execpath: script, npm_node_execpath: npmNode } = process.env
  const node = [npmNode, process.execPath].find((path) => path && isOutside(path))
  return script?.endsWith('npm-cli.js') && node ? [node, script] : ['npm']
}

function outsidePath() {
  const places = (process.env.PATH ?? '').split(delimiter)
  return places.filter(isOutside).join(delimiter)
}

function isOutside(path) {
  return existsSync(path) && !realpathSync(path).startsWith(realpathSync(root) + sep)
}

/** One install per clone at a time. A lock whose process is dead is nobody's. */
async function takeLock() {
  let finish
  while (!tryLock()) {
    finish ??= showProgress('Waiting for another install of this clone')
    await delay(200)
  }
  finish?.(true)
  const release = () => rmSync(lock, { recursive: true, force: true })
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) {
    process.once(signal, () => {
      release()
      process.exit(128 + constants.signals[signal])
    })
  }
  return release
}

function tryLock() {
  try {
    mkdirSync(lock)
  } catch (fault) {
    if (fault.code !== 'EEXIST') throw fault
    if (isAbandoned()) rmSync(lock, { recursive: true, force: true })
    return false
  }
  writeFileSync(join(lock, 'pid'), String(process.pid))
  return true
}

function isAbandoned() {
  try {
    const pid = Number(readFileSync(join(lock, 'pid'), 'utf8'))
    // There is a moment between making the directory and writing the number.
    if (!pid) return Date.now() - statSync(lock).mtimeMs > 5_000
    process.kill(pid, 0)
    return false
  } catch (fault) {
    return fault.code === 'ESRCH'
  }
}

/** A living line on a terminal, and a plain one now and then in a log. */
function showProgress(what) {
  const began = Date.now()
  const seconds = () => Math.round((Date.now() - began) / 1000)
  const terminal = process.stderr.isTTY
  let frame = 0
  const draw = () => {
    const sign = '⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏'[frame++ % 10]
    process.stderr.write(terminal ? `\r\x1b[K${sign} ${what} ${seconds()} s` : line(`${what} …`))
  }
  const line = (text) => `${text}${seconds() ? ` (${seconds()} s)` : ''}\n`
  draw()
  const timer = setInterval(draw, terminal ? 100 : 10_000)
  return (isDone) => {
    clearInterval(timer)
    if (terminal) process.stderr.write('\r\x1b[K')
    if (isDone) process.stderr.write(line(`${what}: done`))
  }
}
