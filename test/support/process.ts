import { type ChildProcess, spawn } from 'node:child_process'
import { createHash, randomInt } from 'node:crypto'
import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after } from 'node:test'
import { Agent, setGlobalDispatcher } from 'undici'

const ROOT = join(import.meta.dirname, '..', '..')

/** What a process of ours is given of this one's environment: its PATH, and what is compiled. */
const { PATH = '', NODE_COMPILE_CACHE = '' } = process.env
export const inherited = { PATH, NODE_COMPILE_CACHE }

/** A server on this machine without the limits that tests would meet. */
export const UNLIMITED = {
  RATE_LIMIT: 'off',
  CODE_MAILS_PER_HOUR: '1000',
  CODE_MAILS_PER_DAY: '1000',
  MAILS_PER_RECIPIENT: '10000000',
  ALLOW: 'http,mail-files',
}

/** A secret key as a real one is: nobody could guess it. */
export const secretOf = (name: string): string => createHash('sha256').update(name).digest('base64')

const folders: string[] = []
// After everything else: a database is stopped before its files go.
process.on('exit', () => {
  for (const folder of folders) rmSync(folder, { recursive: true, force: true })
})

export function temporaryFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'vintem-test-'))
  folders.push(folder)
  return folder
}

/**
 * A port that stays free until a server listens on it: neither connections of other tests nor
 * embedded databases get one in this range. Browsers and fetch refuse 10080, which is below it.
 */
export async function freePort(): Promise<number> {
  const port = randomInt(11_000, 20_000)
  const server = createServer().listen(port, '127.0.0.1')
  const isFree = await once(server, 'listening').then(
    () => true,
    () => false,
  )
  if (!isFree) return freePort()
  server.close()
  await once(server, 'close')
  return port
}

export type Running = {
  child: ChildProcess
  url: string
  output(): string
  /** Waits for the end and gives the exit code. */
  ended: Promise<number | null>
}

/** Closes each connection after its answer. */
const closing = new Agent({ pipelining: 0 })

type Spawning = {
  options?: string[]
  /** Where its log goes. */
  stdout?: number | 'pipe'
  /** In place of `node src/main.ts`. */
  command?: string[]
  /** The folder of another version, whose server is started. */
  root?: string
  uid?: number
}

/** The real server in a process of its own, which may not serve yet. */
export async function spawnServer(
  environment: Record<string, string>,
  { options = [], stdout = 'pipe', command, root = ROOT, uid }: Spawning = {},
): Promise<Pick<Running, 'child' | 'url' | 'ended'>> {
  // What fetch would keep open holds up a server's end for as long as clients may need to notice.
  setGlobalDispatcher(closing)
  const port = environment.PORT ?? String(await freePort())
  const [program, ...args] = command ?? [process.execPath, join(root, 'src/main.ts')]
  const child = spawn(program!, [...args, ...options], {
    cwd: command ? ROOT : temporaryFolder(),
    env: { ...inherited, ...UNLIMITED, ...environment, PORT: port },
    stdio: ['ignore', stdout, 'pipe'],
    ...(uid !== undefined && { uid, gid: uid }),
  })
  // The last of its output may come after its exit.
  const ended = once(child, 'close').then(([code]) => code as number | null)
  after(async () => {
    child.kill('SIGTERM')
    await ended
  })
  return { child, url: `http://127.0.0.1:${port}`, ended }
}

/** The real server in a process of its own. Resolves when it serves, or has ended. */
export async function startServer(
  environment: Record<string, string>,
  options: string[] = [],
  onSpawn: (child: ChildProcess) => void = () => {},
  spawning: Spawning = {},
): Promise<Running> {
  const { child, url, ended } = await spawnServer(environment, { ...spawning, options })
  onSpawn(child)
  let text = ''
  const served = new Promise<void>((resolve) => {
    for (const stream of [child.stdout!, child.stderr!]) {
      stream.on('data', (chunk) => {
        text += chunk
        if (/Vintém is running/.test(text)) resolve()
      })
    }
  })
  await Promise.race([served, ended])
  return { child, url, output: () => text, ended }
}

export type Sandbox = { companyId: string; apiKey: string; url: string }

export const readSandbox = (dataDir: string): Sandbox =>
  JSON.parse(readFileSync(join(dataDir, 'sandbox.json'), 'utf8'))
