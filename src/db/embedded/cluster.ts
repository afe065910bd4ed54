import { type ChildProcess, type SpawnOptions, spawn } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import {
  chmodSync,
  chownSync,
  closeSync,
  existsSync,
  fstatSync,
  fsyncSync,
  lchownSync,
  linkSync,
  mkdtempSync,
  openSync,
  readdirSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { userInfo } from 'node:os'
import { join, resolve } from 'node:path'
import { folderFault, makeFolder } from '../../lib/folders.ts'
import { OperatorFault } from '../../lib/operator-fault.ts'
import { type Account, chooseAccount, findBinaries } from './binaries.ts'

export type Settings = Record<string, string>

/** A PostgreSQL data directory, and what it takes to run PostgreSQL's programs on it. */
export type Cluster = {
  dataDir: string
  directory: string
  log: string
  passwordFile: string
  bin: string
  account: Account | undefined
  settings: Settings
  /** How long the log was before the program that runs now was started. */
  logStart_bytes: number
}

const logLimit_bytes = 10 * 1024 * 1024

/** Finds the cluster of a data directory, and creates it the first time. */
export async function openCluster(dataDir: string, settings: Settings = {}): Promise<Cluster> {
  const home = resolve(dataDir)
  try {
    makeFolder(home)
    // One directory, one name, whichever way a process came to it.
    const cluster = describe(realpathSync(home), settings)
    rotate(cluster.log)
    removeAbandoned(home)
    requireWhole(cluster)
    if (!isInitialised(cluster)) await initialise(cluster)
    secure(cluster)
    return cluster
  } catch (fault) {
    throw folderFault(home, fault)
  }
}

/** If a part of the database is missing, a new one must not take its place. */
function requireWhole({ directory, passwordFile }: Cluster): void {
  const entries = existsSync(directory) ? readdirSync(directory) : []
  if (entries.length === 0) return
  const restore = 'Restore it from a backup, or choose another DATA_DIR to begin anew.'
  if (!entries.includes('PG_VERSION')) {
    throw new OperatorFault(`${directory} is damaged: it has files, but no PG_VERSION. ${restore}`)
  }
  if (!existsSync(passwordFile)) {
    throw new OperatorFault(
      `${passwordFile} is missing, the password of the database beside it. ${restore}`,
    )
  }
}

function describe(dataDir: string, settings: Settings): Cluster {
  const directory = join(dataDir, 'postgres')
  const account = chooseAccount(statSync(directory, { throwIfNoEntry: false })?.uid)
  return {
    dataDir,
    directory,
    log: join(dataDir, 'postgres.log'),
    passwordFile: join(dataDir, 'postgres.password'),
    bin: findBinaries(account),
    account,
    settings,
    logStart_bytes: 0,
  }
}

export function readPassword(cluster: Cluster): string {
  return readFileSync(cluster.passwordFile, 'utf8').trim()
}

function isInitialised(cluster: Cluster): boolean {
  return existsSync(join(cluster.directory, 'PG_VERSION'))
}

// initdb works in a directory of its own, which takes the final name once it is complete: whether
// an initdb is killed or two of them race, `postgres` is either missing or whole.
async function initialise(cluster: Cluster): Promise<void> {
  createPassword(cluster)
  const draft = mkdtempSync(join(cluster.dataDir, `initdb-${process.pid}-`))
  try {
    if (cluster.account) chownSync(draft, cluster.account.uid, cluster.account.gid)
    await runInitdb(cluster, draft)
    renameSync(draft, cluster.directory)
    flushDirectory(cluster.dataDir)
  } catch (fault) {
    rmSync(draft, { recursive: true, force: true, maxRetries: 3 })
    if (!isInitialised(cluster)) throw fault
  }
}

async function runInitdb(cluster: Cluster, draft: string): Promise<void> {
  const args = (place: string, password: string) => [
    '-D',
    place,
    '-U',
    'vintem',
    '-A',
    'scram-sha-256',
    `--pwfile=${password}`,
    // Text sorts by code point, alike on every machine, and ç is still the lower case of Ç.
    '--encoding=UTF8',
    '--locale=C',
    '--locale-provider=builtin',
    '--builtin-locale=C.UTF-8',
    '--no-instructions',
    ...(cluster.settings.fsync === 'off' ? ['--no-sync'] : []),
  ]
  const initdb = spawnProgram(cluster, 'initdb', [draft, cluster.passwordFile], args)
  const [code, signal] = await once(initdb, 'close').catch(() => [null, null])
  if (code === 0) return
  if (isNameless()) {
    throw new OperatorFault(
      `The user id ${process.getuid?.()} has no name in /etc/passwd, and PostgreSQL cannot be set up ` +
        'without one. Give it a name, start Vintém as another user, or set DATABASE_URL.',
    )
  }
  throw new OperatorFault(
    `initdb failed (${signal ?? code}): ${lastLogError(cluster)} See ${cluster.log}.`,
  )
}

// Linked into place: of two first starts both use the password that came first, and nobody ever
// reads it half-written.
function createPassword({ passwordFile, account }: Cluster): void {
  const draft = `${passwordFile}-${randomBytes(6).toString('hex')}`
  const password = randomBytes(24).toString('base64url')
  writeFileSync(draft, password, { flag: 'wx', mode: 0o600, flush: true })
  try {
    linkSync(draft, passwordFile)
  } catch (fault) {
    if (codeOf(fault) !== 'EEXIST') throw fault
  } finally {
    rmSync(draft)
  }
  if (account) chownSync(passwordFile, account.uid, account.gid)
}

/** Whether the user has no name here, as is common in containers. */
function isNameless(): boolean {
  try {
    return userInfo().username === ''
  } catch {
    return true
  }
}

/**
 * initdb asks for the name of its user. If there is none, it runs in a user namespace in which the
 * same user is called nobody; what it writes belongs to the user all the same.
 */
const withName = (): string[] =>
  process.platform === 'linux' && isNameless()
    ? ['unshare', '--user', '--map-user=65534', '--map-group=65534']
    : []

/**
 * Runs one of PostgreSQL's programs, with its words going to the log. The account it runs under
 * may be unable to walk to `paths`, so it gets them as open descriptors: what is opened through
 * /proc/self/fd asks for no right on the parent directories.
 */
export function spawnProgram(
  cluster: Cluster,
  program: 'initdb' | 'postgres',
  paths: string[],
  args: (...places: string[]) => string[],
  options: SpawnOptions = {},
): ChildProcess {
  const { bin, log, account } = cluster
  const [first, ...rest] = [...(program === 'initdb' ? withName() : []), join(bin, program)]
  const words = openSync(log, 'a', 0o600)
  cluster.logStart_bytes = fstatSync(words).size
  const handles = account ? paths.map((path) => openSync(path, 'r')) : []
  const places = account ? handles.map((_, index) => `/proc/self/fd/${3 + index}`) : paths
  try {
    return spawn(first!, [...rest, ...args(...places)], {
      ...options,
      // Nothing of our environment: it holds secrets, and PG… variables change what programs do.
      env: { PATH: '/usr/bin:/bin', LC_ALL: 'C', TZ: 'UTC', ...options.env },
      cwd: '/',
      stdio: ['ignore', words, words, ...handles],
      windowsHide: true,
      ...(account && { uid: account.uid, gid: account.gid }),
    })
  } finally {
    for (const handle of [words, ...handles]) closeSync(handle)
  }
}

/**
 * The last thing that the program started last has complained about, for the sentence that says it
 * did not start. What the log holds of earlier programs is not its fault.
 */
export function lastLogError({ log, logStart_bytes }: Cluster): string {
  const text = existsSync(log) ? readFileSync(log).subarray(logStart_bytes).toString() : ''
  const lines = text.slice(-8192).trim().split('\n')
  const complaint = lines.findLast((line) => /FATAL|PANIC|error:/.test(line)) ?? lines.at(-1)
  return complaint || 'PostgreSQL gave no reason.'
}

// PostgreSQL insists that its data directory belongs to its user and is closed to others, which
// it may not be after a restore from a backup.
function secure({ directory, account }: Cluster): void {
  const { uid, mode } = statSync(directory)
  if (account && uid !== account.uid) giveTree(directory, account)
  if (mode & 0o077) chmodSync(directory, 0o700)
}

function giveTree(directory: string, { uid, gid }: Account): void {
  for (const entry of readdirSync(directory, { recursive: true, encoding: 'utf8' })) {
    lchownSync(join(directory, entry), uid, gid)
  }
  // The directory itself comes last: by its owner the next start sees whether this one finished.
  lchownSync(directory, uid, gid)
}

// A process that was killed during initdb leaves its draft behind.
function removeAbandoned(dataDir: string): void {
  for (const entry of readdirSync(dataDir)) {
    const pid = /^initdb-(\d+)-/.exec(entry)?.[1]
    if (!pid || isAlive(Number(pid))) continue
    rmSync(join(dataDir, entry), { recursive: true, force: true })
  }
}

export function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0)
  } catch (fault) {
    return codeOf(fault) === 'EPERM'
  }
}

function rotate(log: string): void {
  const size = statSync(log, { throwIfNoEntry: false })?.size ?? 0
  if (size > logLimit_bytes) renameSync(log, `${log}.1`)
}

// Without this, a power cut after the first commits could take the name of the cluster with it.
function flushDirectory(directory: string): void {
  if (process.platform === 'win32') return
  const handle = openSync(directory, 'r')
  fsyncSync(handle)
  closeSync(handle)
}

function codeOf(fault: unknown): string {
  return (fault as NodeJS.ErrnoException).code ?? ''
}
