import assert from 'node:assert/strict'
import { type ChildProcess, execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import {
  chownSync,
  createWriteStream,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  writeFileSync,
} from 'node:fs'
import { connect, createServer, type Socket } from 'node:net'
import { join } from 'node:path'
import { after } from 'node:test'
import { promisify } from 'node:util'
import pg from 'pg'
import { temporaryFolder } from '../support/process.ts'
import { until } from '../support/until.ts'
import { postgresBin } from './packages.ts'

const run = promisify(execFile)
const DEPLOY = join(import.meta.dirname, '..', '..', 'deploy', 'patroni')

/** Three machines, each with an address of the loopback of its own. */
const MACHINES = { db1: '127.0.1.1', db2: '127.0.1.2', witness: '127.0.1.3' }
export type Name = 'db1' | 'db2'
const DATABASES: Name[] = ['db1', 'db2']

const PASSWORDS = {
  RESTAPI_PASSWORD: 'restapi',
  SUPERUSER_PASSWORD: 'superuser',
  REPLICATION_PASSWORD: 'replication',
  REWIND_PASSWORD: 'rewind',
  VINTEM_PASSWORD: 'vintem',
}

export type PatroniCluster = {
  /** What DATABASE_URL names. */
  url: string
  /** The address of haproxy, which leads to the primary. */
  proxyUrl: string
  /** Makes a database on the leader as docs/operating.md does for a restore; gives its address. */
  makeDatabase(name: string): Promise<string>
  primary(): Promise<Name>
  other(name: Name): Name
  /** Waits until one is the primary, and the other its synchronous standby. */
  whole(): Promise<Name>
  switchOver(): Promise<void>
  /** Kills PostgreSQL and Patroni of a machine with -9. */
  kill(name: Name): void
  start(name: Name): void
  /** Stops all processes of a machine, as if it hung, or lets them go on. */
  signal(name: Name, signal: 'SIGSTOP' | 'SIGCONT'): void
  /** Keeps Patroni of a machine from etcd, or lets it reach it again. */
  cut(name: Name, isCut: boolean): void
  /** What Patroni of both machines has logged. */
  log(): string
}

/** The files of deploy/patroni, as the recipe has an operator fill them in. */
function filled(file: string, name: string, others: Record<string, string> = {}): string {
  let text = readFileSync(join(DEPLOY, file), 'utf8').replaceAll('THIS', name)
  for (const [machine, address] of Object.entries(MACHINES)) {
    text = text.replaceAll(`${machine}.internal`, address)
  }
  for (const [word, value] of Object.entries(PASSWORDS)) text = text.replaceAll(word, value)
  for (const [words, value] of Object.entries(others)) {
    assert(text.includes(words), `${file} has no ${words}`)
    text = text.replaceAll(words, value)
  }
  return text
}

async function hasVersion(machine: string): Promise<boolean> {
  try {
    const reply = await fetch(`http://${machine}:2379/version`)
    return ((await reply.json()) as { etcdcluster: string }).etcdcluster !== 'not_decided'
  } catch {
    return false
  }
}

type Account = { uid: number; gid: number } | Record<string, never>

/** PostgreSQL refuses to run as root. */
async function accountOfPostgres(): Promise<Account> {
  if (process.getuid?.() !== 0) return {}
  const [uid, gid] = await Promise.all(
    ['-u', '-g'].map(async (option) => Number((await run('id', [option, 'postgres'])).stdout)),
  )
  return { uid: uid!, gid: gid! }
}

export async function startPatroni(): Promise<PatroniCluster> {
  const folder = temporaryFolder()
  const account = await accountOfPostgres()
  const own = (path: string) => {
    mkdirSync(path, { recursive: true })
    if (account.uid !== undefined) chownSync(path, account.uid, account.gid)
    return path
  }
  own(folder)
  const children = new Map<string, ChildProcess>()
  const launch = (key: string, program: string, args: string[], env = {}, as = account) => {
    const log = createWriteStream(join(folder, `${key}.log`), { flags: 'a' })
    const child = spawn(program, args, {
      ...as,
      cwd: folder,
      env: { PATH: process.env.PATH, LC_ALL: 'C.UTF-8', HOME: folder, ...env },
      stdio: ['ignore', 'pipe', 'pipe'],
      detached: true,
    })
    child.stdout.pipe(log, { end: false })
    child.stderr.pipe(log, { end: false })
    children.set(key, child)
  }
  const directoryOf = (name: Name) => join(folder, name, 'data')
  const configOf = (name: Name) => join(folder, `${name}.yml`)
  const relays = Object.fromEntries(
    await Promise.all(DATABASES.map(async (name) => [name, await startRelay()] as const)),
  ) as Record<Name, Relay>

  function startEtcd(name: string): void {
    const lines = filled('etcd', name).matchAll(/^(ETCD_\w+)=(.*)$/gm)
    const env = Object.fromEntries([...lines].map(([, key, value]) => [key, value]))
    const data = own(join(folder, `etcd-${name}`))
    launch(`etcd-${name}`, '/usr/bin/etcd', [], { ...env, ETCD_DATA_DIR: data })
  }
  function writeConfig(name: Name): void {
    const etcd = 'hosts: 127.0.1.1:2379,127.0.1.2:2379,127.0.1.3:2379'
    const text = filled('patroni.yml', name, {
      '/var/lib/postgresql/15/vintem': directoryOf(name),
      '/usr/lib/postgresql/15/bin': postgresBin()!,
      '/var/lib/postgresql/patroni.pgpass': join(folder, name, 'pgpass'),
      '/var/run/postgresql': join(folder, name),
      // The network between this server and etcd is one that can be cut.
      [etcd]: `hosts: 127.0.0.1:${relays[name].port}\n  use_proxies: true`,
    })
    own(join(folder, name))
    writeFileSync(configOf(name), text)
  }
  const start = (name: Name) => launch(name, '/usr/bin/patroni', [configOf(name)])
  // The operator reaches etcd when a server does not.
  const control = join(folder, 'control.yml')
  writeFileSync(control, filled('patroni.yml', 'db1'))
  const ctl = async (...args: string[]) =>
    (await run('/usr/bin/patronictl', ['-c', control, ...args], { cwd: folder })).stdout
  after(async () => {
    for (const name of DATABASES) signalAll(name, 'SIGCONT')
    for (const [key, child] of children) {
      if (key === 'db1' || key === 'db2') await endChild(child)
    }
    for (const child of children.values()) await endChild(child)
    for (const relay of Object.values(relays)) relay.close()
  })

  for (const name of Object.keys(MACHINES)) startEtcd(name)
  // Patroni ends if etcd has not agreed on a version yet; systemd would start it again.
  await until('etcd has a version', () => hasVersion(MACHINES.witness))
  for (const name of DATABASES) writeConfig(name)
  for (const name of DATABASES) start(name)

  type Member = { Member: Name; Role: string; State: string }
  const members = async (): Promise<Member[]> => JSON.parse(await ctl('list', '-f', 'json'))
  const found = (role: RegExp) => async () => {
    const all = await members().catch(() => [])
    const is = ({ Role, State }: Member) => role.test(Role) && /running|streaming/.test(State)
    return all.find(is)?.Member ?? null
  }
  const primary = () => until('there is a primary', found(/^(Leader|Primary|Master)$/i))
  const whole = async () => {
    await until('there is a synchronous standby', found(/^Sync Standby$/i))
    return primary()
  }
  function pidsOf(name: Name): number[] {
    const child = children.get(name)
    return [...(child?.pid ? [child.pid] : []), ...processesIn(directoryOf(name))]
  }
  function signalAll(name: Name, signal: NodeJS.Signals): void {
    for (const pid of pidsOf(name)) {
      try {
        process.kill(pid, signal)
      } catch {
        // It has ended by itself.
      }
    }
  }
  const leader = await whole()
  await createDatabase(MACHINES[leader])
  const proxy = join(folder, 'haproxy.cfg')
  writeFileSync(
    proxy,
    filled('haproxy.cfg', 'witness').replaceAll('witness.internal', MACHINES.witness),
  )
  launch('haproxy', '/usr/sbin/haproxy', ['-db', '-f', proxy])
  const hosts = DATABASES.map((name) => `${MACHINES[name]}:5432`).join(',')
  const urlOf = (place: string, database = 'vintem') =>
    `postgres://vintem:${PASSWORDS.VINTEM_PASSWORD}@${place}/${database}`
  const other = (name: Name): Name => (name === 'db1' ? 'db2' : 'db1')
  return {
    url: urlOf(hosts),
    proxyUrl: urlOf(`${MACHINES.witness}:5000`),
    async makeDatabase(database) {
      const args = ['-h', join(folder, await primary()), '-O', 'vintem', database]
      await run(join(postgresBin()!, 'createdb'), args, { ...account, cwd: folder })
      return urlOf(hosts, database)
    },
    primary,
    other,
    whole,
    async switchOver() {
      const from = await primary()
      await ctl('switchover', '--force', '--leader', from, '--candidate', other(from))
    },
    kill(name) {
      // A machine loses all its processes at once: none sees another one end.
      signalAll(name, 'SIGSTOP')
      signalAll(name, 'SIGKILL')
    },
    start,
    signal: signalAll,
    cut: (name, isCut) => relays[name].cut(isCut),
    log: () => DATABASES.map((name) => readFileSync(join(folder, `${name}.log`), 'utf8')).join(''),
  }
}

async function endChild(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return
  const ended = once(child, 'exit')
  child.kill('SIGTERM')
  await ended
}

/** All processes of the PostgreSQL in a folder. */
function processesIn(directory: string): number[] {
  const isOurs = (pid: string): boolean => {
    try {
      return readlinkSync(`/proc/${pid}/cwd`) === directory
    } catch {
      return false
    }
  }
  const pids = readdirSync('/proc').filter((name) => /^\d+$/.test(name))
  return pids.filter(isOurs).map(Number)
}

async function createDatabase(host: string): Promise<void> {
  const client = new pg.Client({
    host,
    user: 'postgres',
    password: PASSWORDS.SUPERUSER_PASSWORD,
    database: 'postgres',
  })
  await client.connect()
  for (const statement of filled('database.sql', '').split(';')) {
    if (statement.trim()) await client.query(statement)
  }
  await client.end()
}

type Relay = { port: number; cut(isCut: boolean): void; close(): void }

/** A network between one server and etcd. If it is cut, it drops what both send. */
async function startRelay(): Promise<Relay> {
  const sockets = new Set<Socket>()
  let isCut = false
  const server = createServer((near) => {
    const far = connect(2379, MACHINES.witness)
    for (const [from, to] of [
      [near, far],
      [far, near],
    ] as const) {
      sockets.add(from)
      from.on('error', () => {})
      from.on('data', (chunk) => {
        if (!isCut) to.write(chunk)
      })
      from.on('close', () => {
        sockets.delete(from)
        if (!isCut) to.destroy()
      })
    }
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    port: (server.address() as { port: number }).port,
    cut(value) {
      isCut = value
      // What was lost meanwhile does not come later.
      if (!isCut) for (const socket of sockets) socket.destroy()
    },
    close() {
      server.close()
      for (const socket of sockets) socket.destroy()
    },
  }
}
