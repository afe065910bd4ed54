import { userInfo } from 'node:os'
import { createApp } from '../app.ts'
import { type Config, loadConfig } from '../config.ts'
import type { Author } from '../core/activity/rules.ts'
import { waitUntilApplied, waitUntilAppliedAt } from '../core/companies/announce.ts'
import type { FullApp, FullFront } from '../core/full-app.ts'
import { locate } from '../core/places/directory.ts'
import { appsOf } from '../core/places/front.ts'
import { preparePlaces } from '../core/places/prepare.ts'
import { type Database, openDatabase } from '../db/database.ts'
import { databaseFault } from '../db/database-fault.ts'
import { attachEmbedded } from '../db/embedded/embedded.ts'
import { spanPlaces } from '../db/spanning.ts'
import { systemClock } from '../lib/clock.ts'
import { isUuid } from '../lib/ids.ts'
import { createLog } from '../lib/log.ts'
import { createVault, type Vault } from '../lib/vault.ts'
import { addressOfServer } from '../running.ts'

export type Connection = {
  url: string
  db: Database
  /** Of all places, the first one first. */
  urls: string[]
  databases: Database[]
  /** The URL of the service. In local mode it is that of the running server. */
  publicUrl: string
  close(): Promise<void>
}

const INTERRUPTED = 130
const NOT_CONFIRMED = 'A running server has not confirmed this yet; it will within ten seconds.\n'

/** Connects to the database. If the command is interrupted, stops the PostgreSQL it started. */
export function openConnection(config: Config): Promise<Connection> {
  const opening = open(config)
  const stop = () => opening.then(({ close }) => close()).finally(() => process.exit(INTERRUPTED))
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.once(signal, stop)
  return opening
}

async function open(config: Config): Promise<Connection> {
  const { databaseUrl, dataDir } = config
  const embedded = databaseUrl ? null : await attachEmbedded({ dataDir })
  const url = databaseUrl ?? embedded!.url
  const urls = [url, ...config.otherPlaces]
  const databases = openPlaces(urls)
  let closing: Promise<void> | undefined
  const close = () => {
    closing ??= Promise.all(databases.map((db) => db.end())).then(() => embedded?.stop())
    return closing
  }
  try {
    // Connect once here, because this fails at once, and a statement would wait and retry.
    const { release } = await databases[0]!.connect()
    release()
    // If this command has started the database, no server is running.
    const publicUrl = (embedded?.owned ? null : addressOfServer(config)) ?? config.publicUrl
    return { url, db: databases[0]!, urls, databases, publicUrl, close }
  } catch (error) {
    await close()
    throw databaseFault(url, error, config.databaseSetting)
  }
}

function openPlaces(urls: string[]): Database[] {
  const opened = urls.map((url) => openDatabase(url, 2))
  if (opened.length === 1) return opened
  const control = opened[0]!
  const at = async (companyId: string) => opened[(await locate(opened, companyId)) ?? 0]!
  return opened.map((db) => spanPlaces(db, { control, at }))
}

/** Says which places do not answer, whose companies the command misses. */
async function prepare(
  { databaseSetting: setting }: Config,
  urls: string[],
  databases: Database[],
  vault: Vault,
): Promise<void> {
  const warn = (line: string) => process.stderr.write(`${line}\n`)
  for (const place of await preparePlaces(urls, databases, vault, { setting, warn })) {
    warn(`Place ${place} does not answer: its companies are missed.`)
  }
}

/** Which place a command is for: that of the company that was typed, or else the first. */
async function placeFor(databases: Database[], named: string | undefined): Promise<number> {
  const id = named?.toLowerCase()
  if (databases.length === 1 || id === undefined || !isUuid(id)) return 0
  return (await locate(databases, id)) ?? 0
}

export type Session = {
  /** Of the place of the company that the command names. */
  db: Database
  /** Of all places, the first one first. */
  databases: Database[]
  urls: string[]
  vault: Vault
  /** Waits until every running server has applied a change. If one has not, returns a notice. */
  waitForServers(): Promise<string>
}

/**
 * Runs a command with a migrated database that was set up with our secret, and then closes it. If
 * it is about a company, `named` is its id as it was typed.
 */
export async function withDatabase<R>(
  act: (session: Session) => Promise<R>,
  named?: string,
): Promise<R> {
  const config = loadConfig()
  const vault = createVault(config.secretKey, config.secretKeyNext)
  const { urls, databases, close } = await openConnection(config)
  try {
    await prepare(config, urls, databases, vault)
    const place = await placeFor(databases, named)
    const db = databases[place]!
    const wait = () => waitForServers(urls[place]!)
    return await act({ db, databases, urls, vault, waitForServers: wait })
  } finally {
    await close()
  }
}

/** Runs a command with a whole app, for commands that need more than the database. */
export async function withApp<R>(act: (app: FullFront) => Promise<R>, named?: string): Promise<R> {
  const config = loadConfig()
  const { url, urls, databases, publicUrl, close } = await openConnection(config)
  const log = createLog('silent')
  const front = createApp({ config, databaseUrl: url, clock: systemClock, log, publicUrl })
  try {
    await prepare(config, urls, databases, front.vault)
    const app = appsOf(front)[await placeFor(databases, named)]!
    return await act({ ...app, places: front.places })
  } finally {
    for (const { providers, db } of appsOf(front)) {
      await providers.bacen.close()
      await db.end()
    }
    await close()
  }
}

async function waitForServers(url: string): Promise<string> {
  return (await waitUntilAppliedAt(url)) ? '' : NOT_CONFIRMED
}

/** The same as `waitForServers`, for a command that has an app. */
export const waitForServersOf = async ({ db }: FullApp): Promise<string> =>
  (await waitUntilApplied(db)) ? '' : NOT_CONFIRMED

/** Whoever runs this command, for the activity log. */
export function commandAuthor(): Author {
  return { kind: 'command-line', id: null, name: userName(), address: null }
}

/** In a container the user may have no name. */
function userName(): string {
  try {
    return userInfo().username
  } catch {
    return 'unknown'
  }
}
