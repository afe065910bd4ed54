import assert from 'node:assert/strict'
import { mkdirSync, mkdtempSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { open } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import pg from 'pg'
import { BEGINNING, type Beginning, ENDING } from '../../src/core/backups/format.ts'
import { openSample } from '../../src/core/backups/sealed.ts'
import { NOT_SAVED } from '../../src/core/backups/tables.ts'
import { requireSameSecret } from '../../src/core/installation.ts'
import { appsOf } from '../../src/core/places/front.ts'
import { migrate, readMigrations } from '../../src/db/migrate.ts'
import { openSealed, sealInto } from '../../src/lib/age-file.ts'
import { readTar, type TarFile, writeTar } from '../../src/lib/tar.ts'
import { createVault } from '../../src/lib/vault.ts'
import { LATEST } from '../../src/versions/history.ts'
import { prepare } from '../api/every-route.ts'
import { startApi } from '../support/api.ts'
import { openBanked } from '../support/bank.ts'
import { hostedVintemIn, vintemIn } from '../support/cli.ts'
import { emptyDatabase } from '../support/database.ts'
import { secretOf } from '../support/process.ts'
import { copySecret, makeAgeKeys } from './keys.ts'

const home = mkdtempSync(join(tmpdir(), 'vintem-backup-'))
after(() => rmSync(home, { recursive: true, force: true }))
const vintem = hostedVintemIn(home)
const keys = await makeAgeKeys(home)
const SECRET_KEY = secretOf('api')
const secretCopy = copySecret(home, SECRET_KEY)

/** What a stranger must not find in a backup, a log or a message. */
const CANARY = 'canario@segredo.example'

const api = await startApi()
const [client] = await prepare(api, LATEST.name)
await openBanked(api, { payouts: 'bank' })
await client.post('/charge/pix', {
  amount: 1990,
  customer: { name: 'Canário', taxId: '52998224725', email: CANARY, phone: '11988887777' },
})
for (const { db } of appsOf(api.app)) await requireSameSecret(db, api.app.vault)
await api.app.requestLog.idle()
await api.app.lateActivity.idle()

const common = { SECRET_KEY, PUBLIC_URL: 'https://pix.example.com', DATA_DIR: join(home, 'data') }
const source = { ...common, ...withoutEmpty(api.databases) }
const withKeys = ['--recipient', keys.recipient]
const opening = ['--identity', keys.identityFile]

function withoutEmpty(databases: Record<string, string>): Record<string, string> {
  return Object.fromEntries(Object.entries(databases).filter(([, url]) => url !== ''))
}

/** New databases, as many as there are places. */
async function newDatabases(count = api.places.length) {
  const urls: string[] = []
  for (let i = 0; i < count; i++) urls.push(await emptyDatabase())
  const named = urls.length === 1 ? { DATABASE_URL: urls[0]! } : { PLACES: urls.join(' ') }
  return { urls, env: { ...common, ...named } }
}

async function rows<R extends pg.QueryResultRow>(url: string, text: string): Promise<R[]> {
  const connection = new pg.Client({ connectionString: url })
  await connection.connect()
  try {
    return (await connection.query<R>(text)).rows
  } finally {
    await connection.end()
  }
}

let files = 0
const nextFile = () => join(home, `${files++}.vintem`)

async function backUp(env: Record<string, string> = source): Promise<string> {
  const file = nextFile()
  const done = await vintem(['backup', file, ...withKeys, '--secret-copy', secretCopy], env)
  assert.equal(done.code, 0, done.stderr)
  assert.doesNotMatch(done.stdout + done.stderr, /canario|Canário/)
  return file
}

const restore = (file: string, env: Record<string, string>, ...options: string[]) =>
  vintem(['restore', file, ...opening, ...options], env)

/** The digest of all rows of each table that is saved, in any order. */
async function digests(url: string): Promise<Record<string, string>> {
  const tables = await rows<{ name: string }>(
    url,
    `select relname as name from pg_class where relnamespace = current_schema()::regnamespace
       and relkind in ('r', 'p') and not relispartition
       and relname <> all ('{${NOT_SAVED}}') order by 1`,
  )
  const found: Record<string, string> = {}
  for (const { name } of tables) {
    const [row] = await rows<{ digest: string }>(
      url,
      `select count(*) || ' ' || coalesce(md5(string_agg(t::text, E'\\n' order by t::text)), '')
         as digest from ${name} t`,
    )
    found[name] = row!.digest
  }
  return found
}

/** What a restore changes by itself, and what the backup that it is of has added afterwards. */
const CHANGED = ['installation', 'activity', 'withdrawals', 'refunds', 'billings', 'person_links']

test('what is restored is what was saved, row by row, in every table', async () => {
  const before = await Promise.all(api.places.map(digests))
  const file = await backUp()
  const { urls, env } = await newDatabases()
  const restored = await restore(file, env, '--verify', '--resend')
  assert.equal(restored.code, 0, restored.stdout + restored.stderr)
  assert.match(restored.stdout, /Verdict: YES\. Everything is as it was at .*\n$/)
  assert.doesNotMatch(restored.stdout + restored.stderr, /canario|Canário/)
  for (const [i, url] of urls.entries()) {
    const found = await digests(url)
    assert.ok(Object.keys(found).length > 40, 'there are tables to compare')
    for (const name of CHANGED) delete found[name]
    const expected = { ...before[i] }
    for (const name of CHANGED) delete expected[name]
    assert.deepEqual(found, expected)
  }
})

test('a sample of what is sealed opens with the secret, and with no other', async () => {
  const vault = createVault(Buffer.from(SECRET_KEY, 'base64'))
  const sample = await openSample(api.app.db, vault)
  assert.deepEqual(sample.faults, [])
  assert.ok(sample.kinds >= 6, `${sample.kinds} kinds`)
  const other = await openSample(api.app.db, createVault(Buffer.alloc(32, 1)))
  assert.equal(other.opened, 0)
  assert.equal(other.faults.length, sample.kinds)
})

test('a backup is refused without encryption, and until a copy of the secret was shown', async () => {
  await rows(api.places[0]!, 'update installation set saved_secret_key_id = null')
  const refused = async (options: string[], message: RegExp, code = 1) => {
    const file = nextFile()
    const { code: found, stdout, stderr } = await vintem(['backup', file, ...options], source)
    assert.deepEqual({ code: found, stdout }, { code, stdout: '' })
    assert.match(stderr, message)
    assert.deepEqual(
      readdirSync(home).filter((name) => name.startsWith(`${files - 1}.`)),
      [],
    )
  }
  await refused([], /give either --recipient or --passphrase-file/, 2)
  await refused(['--recipient', 'age1wrong'], /must be a public key of age/)
  await refused(withKeys, /useless without the secret key [0-9a-f]{8}, which is not in it/)
  const wrong = join(home, 'wrong.key')
  writeFileSync(wrong, secretOf('another'))
  await refused([...withKeys, '--secret-copy', wrong], /is not the secret key [0-9a-f]{8}/)
  const short = join(home, 'short')
  writeFileSync(short, 'abc\n')
  await refused(['--passphrase-file', short], /at least 12 characters/)

  // Whoever has the secret in a file must show another one, in another folder.
  const own = { ...source, SECRET_KEY: '', SECRET_KEY_FILE: secretCopy }
  const same = ['backup', nextFile(), ...withKeys, '--secret-copy', secretCopy]
  assert.match((await vintem(same, own)).stderr, /this is the secret key itself, or beside it/)
  const folder = join(home, 'with-env')
  mkdirSync(folder)
  writeFileSync(join(folder, '.env'), `SECRET_KEY=${SECRET_KEY}\n`)
  const { SECRET_KEY: _, ...rest } = source
  const copyIn = (place: string) => ['--secret-copy', copySecret(place, SECRET_KEY)]
  const inFolder = (...options: string[]) =>
    vintemIn(folder)(['backup', nextFile(), ...withKeys, ...options], rest)
  const beside = await inFolder(...copyIn(folder))
  assert.match(beside.stderr, /this is the secret key itself, or beside it/)
  assert.match((await inFolder(...copyIn(home))).stdout, /is on the same disk as the secret key/)

  await backUp()
  const next = await vintem(['backup', nextFile(), ...withKeys], source)
  assert.equal(next.code, 0, 'it is asked for once')
})

test('a backup never replaces a file, and nobody else can read it', async () => {
  const file = await backUp()
  const again = await vintem(['backup', file, ...withKeys], source)
  assert.match(again.stderr, /exists already/)
  assert.equal(statSync(file).mode & 0o777, 0o600)
  assert.deepEqual(
    readdirSync(home).filter((name) => name.endsWith('.part')),
    [],
  )
})

test('a backup has neither the secret nor passwords, and settings otherwise', async () => {
  const env = { ...source, SMTP_URL: 'smtp://user:geheim@127.0.0.1:1', MAILS_PER_DAY: '12345' }
  const file = await backUp(env)
  const saved = await filesIn(file)
  const settings = saved.find(({ name }) => name === 'configuration.env')!.bytes.toString()
  assert.match(settings, /^MAILS_PER_DAY="12345"$/m)
  assert.match(settings, /^# SMTP_URL was set$/m)
  const all = Buffer.concat(saved.map(({ bytes }) => bytes))
  for (const secret of [SECRET_KEY, 'geheim', client.key, CANARY]) {
    assert.ok(!all.includes(secret), secret)
  }
})

const filesIn = (file: string): Promise<TarFile[]> =>
  Array.fromAsync(readTar(openSealed(file, { identities: [keys.identity] })))

/** A backup that somebody with the key has made of changed files. */
async function remade(file: string, change: (files: TarFile[]) => TarFile[]): Promise<string> {
  const changed = change(await filesIn(file))
  const path = nextFile()
  const handle = await open(path, 'wx')
  const source = async function* () {
    yield* changed
  }
  await sealInto(handle, { recipients: [keys.recipient] }, writeTar(source(), new Date()))
  await handle.close()
  return path
}

const withBeginning = (change: (beginning: Beginning) => void) => (files: TarFile[]) =>
  files.map((file) => {
    if (file.name !== BEGINNING) return file
    const beginning = JSON.parse(file.bytes.toString())
    change(beginning)
    return { ...file, bytes: Buffer.from(JSON.stringify(beginning)) }
  })

test('what cannot be restored is refused with its reason, and leaves an unused database', async () => {
  const file = await backUp()
  const { urls, env } = await newDatabases()
  const refused = async (path: string, own: Record<string, string>, reason: RegExp) => {
    const { code, stdout } = await restore(path, own, '--verify')
    assert.match(stdout, /^Verdict: NO\. .*\n$/)
    assert.match(stdout, reason)
    assert.equal(code, 1)
  }
  await refused(file, { ...env, SECRET_KEY: secretOf('another') }, /made with the secret key/)
  const otherKeys = await makeAgeKeys(mkdtempSync(join(home, 'other-')))
  const foreign = await vintem(['restore', file, '--identity', otherKeys.identityFile], env)
  assert.match(foreign.stdout, /^Verdict: NO\. The identity does not open this file/)
  await refused(
    file,
    (await newDatabases(api.places.length + 1)).env,
    /The backup has \d places?, and/,
  )
  await refused(file, source, /The database is not empty/)

  const last = readMigrations().at(-1)!
  const newer = withBeginning(({ migrations }) => {
    migrations.push({ ...migrations[0]!, version: last.version + 1, name: '9999_later.sql' })
  })
  await refused(await remade(file, newer), env, /with migration 9999_later.sql, which is newer/)
  const other = withBeginning(({ migrations }) => {
    migrations.at(-1)!.checksum = 'another'
  })
  await refused(await remade(file, other), env, /another history of Vintém/)

  const without = (left: (name: string) => boolean) =>
    remade(file, (all) => all.filter(({ name }) => !left(name)))
  await refused(await without((name) => name === ENDING), env, /not whole/)
  await refused(await without((name) => /\/events\//.test(name)), env, /not whole/)
  const changed = await remade(file, (all) =>
    all.map((one) =>
      /\/products\//.test(one.name)
        ? { ...one, bytes: Buffer.from(one.bytes.toString().replace('Bolo', 'Bola')) }
        : one,
    ),
  )
  await refused(changed, env, /The table products is not as it was saved/)

  for (const url of urls) {
    const [left] = await rows(url, 'select count(*)::int4 as companies from companies')
    assert.deepEqual(left, { companies: 0 })
  }
  assert.equal((await restore(file, env, '--verify')).code, 0, 'the same databases can be used')
})

test('a restore goes on where one was interrupted before a migration', async () => {
  const file = await backUp()
  for (const known of [[], readMigrations().slice(0, -2)]) {
    const { urls, env } = await newDatabases()
    for (const url of urls) await migrate(url, known)
    const { code, stdout } = await restore(file, env, '--verify')
    assert.equal(code, 0, stdout)
  }
})
