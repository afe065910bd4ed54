/**
 * Installs what package-lock.json lists and node_modules lacks: `node scripts/install.mjs [--dev]`.
 * npm runs it before `start`, `test` and `vintem`, so it has to work on any Node from 20 with
 * nothing installed, to cost next to nothing when there is nothing to do, and to leave stdout to
 * the command that follows.
 */
import { spawn } from 'node:child_process'
import {
  appendFileSync,
  existsSync,
  mkdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { delimiter, join, sep } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'

const root = fileURLToPath(new URL('..', import.meta.url))
const modules = join(root, 'node_modules')
const lock = join(root, '.installing')
const lockHolders = join(lock, 'pids')
const isWindows = process.platform === 'win32'
const signals = ['SIGINT', 'SIGTERM', 'SIGHUP']

/** The Node that runs Vintém, whatever Node the machine has. */
export const pinnedNode = join(modules, 'node', 'bin', isWindows ? 'node.exe' : 'node')

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
  // Not `npm ci`, which empties node_modules first: a server may be running from it. This one
  // follows package-lock.json too, only adds and replaces, and --no-save leaves the file alone.
  const flags = ['--no-save', '--include=optional', dev ? '--include=dev' : '--omit=dev']
  const quiet = ['--loglevel=error', '--no-audit', '--no-fund', '--no-progress']
  const finish = showProgress(`Installing what ${dev ? 'the tests need' : 'Vintém needs'}`)
  const { ending, output } = await runNpm(['install', ...flags, ...quiet])
  const isDone = ending === 0 && isInstalled(dev)
  finish(isDone)
  if (isDone) return
  if (ending !== 'interrupted') process.stderr.write(output)
  throw new Error(explain(ending))
}

function explain(ending) {
  if (ending === 'interrupted') return 'The install was interrupted.'
  if (ending === 0) {
    return (
      'npm has finished, but the pinned Node or another package is missing. Does your npm forbid ' +
      'install scripts (npm config get ignore-scripts)? The pinned Node comes through one.'
    )
  }
  return (
    `npm could not install what is missing (${ending}). Its words are above; when it was the ` +
    'network or the registry, running the same command again is enough.'
  )
}

function runNpm(args) {
  const [program, ...first] = findNpm()
  const npm = spawn(program, [...first, ...args], {
    cwd: root,
    env: npmEnvironment(),
    stdio: ['ignore', 'pipe', 'pipe'],
    // npm starts other npms. In a group of their own, one signal ends them all.
    detached: !isWindows,
    shell: isWindows && program === 'npm',
  })
  let output = ''
  for (const stream of [npm.stdout, npm.stderr]) {
    stream.setEncoding('utf8').on('data', (chunk) => {
      output += chunk
    })
  }
  // Should we be killed, npm goes on, and the lock is still its.
  if (npm.pid) appendFileSync(lockHolders, ` ${npm.pid}`)
  // Told to stop, we stop npm and give the lock back. npm would take seconds to stop by itself,
  // and what it leaves unfinished the next install repeats.
  let isInterrupted = false
  const interrupt = () => {
    isInterrupted = true
    process.kill(isWindows ? npm.pid : -npm.pid, 'SIGKILL')
  }
  for (const signal of signals) process.on(signal, interrupt)
  return new Promise((resolve) => {
    npm.on('error', (fault) => resolve({ ending: fault.message, output }))
    npm.on('close', (code) => resolve({ ending: isInterrupted ? 'interrupted' : code, output }))
  }).finally(() => {
    for (const signal of signals) process.off(signal, interrupt)
  })
}

// Below `npm start` the npm that runs is used again. It must not run on the pinned Node, which it
// may be about to replace.
function findNpm() {
  const { npm_execpath: script, npm_node_execpath: npmNode } = process.env
  const node = [npmNode, process.execPath].find((path) => path && isOutside(path))
  return script?.endsWith('npm-cli.js') && node ? [node, script] : ['npm']
}

function npmEnvironment() {
  if (isWindows) return process.env
  const places = (process.env.PATH ?? '').split(delimiter).filter(isOutside)
  return { ...process.env, PATH: places.join(delimiter) }
}

function isOutside(path) {
  return existsSync(path) && !realpathSync(path).startsWith(realpathSync(root) + sep)
}

/** One install per clone at a time. A lock whose processes are dead is nobody's. */
async function takeLock() {
  let finish
  while (!tryLock()) {
    finish ??= showProgress('Waiting for another install of this clone')
    await delay(200)
  }
  finish?.(true)
  return () => rmSync(lock, { recursive: true, force: true })
}

function tryLock() {
  try {
    mkdirSync(lock)
    writeFileSync(lockHolders, String(process.pid))
    return true
  } catch (fault) {
    if (fault.code !== 'EEXIST') throw fault
    if (isAbandoned()) rmSync(lock, { recursive: true, force: true })
    return false
  }
}

function isAbandoned() {
  const text = existsSync(lockHolders) ? readFileSync(lockHolders, 'utf8') : ''
  if (text) return !text.split(' ').map(Number).some(isAlive)
  // There is a moment between making the directory and writing the number.
  const made = statSync(lock, { throwIfNoEntry: false })
  return made !== undefined && Date.now() - made.mtimeMs > 5_000
}

function isAlive(pid) {
  try {
    return process.kill(pid, 0)
  } catch (fault) {
    return fault.code === 'EPERM'
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

if (process.argv[1] && realpathSync(process.argv[1]) === fileURLToPath(import.meta.url)) {
  ensureInstalled({ dev: process.argv.includes('--dev') }).catch((fault) => {
    console.error(fault.message)
    process.exitCode = 1
  })
}
