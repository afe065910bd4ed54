import type { ChildProcess } from 'node:child_process'
import { setTimeout as delay } from 'node:timers/promises'
import { OperatorFault } from '../../lib/operator-fault.ts'
import {
  type Cluster,
  isAlive,
  lastWords,
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
  closeToGuests,
  connect,
  createDatabase,
  orGone,
  readOwner,
  type Session,
  takeGuestLock,
  takeOwnerLock,
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
type Tenure = { postmaster: ChildProcess; port: number; lock: Session }

/** A postmaster in our directory that somebody else has started. */
type Rival = Postmaster & { state: 'evicted' | 'owned' | 'silent'; owner?: number | null }

type KeepOptions = {
  onRestart?: ((why: string) => void) | undefined
  beforeStop?: (lock: Session) => Promise<void>
}

// A command of the CLI may be about to end and leave the directory free.
const patienceWithOwner_ms = 3_000
// Replaying the log after a crash takes its time, and so does the last checkpoint of a shutdown.
const patienceWithSilence_ms = 60_000
const patienceWithNewcomer_ms = 10_000
const patienceWithGuests_ms = 5_000
const startAttempts = 7

/** Starts the database for a server, which has to be the only owner of its data directory. */
export async function startEmbedded(options: {
  dataDir: string
  settings?: Settings
  onRestart?: (why: string) => void
}): Promise<EmbeddedDatabase> {
  const cluster = await openCluster(options.dataDir, options.settings)
  const found = await claim(cluster, patienceWithOwner_ms)
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
      return { url, owned: true, stop: keep(cluster, found, { beforeStop: waitForGuests }) }
    }
    const guest = await visit(cluster, found)
    if (guest) return { url, owned: false, stop: () => leave(guest) }
    await delay(poll_ms)
  }
}

// A command that owns the database waits at its end for those who joined it. The lock is what
// makes this safe: nobody can join between its last look and the shutdown.
async function visit(cluster: Cluster, { port }: Rival): Promise<Session | undefined> {
  const session = await connect(cluster, port)
  if (!session) return undefined
  if (await orGone(takeGuestLock(session))) {
    session.unref()
    return session
  }
  await session.end()
  return undefined
}

// A session that does not keep node alive would not be waited for either.
function leave(guest: Session): Promise<void> {
  guest.ref()
  return guest.end()
}

async function waitForGuests(lock: Session): Promise<void> {
  lock.ref()
  await orGone(closeToGuests(lock, patienceWithGuests_ms))
}

/** Becomes the owner of the cluster, or says who still is when the patience is over. */
async function claim(cluster: Cluster, patience_ms: number): Promise<Tenure | Rival> {
  const began = performance.now()
  for (let failures = 0; ; ) {
    const waited_ms = performance.now() - began
    const rival = await challenge(cluster, waited_ms)
    if (rival?.state === 'owned' && waited_ms >= patience_ms) return rival
    if (rival?.state === 'silent' && waited_ms > patienceWithSilence_ms) throw inUse(cluster, rival)
    if (!rival || rival.state === 'evicted') {
      const tenure = await startCluster(cluster, await freePort())
      if (tenure) return tenure
      // Somebody took the port or was faster than us, or a killed postmaster's last processes
      // still hold its memory. The answer to each of them is to look again.
      if (++failures === startAttempts) throw doesNotStart(cluster)
    }
    await delay(rival ? 100 : 25 * 2 ** failures)
  }
}

/** Looks for a postmaster that is not ours, and stops it when its owner is dead. */
async function challenge(cluster: Cluster, waited_ms: number): Promise<Rival | undefined> {
  const rival = findPostmaster(cluster)
  const session = rival?.status === 'ready' ? await connect(cluster, rival.port) : undefined
  if (!rival || !session) return rival && { ...rival, state: 'silent' }
  try {
    const found = await orGone(readOwner(session))
    if (!found) return { ...rival, state: 'silent' }
    const { owner, isLocked } = found
    // Without an owner it was started by hand, by somebody who has a reason.
    if (isLocked || !owner) return { ...rival, state: 'owned', owner }
    // The owner may be about to take its lock. If it still has not after a while, it is a stranger
    // that got the number of a dead one.
    const isMovingIn = isAlive(owner) && waited_ms < patienceWithNewcomer_ms
    if (isMovingIn || !(await orGone(takeOwnerLock(session)))) return { ...rival, state: 'silent' }
    await stopPostmaster(cluster, rival.pid)
    return { ...rival, state: 'evicted' }
  } finally {
    await session.end()
  }
}

/** Starts a postmaster and takes its lock; undefined when it ends, or another was faster. */
async function startCluster(cluster: Cluster, port: number): Promise<Tenure | undefined> {
  const postmaster = await spawnPostmaster(cluster, port)
  try {
    while (!hasEnded(postmaster)) {
      const found = findPostmaster(cluster)
      const ready = found?.pid === postmaster.pid && found?.status === 'ready'
      const session = ready ? await connect(cluster, port) : undefined
      if (session) return await moveIn({ postmaster, port, lock: session })
      await delay(poll_ms)
    }
    return undefined
  } catch (fault) {
    await stopPostmaster(cluster, postmaster.pid!)
    throw fault
  }
}

// The database comes before the lock, so that whoever finds the lock taken finds a database too.
async function moveIn(tenure: Tenure): Promise<Tenure | undefined> {
  await orGone(createDatabase(tenure.lock))
  if (!(await orGone(takeOwnerLock(tenure.lock)))) {
    await tenure.lock.end()
    return undefined
  }
  // The session waits for nothing, and must not be the reason why the process does not end.
  tenure.lock.unref()
  return tenure
}

/**
 * Keeps the database running and its lock taken until the returned function is called. The lock's
 * session gives the alarm: it ends with the postmaster, and also when a crash inside PostgreSQL
 * makes the postmaster close every session and start over by itself.
 */
function keep(cluster: Cluster, first: Tenure, options: KeepOptions): () => Promise<void> {
  const report = options.onRestart ?? (() => {})
  let tenure = first
  let stopped: Promise<void> | undefined
  let recovery = Promise.resolve()
  const watch = () => {
    tenure.lock.once('end', () => {
      if (!stopped) recovery = recover()
    })
  }
  const recover = async () => {
    const renewed = await renew(cluster, tenure, () => !stopped, report)
    if (!renewed) return
    tenure = renewed
    watch()
  }
  const stop = async () => {
    await recovery
    await options.beforeStop?.(tenure.lock)
    await stopPostmaster(cluster, tenure.postmaster.pid!)
    await tenure.lock.end()
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
  old: Tenure,
  isWanted: () => boolean,
  report: (why: string) => void,
): Promise<Tenure | undefined> {
  for (let pause_ms = poll_ms; isWanted(); pause_ms = Math.min(2 * pause_ms, 1_000)) {
    const renewed = await renewOnce(cluster, old).catch((fault: Error) => fault)
    if (renewed && !(renewed instanceof Error)) {
      if (hasEnded(old.postmaster)) report(`${fateOf(old)} and has been started again`)
      return renewed
    }
    // There is no good moment to give up: a full disk gets emptied, and then this works again.
    if (pause_ms === 640) {
      const reason = renewed?.message ?? lastWords(cluster)
      report(`${fateOf(old)} and is not back so far: ${reason}`)
    }
    await delay(pause_ms)
  }
  return undefined
}

async function renewOnce(cluster: Cluster, old: Tenure): Promise<Tenure | undefined> {
  if (hasEnded(old.postmaster)) {
    return findPostmaster(cluster) ? undefined : startCluster(cluster, old.port)
  }
  const lock = await connect(cluster, old.port)
  return lock && moveIn({ ...old, lock })
}

function findPostmaster(cluster: Cluster): Postmaster | undefined {
  const recorded = readPostmaster(cluster)
  return recorded && isPostmaster(cluster, recorded.pid) ? recorded : undefined
}

function hasEnded(postmaster: ChildProcess): boolean {
  return postmaster.exitCode !== null || postmaster.signalCode !== null
}

function fateOf({ postmaster }: Tenure): string {
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
    `PostgreSQL does not start in ${directory}: ${lastWords(cluster)} See ${log}. If its files are ` +
      'damaged, restore them from a backup, or choose another DATA_DIR to begin anew.',
  )
}

function inUse({ dataDir }: Cluster, { owner, pid, port }: Rival): DataDirectoryInUse {
  const who = owner ? `by another Vintém, process ${owner}` : 'already'
  return new DataDirectoryInUse(
    `The data directory ${dataDir} is in use ${who} (with PostgreSQL as process ${pid} on port ` +
      `${port}). Stop that one, or choose another directory with DATA_DIR.`,
  )
}
