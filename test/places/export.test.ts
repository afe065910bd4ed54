import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { text } from 'node:stream/consumers'
import { test } from 'node:test'
import { moveCompany } from '../../src/core/moves/move.ts'
import { payer, startApi } from '../support/api.ts'
import { CLI } from '../support/cli.ts'
import { inherited, temporaryFolder } from '../support/process.ts'

/** More than fits between two processes, so an export waits for its reader. */
const MANY = 6_000

const api = await startApi({}, { places: 2 })

test('an export fails if its company is moved meanwhile', async () => {
  const client = await api.client()
  const { id } = client.company
  await client.post('/charge/pix', { amount: 1990, customer: payer() })
  await api.rows(
    `insert into charges (company_id, id, kind, amount, status, payment_status, dev_mode, br_code,
       created_at, expires_at)
     select company_id, gen_random_uuid(), kind, amount, status, payment_status, dev_mode, br_code,
       created_at, expires_at from charges, generate_series(2, $2::int) where company_id = $1`,
    [id, MANY],
  )
  const days = ['--from', '2026-08-01', '--to', '2026-08-31']
  const child = spawn(process.execPath, [CLI, 'export', 'charges', '--company', id, ...days], {
    cwd: temporaryFolder(),
    env: {
      ...inherited,
      ...api.databases,
      SECRET_KEY: api.app.config.secretKey.toString('base64'),
    },
  })
  const [closed, complaint] = [once(child, 'close'), text(child.stderr)]
  await once(child.stdout, 'readable')
  await moveCompany({ companyId: id, urls: api.places, from: 2, to: 1, workers_ms: 0, grace_ms: 0 })
  const lines = (await text(child.stdout)).split('\r\n').length - 2
  const [code] = await closed
  assert.ok(lines < MANY, `${lines} of ${MANY} charges are written`)
  assert.deepEqual(
    [code, await complaint],
    [1, 'The company was moved while it was exported: run the command again.\n'],
  )
})
