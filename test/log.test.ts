import assert from 'node:assert/strict'
import { closeSync, existsSync, openSync } from 'node:fs'
import { test } from 'node:test'
import { cloneDatabase } from './support/database.ts'
import { isLong, longTest } from './support/long.ts'
import { secretOf, spawnServer } from './support/process.ts'
import { until } from './support/until.ts'

const SECRET_KEY = secretOf('log')
const API_KEY = { headers: { 'X-API-KEY': 'unknown' } }

const REQUESTS = isLong ? 1_200 : 600

type Reader = { stdout: number | 'pipe'; isGone?: boolean }

/** Serves until its log holds more than a pipe takes (64 KiB), and stops. */
async function serveAndStop({ stdout, isGone = false }: Reader): Promise<void> {
  const DATABASE_URL = await cloneDatabase()
  const { child, url, ended } = await spawnServer({ DATABASE_URL, SECRET_KEY }, { stdout })
  const health = () => fetch(`${url}/health`).catch(() => null)
  await until('the server answers', async () => (await health())?.ok ?? false)
  if (isGone) child.stdout!.destroy()
  for (let sent = 0; sent < REQUESTS; sent += 100) {
    const ask = async () => (await fetch(`${url}/charge/x`, API_KEY)).status
    const statuses = await Promise.all(Array.from({ length: 100 }, ask))
    assert.deepEqual([...new Set(statuses)], [401])
  }
  assert.equal((await health())?.status, 200)
  child.kill('SIGTERM')
  assert.equal(await ended, 0)
}

const noFull = !existsSync('/dev/full') && 'this system has no /dev/full'

longTest(
  'a full disk under the log loses lines, not service, and SIGTERM ends it',
  async () => {
    const full = openSync('/dev/full', 'w')
    await serveAndStop({ stdout: full })
    closeSync(full)
  },
  { skip: noFull },
)

longTest('a log whose reader is gone loses lines, not service, and SIGTERM ends it', () =>
  serveAndStop({ stdout: 'pipe', isGone: true }),
)

test('a log whose reader no longer reads loses lines, not service, and SIGTERM ends it', () =>
  serveAndStop({ stdout: 'pipe' }))
