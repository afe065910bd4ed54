import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { type ClientRequest, request as open } from 'node:http'
import { createCompany, createKey } from '../../src/core/companies/commands.ts'
import { openDatabase } from '../../src/db/database.ts'
import { isAlive } from '../../src/db/embedded/cluster.ts'
import { createVault } from '../../src/lib/vault.ts'
import { LATEST } from '../../src/versions/history.ts'
import { type Running, secretOf, startServer, temporaryFolder } from '../support/process.ts'
import { until } from '../support/until.ts'

export const SECRET_KEY = secretOf('several processes')

type Line = {
  process?: string
  started?: string
  pid?: number
  reqId?: string
  msg?: string
  fault?: string
}

export type Several = Running & {
  /** Each line of the log that is JSON. */
  lines(): Line[]
  /** The process of this name that has begun last. */
  pidOf(name: string): number
  /** All that have ever begun, without the first, which starts the others. */
  pids(): number[]
  /** Resolves when this name has begun so many times. */
  untilStarted(name: string, times: number): Promise<void>
  /** The process that has answered a request. */
  answeredBy(reply: Response): Promise<string>
}

/** The real server with two processes that answer requests. */
export async function startSeveral(
  environment: Record<string, string>,
  root?: string,
): Promise<Several> {
  const DATA_DIR = temporaryFolder()
  const own = { DATA_DIR, SECRET_KEY, PROCESSES: '2', ...environment }
  const server = await startServer(own, [], undefined, root === undefined ? {} : { root })
  const parsed: Line[] = []
  let read = 0
  /** What has been parsed once is not parsed again: it is looked at every few milliseconds. */
  const lines = () => {
    const end = server.output().lastIndexOf('\n') + 1
    const texts = server.output().slice(read, end).split('\n')
    read = end
    for (const text of texts) if (/^\{.*\}$/.test(text)) parsed.push(JSON.parse(text))
    return parsed
  }
  const startsOf = (name: string) => lines().filter(({ started }) => started === name)
  const found: Several = {
    ...server,
    lines,
    pidOf: (name) => startsOf(name).at(-1)!.pid!,
    pids: () => lines().flatMap(({ started, pid }) => (started ? [pid!] : [])),
    async untilStarted(name, times) {
      await until(`${name} is started`, () => startsOf(name).length >= times)
    },
    answeredBy: (reply) =>
      until('the request is in the log', () => {
        const id = reply.headers.get('x-request-id')
        return lines().find(({ reqId }) => reqId === id)?.process ?? null
      }),
  }
  if (server.child.exitCode === null) {
    for (const name of ['api 1', 'api 2', 'worker']) await found.untilStarted(name, 1)
  }
  return found
}

/** Resolves when none of these processes is left. */
export async function untilGone(pids: number[]): Promise<void> {
  await until('the processes have ended', () => !pids.some(isRunning))
}

/** In a container nobody may collect a process that has ended: then it is a zombie. */
function isRunning(pid: number): boolean {
  if (process.platform !== 'linux') return isAlive(pid)
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8')
    return !stat.slice(stat.lastIndexOf(')')).startsWith(') Z')
  } catch {
    return false
  }
}

/** A company with keys in a database that no server of this process uses. */
export async function makeShop(databaseUrl: string, keys = 1) {
  const db = openDatabase(databaseUrl, 2)
  const vault = createVault(Buffer.from(SECRET_KEY, 'base64'))
  const now = new Date()
  const made = await db.transaction(async (tx) => {
    const fields = { name: 'Padaria', taxId: '11222333000181', email: 'dona@example.com' }
    const given = { ...fields, mode: 'sandbox', apiVersion: LATEST.name } as const
    const company = await createCompany(tx, given, now)
    const texts: string[] = []
    for (let n = 0; n < keys; n++) {
      texts.push((await createKey(tx, vault, company, { name: 'test' }, now)).text)
    }
    return { company, keys: texts }
  })
  await db.end()
  return made
}

// biome-ignore lint/suspicious/noExplicitAny: a test asserts what it expects of a body
type Any = any

/** Sends a request over a connection of its own. */
export async function send(
  url: string,
  key: string,
  [method, path]: [method: string, path: string],
  json?: unknown,
  headers: Record<string, string> = {},
): Promise<{ reply: Response; status: number; body: Any }> {
  const reply = await fetch(url + path, {
    method,
    headers: { 'X-API-KEY': key, 'Content-Type': 'application/json', ...headers },
    ...(json !== undefined && { body: JSON.stringify(json) }),
  })
  const text = await reply.text()
  return { reply, status: reply.status, body: text.startsWith('{') ? JSON.parse(text) : text }
}

export type Stream = {
  status: number
  text(): string
  ended: Promise<unknown>
  asking: ClientRequest
}

/** Opens the stream of a page, and reads it on. */
export async function openStream(
  url: string,
  headers: Record<string, string> = {},
): Promise<Stream> {
  const asking = open(url, { headers, agent: false }).on('error', () => {})
  asking.end()
  const [reply] = (await once(asking, 'response')) as [import('node:http').IncomingMessage]
  let text = ''
  reply.on('data', (chunk) => {
    text += chunk
  })
  reply.on('error', () => {})
  const ended = new Promise((resolve) => reply.once('close', resolve))
  return { status: reply.statusCode!, text: () => text, ended, asking }
}
