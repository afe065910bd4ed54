import type { ChildProcess } from 'node:child_process'
import { setTimeout as delay } from 'node:timers/promises'
import { OperatorFault } from '../../lib/operator-fault.ts'
import {
  type Cluster,
  isAlive,
  lastLogError,
  openCluster,
  readPassword,
  type Settings,
} from './cluster.ts'
import {
  freePort,
  isPostmaster,
  type Postmaster,
  poll_ms,
  readPostmaster,
  spawnPostmaster,
  stopPostmaster,
} from './postmaster.ts'
import {
  connect,
  createDatabase,
  orGone,
  readOwner,
  type Session,
  takeOwnerLock,
  takeSharedLock,
  waitUntilUnshared,
} from './session.ts'

/**
 * A real PostgreSQL inside the data directory, for those who have not set DATABASE_URL.
 *
 * One process at a time owns it, and the database itself is the lock: the owner keeps a session
 * open that holds an advisory lock, and the lock goes when the owner goes, kill -9 included. So a
 * PostgreSQL whose lock is free is what a killed owner left behind.
 */
export type EmbeddedDatabase = { url: string; owned: boolean; stop(): Promise<void> }

export class DataDirectoryInUse extends OperatorFault {
  override name = 'DataDirectoryInUse'
}

/** A postmaster of our own, and the session that holds its lock. */
type Ownership = { postmaster: ChildProcess; port: number; lock: Session }

/** A postmaster in our directory that somebody else has started. */
type OtherPostmaster = Postmaster & {
  state: 'stopped' | 'owned' | 'not ready'
  owner?: number | null
}

type KeepOptions = {
  onRestart?: ((why: string) => void) | undefined
  beforeStop?: (lock: Session) => Promise<void>
}

// A command of the CLI may be about to end and leave the directory free.
const waitForOwner_ms = 3_000
// Replaying the log after a crash takes its time, and so does the last checkpoint of a shutdown.
const waitForAnswer_ms = 60_000
const waitForLock_ms = 10_000
const waitForSharers_ms = 5_000
const startAttempts = 7

/** Starts the database for a server, which has to be the only owner of its data directory. */
export async function startEmbedded(options: {
  dataDir: string
  settings?: Settings
  onRestart?: (why: string) => void
}): Promise<EmbeddedDatabase> {
  const cluster = await openCluster(options.dataDir, options.settings)
  const found = await claim(cluster, waitForOwner_ms)
  if (!('lock' in found)) throw inUse(cluster, found)
  const stop = keep(cluster, found, { onRestart: options.onRestart })
  return { url: urlOf(cluster, found.port), owned: true, stop }
}

/** Joins the database of a running server, or runs one for as long as a command takes. */
export async function attachEmbedded(options: { dataDir: string }): Promise<EmbeddedDatabase> {
  const cluster = await openCluster(options.dataDir)
  for (;;) {
    const found = await claim(cluster, 0)
    const url = urlOf(cluster, found.port)
    if ('lock' in found) {
      return { url, owned: true, stop: keep(cluster, found, { beforeStop: waitForSharers }) }
    }
    const shared = await joinDatabase(cluster, found)
    if (shared) return { url, owned: false, stop: () => leaveDatabase(shared) }
    await delay(poll_ms)
  }
}

// A command that owns the database waits at its end for those who joined it. The lock is what
// makes this safe: nobody can join between its last look and the shutdown.
async function joinDatabase(
  cluster: Cluster,
  { port }: OtherPostmaster,
): Promise<Session | undefined> {
  const session = await connect(cluster, port)
  if (!session) return undefined
  if (await orGone(takeSharedLock(session))) {
    session.unref()
    return session
  }
  await session.end()
  return undefined
}

// A session that does not keep node alive would not be waited for either.
function leaveDatabase(shared: Session): Promise<void> {
  shared.ref()
  return shared.end()
}

async function waitForSharers(lock: Session): Promise<void> {
  lock.ref()
  await orGone(waitUntilUnshared(lock, waitForSharers_ms))
}

/** Becomes the owner of the cluster, or returns who still is after `timeout_ms`. */
async function claim(cluster: Cluster, timeout_ms: number): Promise<Ownership | OtherPostmaster> {
  const began = performance.now()
  for (let failures = 0; ; ) {
    const waited_ms = performance.now() - began
    const other = await examineOther(cluster, waited_ms)
    if (other?.state === 'owned' && waited_ms >= timeout_ms) return other
    if (other?.state === 'not ready' && waited_ms > waitForAnswer_ms) throw inUse(cluster, other)
    if (!other || other.state === 'stopped') {
      const ownership = await startCluster(cluster, await freePort())
      if (ownership) return ownership
      // Somebody took the port or was faster than us, or a killed postmaster's last processes
      // still hold its memory. The answer to each of them is to look again.
      if (++failures === startAttempts) throw doesNotStart(cluster)
    }
    await delay(other ? 100 : 25 * 2 ** failures)
  }
}

/** Looks for a postmaster that is not ours, and stops it when its owner is dead. */
async function examineOther(
  cluster: Cluster,
  waited_ms: number,
): Promise<OtherPostmaster | undefined> {
  const other = findPostmaster(cluster)
  const session = other?.status === 'ready' ? await connect(cluster, other.port) : undefined
  if (!other || !session) return other && { ...other, state: 'not ready' }
  try {
    const found = await orGone(readOwner(session))
    if (!found) return { ...other, state: 'not ready' }
    const { owner, isLocked } = found
    // Without an owner it was started by hand, by somebody who has a reason.
    if (isLocked || !owner) return { ...other, state: 'owned', owner }
    // The owner may be about to take its lock. If it still has not after a while, it is another
    // program that got the number of a dead one.
    const isStarting = isAlive(owner) && waited_ms < waitForLock_ms
    if (isStarting || !(await orGone(takeOwnerLock(session))))
      return { ...other, state: 'not ready' }
    await stopPostmaster(cluster, other.pid)
    return { ...other, state: 'stopped' }
  } finally {
    await session.end()
  }
}

/** Starts a postmaster and takes its lock; undefined when it ends, or another was faster. */
async function startCluster(cluster: Cluster, port: number): Promise<Ownership | undefined> {
  const postmaster = await spawnPostmaster(cluster, port)
  try {
    while (!hasEnded(postmaster)) {
      const found = findPostmaster(cluster)
      const ready = found?.pid === postmaster.pid && found?.status === 'ready'
      const session = ready ? await connect(cluster, port) : undefined
      if (session) return await takeOwnership({ postmaster, port, lock: session })
      await delay(poll_ms)
    }
    return undefined
  } catch (fault) {
    await stopPostmaster(cluster, postmaster.pid!)
    throw fault
  }
}

// The database comes before the lock, so that whoever finds the lock taken finds a database too.
async function takeOwnership(ownership: Ownership): Promise<Ownership | undefined> {
  await orGone(createDatabase(ownership.lock))
  if (!(await orGone(takeOwnerLock(ownership.lock)))) {
    await ownership.lock.end()
    return undefined
  }
  // The session waits for nothing, and must not be the reason why the process does not end.
  ownership.lock.unref()
  return ownership
}

/**
 * Keeps the database running and its lock taken until the returned function is called. The lock's
 * session shows it: it ends with the postmaster, and also when a crash inside PostgreSQL
 * makes the postmaster close every session and start over by itself.
 */
function keep(cluster: Cluster, first: Ownership, options: KeepOptions): () => Promise<void> {
  const report = options.onRestart ?? (() => {})
  let ownership = first
  let stopped: Promise<void> | undefined
  let recovery = Promise.resolve()
  const watch = () => {
    ownership.lock.once('end', () => {
      if (!stopped) recovery = recover()
    })
  }
  const recover = async () => {
    const renewed = await renew(cluster, ownership, () => !stopped, report)
    if (!renewed) return
    ownership = renewed
    watch()
  }
  const stop = async () => {
    await recovery
    await options.beforeStop?.(ownership.lock)
    await stopPostmaster(cluster, ownership.postmaster.pid!)
    await ownership.lock.end()
  }
  watch()
  return () => {
    stopped ??= stop()
    return stopped
  }
}

/** Gets lock and postmaster back, on the same port because pools know no other. */
async function renew(
  cluster: Cluster,
  old: Ownership,
  isWanted: () => boolean,
  report: (why: string) => void,
): Promise<Ownership | undefined> {
  for (let pause_ms = poll_ms; isWanted(); pause_ms = Math.min(2 * pause_ms, 1_000)) {
    const renewed = await renewOnce(cluster, old).catch((fault: Error) => fault)
    if (renewed && !(renewed instanceof Error)) {
      if (hasEnded(old.postmaster)) report(`${endOf(old)} and has been started again`)
      return renewed
    }
    // There is no good moment to give up: a full disk gets emptied, and then this works again.
    if (pause_ms === 640) {
      const reason = renewed?.message ?? lastLogError(cluster)
      report(`${endOf(old)} and is not back so far: ${reason}`)
    }
    await delay(pause_ms)
  }
  return undefined
}

async function renewOnce(cluster: Cluster, old: Ownership): Promise<Ownership | undefined> {
  if (hasEnded(old.postmaster)) {
    return findPostmaster(cluster) ? undefined : startCluster(cluster, old.port)
  }
  const lock = await connect(cluster, old.port)
  return lock && takeOwnership({ ...old, lock })
}

function findPostmaster(cluster: Cluster): Postmaster | undefined {
  const recorded = readPostmaster(cluster)
  return recorded && isPostmaster(cluster, recorded.pid) ? recorded : undefined
}

function hasEnded(postmaster: ChildProcess): boolean {
  return postmaster.exitCode !== null || postmaster.signalCode !== null
}

function endOf({ postmaster }: Ownership): string {
  const cause = postmaster.signalCode ?? postmaster.exitCode
  if (cause === null) return 'PostgreSQL has closed every session'
  return `PostgreSQL has ended unexpectedly (${cause})`
}

function urlOf(cluster: Cluster, port: number): string {
  return `postgres://vintem:${readPassword(cluster)}@127.0.0.1:${port}/vintem`
}

function doesNotStart(cluster: Cluster): OperatorFault {
  const { directory, log } = cluster
  return new OperatorFault(
    `PostgreSQL does not start in ${directory}: ${lastLogError(cluster)} See ${log}. If its files are ` +
      'damaged, restore them from a backup, or choose another DATA_DIR to begin anew.',
  )
}

function inUse({ dataDir }: Cluster, { owner, pid, port }: OtherPostmaster): DataDirectoryInUse {
  const who = owner ? `by another Vintém, process ${owner}` : 'already'
  return new DataDirectoryInUse(
    `The data directory ${dataDir} is in use ${who} (with PostgreSQL as process ${pid} on port ` +
      `${port}). Stop that one, or choose another directory with DATA_DIR.`,
  )
}
