import type pg from 'pg'
import { nameOf, splitHosts } from './address.ts'
import { cut, NoPrimary } from './away.ts'
import { type ClientConfig, type Connections, PrimaryClient } from './primary-client.ts'
import { waitInSteps } from './steps.ts'

/** The servers that a DATABASE_URL names, of which one accepts writes. */
export type Servers = {
  /** Their addresses, which differ in host and port alone. */
  urls: string[]
  /** Its connections lead to the server that accepts writes, whichever address they are given. */
  Client: typeof pg.Client
  /** How many connections are open, or being opened, in this process. */
  count(): number
  /** Ends all connections that were begun before this moment of `performance.now()`. */
  cutBefore(moment_ms: number): void
  /** Whether the standby may lack what the server shows, and has confirmed no later commit. */
  isInDoubt(): boolean
  /** If a standby confirms commits, it may lack some that were carried out. */
  lost(): void
  /** Calls `act` with each doubt. What it returns ends that. */
  onDoubt(act: () => void): () => void
  /** Whether commits wait for a standby. */
  setReplicated(isReplicated: boolean): void
  /** To be called before a commit. What it returns is to be called when that is confirmed. */
  beginConfirming(): () => void
}

const known = new Map<string, Servers>()

/** Whoever uses an address in this process shares what is known of its servers. */
export function serversOf(url: string): Servers {
  const found = known.get(url) ?? createServers(splitHosts(url))
  known.set(url, found)
  return found
}

/** A connection of its own to the server that accepts writes. */
export function createClient(url: string, config: pg.ClientConfig): pg.Client {
  const { urls, Client } = serversOf(url)
  return new Client({ ...config, connectionString: urls[0]! })
}

function createServers(urls: string[]): Servers {
  const all = new Set<PrimaryClient>()
  const acts = new Set<() => void>()
  let [isReplicated, doubts, confirmed] = [false, 0, 0]
  const doubt = () => {
    doubts += 1
    for (const act of acts) act()
  }
  const lost = () => {
    if (isReplicated) doubt()
  }
  const finder = createFinder(urls, (url) => {
    const own: Connections = { all, doubt, lost() {}, find: async () => url, failed() {} }
    return new PrimaryClient({ ...SEARCH, connectionString: url }, own)
  })
  const connections: Connections = { all, doubt, lost, ...finder }
  class Client extends PrimaryClient {
    constructor(config?: string | pg.ClientConfig) {
      super(config as ClientConfig, connections)
    }
  }
  return {
    urls,
    Client,
    count: () => all.size,
    cutBefore(moment_ms) {
      for (const client of all) if (client.begun_ms <= moment_ms) client.abandon(cut())
      for (const url of urls) finder.failed(url)
    },
    isInDoubt: () => doubts > confirmed,
    lost,
    onDoubt(act) {
      acts.add(act)
      return () => acts.delete(act)
    },
    setReplicated(value) {
      const isNew = value && !isReplicated
      isReplicated = value
      // Nobody knows whether the standby has what was committed before.
      if (isNew) doubt()
    },
    beginConfirming() {
      const earlier = doubts
      return () => {
        confirmed = Math.max(confirmed, earlier)
      }
    },
  }
}

const SEARCH = { application_name: 'vintem search', connectionTimeoutMillis: 5_000 }
/** How much longer than the first a server may take to answer. One that is off never does. */
const OTHERS_MS = 1_000

/** Finds the server that accepts writes, and remembers it until a connection fails. */
function createFinder(urls: string[], clientAt: (url: string) => PrimaryClient) {
  let primary: string | null = null
  let searching: Promise<string> | undefined
  const searchOnce = async () => {
    try {
      primary = await search(urls, clientAt)
      return primary
    } finally {
      searching = undefined
    }
  }
  return {
    async find(): Promise<string | null> {
      if (primary !== null || urls.length === 1) return primary
      searching ??= searchOnce()
      return searching
    },
    failed(url: string): void {
      if (primary === url) primary = null
    },
  }
}

/** Asks all servers at once. The first that accepts writes is the one. */
async function search(urls: string[], clientAt: (url: string) => PrimaryClient): Promise<string> {
  const reasons = new Map(urls.map((url) => [nameOf(url), new Error('timeout expired')]))
  const clients = urls.map(clientAt)
  const asked = clients.map(async (client, i) => {
    const url = urls[i]!
    try {
      await client.connect()
      return url
    } catch (error) {
      reasons.set(nameOf(url), error as Error)
      throw error
    }
  })
  const over = new AbortController()
  const first = Promise.race(asked.map((one) => one.catch(() => null)))
  const late = first.then(() => waitInSteps(OTHERS_MS, over.signal)).then(() => null)
  const found = Promise.any(asked).catch(() => null)
  const url = await Promise.race([found, late])
  over.abort()
  for (const client of clients) client.abandon(cut())
  if (url === null) throw new NoPrimary(new Map(reasons))
  return url
}
