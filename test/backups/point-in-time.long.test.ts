import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { once } from 'node:events'
import { chmodSync, existsSync } from 'node:fs'
import { mkdir, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { setTimeout as pause } from 'node:timers/promises'
import { promisify } from 'node:util'
import {
  type Cluster,
  openCluster,
  readPassword,
  spawnProgram,
} from '../../src/db/embedded/cluster.ts'
import { stopPostmaster } from '../../src/db/embedded/postmaster.ts'
import { postgresBin } from '../patroni/packages.ts'
import { caller, payer } from '../support/api.ts'
import { vintemIn } from '../support/cli.ts'
import { freePort, secretOf, startServer, temporaryFolder } from '../support/process.ts'
import { at, copyServer, give, kill, type Replica, start, writeInto } from '../support/replicas.ts'
import { until } from '../support/until.ts'

const home = temporaryFolder()
const vintem = vintemIn(home)
const archive = join(home, 'archive')
// As root, PostgreSQL is another user, who has to reach the archive.
chmodSync(home, 0o711)
const common = {
  SECRET_KEY: secretOf('point in time'),
  PUBLIC_URL: 'http://127.0.0.1',
  DATA_DIR: join(home, 'data'),
}

const ARCHIVING = {
  fsync: 'off',
  archive_mode: 'on',
  archive_command: `test ! -f ${archive}/%f && cp %p ${archive}/%f`,
}

const servers: Replica[] = []
after(async () => {
  for (const { cluster, process } of servers) {
    if (process) await stopPostmaster(cluster, process.pid!)
  }
})

/** Debian's programs have pg_basebackup, as in the drill of the page. Ours do not. */
const bin = postgresBin()
const hasBaseBackup = bin !== undefined && existsSync(join(bin, 'pg_basebackup'))

/** Makes a cluster anew with Debian's initdb, because pg_basebackup is of its version. */
async function asDebian(cluster: Cluster): Promise<Cluster> {
  const { directory, passwordFile } = cluster
  const debian = { ...cluster, bin: bin! }
  await rm(directory, { recursive: true })
  await mkdir(directory, { mode: 0o700 })
  await give(directory, cluster)
  const how = ['-U', 'vintem', '-A', 'scram-sha-256', '--encoding=UTF8', '--locale=C.UTF-8']
  const args = (...places: string[]) => ['-D', places[0]!, `--pwfile=${places[1]}`, ...how]
  const initdb = spawnProgram(debian, 'initdb', [directory, passwordFile], args)
  const [code] = await once(initdb, 'close')
  assert.equal(code, 0, 'initdb')
  return debian
}

async function makeServer(place: string): Promise<Replica> {
  const ours = await openCluster(join(home, place), ARCHIVING)
  const cluster = hasBaseBackup ? await asDebian(ours) : ours
  const port = await freePort()
  const url = `postgres://vintem:${readPassword(cluster)}@127.0.0.1:${port}/vintem`
  const server: Replica = { cluster, url, port, process: null }
  servers.push(server)
  return server
}

/** Step 2 of the drill. */
async function baseBackup({ cluster, port }: Replica, to: Cluster): Promise<void> {
  await mkdir(to.directory, { mode: 0o700 })
  await give(to.directory, cluster)
  const { uid, gid } = cluster.account ?? {}
  const as = uid === undefined ? {} : { uid, gid }
  const where = ['-h', '127.0.0.1', '-p', String(port), '-U', 'vintem']
  const how = ['--pgdata', to.directory, '--checkpoint', 'fast']
  const env = { PGPASSWORD: readPassword(cluster) }
  await promisify(execFile)(join(bin!, 'pg_basebackup'), [...how, ...where], {
    ...as,
    env,
    cwd: '/',
  })
}

/** A server of PostgreSQL with the files of another, which recovers by the archive. */
async function makeCopy(of: Replica, place: string): Promise<Replica> {
  const dataDir = join(home, place)
  await mkdir(dataDir, { mode: 0o755 })
  const directory = join(dataDir, 'postgres')
  const log = join(dataDir, 'postgres.log')
  const port = await freePort()
  const url = of.url.replace(/:\d+\//, `:${port}/`)
  const cluster = { ...of.cluster, dataDir, directory, log }
  await (hasBaseBackup ? baseBackup(of, cluster) : copyServer(of, cluster))
  const server: Replica = { cluster, url, port, process: null }
  servers.push(server)
  return server
}

test('a database that was recovered to a moment serves from there, and knows what clients know of later', async (t) => {
  t.diagnostic(hasBaseBackup ? `pg_basebackup of ${bin}` : 'a copy between start and stop')
  const first = await makeServer('first')
  await mkdir(archive, { mode: 0o700 })
  await give(archive, first.cluster)
  await start(first)
  await at(first, 'create database vintem', 'postgres')

  const env = { ...common, DATABASE_URL: first.url }
  const server = await startServer({ ...env, ALLOW: 'http,mail-files' }, ['--role', 'api'])
  const args = 'company create --name Loja --tax-id 11222333000181 --email a@example.com --json'
  const made = await vintem(args.split(' '), env)
  assert.equal(made.code, 0, made.stderr)
  const { apiKey: key } = JSON.parse(made.stdout)
  const shopAt = (url: string) => {
    const call = caller(url)
    return async (method: string, path: string, json?: unknown) => {
      const options = json === undefined ? {} : { json }
      return call(method, path, { ...options, headers: { 'X-API-KEY': key } })
    }
  }
  const shop = shopAt(server.url)
  const sell = async () => {
    const reply = await shop('POST', '/charge/pix', { amount: 1990, customer: payer() })
    assert.equal(reply.status, 201, reply.text)
    return reply.body.data.id as string
  }
  const lastEvent = async () =>
    (await shop('GET', '/event?limit=100')).body.data.at(-1).id as string
  const ids = { before: [] as string[], wanted: [] as string[], lost: [] as string[] }

  for (let i = 0; i < 20; i++) ids.before.push(await sell())
  const second = await makeCopy(first, 'second')
  for (let i = 0; i < 20; i++) ids.wanted.push(await sell())
  const lastKept = await lastEvent()
  await pause(50)
  const [row] = await at<{ now: Date }>(first, 'select clock_timestamp() as now')
  const moment = row!.now.toISOString()
  await pause(50)
  for (let i = 0; i < 20; i++) ids.lost.push(await sell())
  const lastLost = await lastEvent()
  // What was not archived yet would be lost with the disk.
  const [wal] = await at<{ name: string }>(first, 'select pg_walfile_name(pg_switch_wal()) as name')
  await until('the log is archived', async () => {
    const [done] = await at<{ last: string }>(
      first,
      'select last_archived_wal as last from pg_stat_archiver',
    )
    return (done!.last ?? '') >= wal!.name
  })
  server.child.kill('SIGKILL')
  await server.ended
  await kill(first)

  const recovery = `restore_command = 'cp ${archive}/%f %p'
recovery_target_time = '${moment.replace('T', ' ').replace('Z', '+00')}'
recovery_target_action = 'promote'\n`
  await writeInto(second.cluster, 'postgresql.auto.conf', recovery)
  await writeInto(second.cluster, 'recovery.signal', '')
  const began_ms = performance.now()
  await start(second)
  await until('it accepts writes', async () => {
    const [state] = await at<{ waits: boolean }>(second, 'select pg_is_in_recovery() as waits')
    return !state!.waits
  })
  t.diagnostic(`PostgreSQL recovered in ${((performance.now() - began_ms) / 1000).toFixed(1)} s`)

  const now = { ...common, DATABASE_URL: second.url }
  const done = await vintem(['restore', '--recovered-to', moment, '--verify'], now)
  assert.equal(done.code, 0, done.stdout + done.stderr)
  t.diagnostic(done.stdout.trim().split('\n').at(-1)!)
  const again = await startServer({ ...now, ALLOW: 'http,mail-files' })
  const restored = shopAt(again.url)
  for (const id of [...ids.before, ...ids.wanted]) {
    assert.equal((await restored('GET', `/charge/${id}`)).status, 200, id)
  }
  for (const id of ids.lost) assert.equal((await restored('GET', `/charge/${id}`)).status, 404, id)
  const refused = await restored('GET', `/event?after=${lastLost}`)
  assert.equal(refused.status, 400)
  assert.match(refused.text, new RegExp(`Continue with after=${lastKept}`))
  t.diagnostic(`a client that is ahead is told: ${refused.body.errors[0].description}`)
  const { status } = await restored('POST', '/charge/pix', { amount: 700, customer: payer() })
  assert.equal(status, 201)
  const { body } = await restored('GET', `/event?after=${lastKept}`)
  assert.equal(body.data[0].data.charge.total, 700)

  // While servers use it, nobody takes it for one that was just recovered.
  const used = await vintem(['restore', '--recovered-to', moment], now)
  assert.match(used.stdout, /Verdict: NO\. Servers use this database/)
})
