import assert from 'node:assert/strict'
import { chmodSync, copyFileSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { keysOf } from '../../src/lib/vault.ts'
import { makeAgeKeys } from '../backups/keys.ts'
import { makeShop, SECRET_KEY } from '../processes/several.ts'
import { startSteadyLoad } from '../processes/steady-load.ts'
import { vintemIn } from '../support/cli.ts'
import { cloneDatabase } from '../support/database.ts'
import { secretOf, startServer, temporaryFolder } from '../support/process.ts'

/**
 * "Rotate the secret" of docs/operating.md, step by step. It takes more than ten minutes, because
 * the command does: `TEST_TIMEOUT_MS=3600000 npm run test:long test/secrets/documented.long.test.ts`
 */
const ROOT = join(import.meta.dirname, '..', '..')
const NEXT = secretOf('the next one of the page')
const [OLD_ID, NEXT_ID] = [SECRET_KEY, NEXT].map(
  (text) => keysOf(Buffer.from(text, 'base64')).keyId,
)

/** The folder of the server and of commands; and another disk, as far as a test has one. */
const [home, elsewhere] = [temporaryFolder(), temporaryFolder()]
const vintem = vintemIn(home)
const present = join(home, 'secret.key')
const next = join(home, 'secret-next.key')

/** A secret of the service, and the copy that is kept elsewhere. */
function writeSecret(file: string, secret: string): void {
  for (const path of [file, file.replace(home, elsewhere)]) {
    writeFileSync(path, `${secret}\n`, { mode: 0o600 })
    chmodSync(path, 0o640)
  }
}

async function run(...args: string[]): Promise<string> {
  const { code, stdout, stderr } = await vintem(args, {})
  assert.equal(code, 0, `vintem ${args.join(' ')}: ${stdout}${stderr}`)
  return stdout
}

test('a secret is replaced by the steps of the page under load, and no request fails', async (t) => {
  const DATABASE_URL = await cloneDatabase()
  const { keys } = await makeShop(DATABASE_URL)
  const { recipient } = await makeAgeKeys(elsewhere)
  const backUp = (name: string, ...options: string[]) =>
    run('backup', join(elsewhere, name), '--recipient', recipient, ...options)
  const options = [
    `DATABASE_URL=${DATABASE_URL}`,
    `SECRET_KEY_FILE=${present}`,
    `DATA_DIR=${join(home, 'data')}`,
    'PUBLIC_URL=http://127.0.0.1',
    'ALLOW=http,mail-files',
    'PROCESSES=2',
  ]
  const writeOptions = (...more: string[]) =>
    writeFileSync(join(home, '.env'), `${[...options, ...more].join('\n')}\n`)
  const restart = async () =>
    assert.equal(await run('restart'), 'All processes are replaced.\n', 'vintem restart')

  writeSecret(present, SECRET_KEY)
  writeOptions()
  const start = `cd "${home}" && exec "${process.execPath}" "${join(ROOT, 'src/main.ts')}"`
  const server = await startServer({}, [], undefined, { command: ['sh', '-c', start] })
  await backUp('before', '--secret-copy', join(elsewhere, 'secret.key'))
  const load = startSteadyLoad(server.url, keys[0]!, 1)

  writeSecret(next, NEXT)
  writeOptions(`SECRET_KEY_NEXT_FILE=${next}`)
  await restart()
  const began_ms = performance.now()
  const rotated = await run('secret', 'rotate')
  assert.match(rotated, new RegExp(`Nothing is sealed with ${OLD_ID} any more: it can go`))
  const took_min = (performance.now() - began_ms) / 60_000
  copyFileSync(next, present)
  writeOptions()
  await restart()
  const { secrets } = JSON.parse(await run('secret', 'status', '--json'))
  const isUsed = ({ envelopes, servers }: Record<string, number>) => envelopes! + servers! > 0
  assert.deepEqual(
    secrets.filter(isUsed).map(({ id }: { id: string }) => id),
    [NEXT_ID],
  )
  rmSync(next)
  const nightly = ['backup', join(elsewhere, 'nightly'), '--recipient', recipient]
  assert.match((await vintem(nightly, {})).stderr, /show it once with --secret-copy/)
  await backUp('rotated', '--secret-copy', join(elsewhere, 'secret-next.key'))
  await run(...nightly)

  await load.end()
  t.diagnostic(
    `${load.answered()} requests, ${load.failed.length} failed, the slowest took ${load.slowest_ms().toFixed(0)} ms; the rotation ${took_min.toFixed(1)} min`,
  )
  assert.deepEqual(load.failed, [])
  assert.equal(readFileSync(present, 'utf8').trim(), NEXT)
})
