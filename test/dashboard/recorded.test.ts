import assert from 'node:assert/strict'
import { test } from 'node:test'
import { forEachLimited } from '../../src/lib/for-each-limited.ts'
import { ROUTES } from '../../src/web/dashboard/routes.ts'
import { startApi } from '../support/api.ts'
import { signIn } from '../support/dashboard.ts'
import { makeRecords, pathOf } from '../support/dashboard-records.ts'
import { isLong } from '../support/long.ts'

const api = await startApi()

/** What forms ask for, so that most of them do something. */
const FORM = {
  amount: '10,00',
  value: '1,00',
  total: '10,00',
  name: 'Ana',
  email: 'ana@example.com',
  taxId: '529.982.247-25',
  city: 'Recife',
  color: '#0f766e',
  language: 'pt',
  role: 'viewer',
  description: 'x',
  comment: 'x',
  price: '1,00',
  type: 'ONE_TIME',
  url: 'http://127.0.0.1:9/other',
  otp: '000000',
  code: '000000',
  status: 'ACTIVE',
  version: '2025-01-01',
  'charge.paid': '1',
  'payments:read': '1',
}

/** What changes something that is not the person's decision. */
const EXCEPTIONS = [
  // A wrong code is refused, and counts as a try.
  '/balance/withdrawals/:id/confirm',
]

/** Tables that say nothing about what a person changed of the company: views are of one person. */
const OTHERS = /^(activity|saved_views|idempotency_keys|api_requests.*)$/

/** A hash of the rows of the company in each table. */
async function stateOf(companyId: string): Promise<Map<string, string>> {
  await api.app.lateActivity.idle()
  const tables = await api.rows<{ name: string }>(
    `select table_name as name from information_schema.columns
     where table_schema = current_schema() and column_name = 'company_id' order by 1`,
  )
  const states = tables.map(async ({ name }) => {
    const [row] = await api.rows<{ state: string }>(
      `select md5(string_agg((to_jsonb(t) - 'last_used_at')::text, '|' order by t::text)) as state
       from ${name} t where company_id = $1`,
      [companyId],
    )
    return [name, row!.state] as const
  })
  return new Map(await Promise.all(states))
}

async function newScene() {
  const client = await api.client()
  const owner = await signIn(api, client.company, { hasSecondFactor: true })
  return { client, owner, records: await makeRecords(api, client) }
}

/** Each form has records of its own. `npm test` sends all forms about the same ones. */
const scene = isLong ? null : newScene()

test('no form of the dashboard changes a company without an entry in its activity log', async () => {
  const changing: string[] = []
  const silent: string[] = []
  const routes = ROUTES.filter(
    ({ method, path }) => method === 'POST' && !EXCEPTIONS.includes(path),
  )
  await forEachLimited(scene ? 1 : 8, routes, async (route) => {
    const { client, owner, records } = await (scene ?? newScene())
    const path = pathOf(route, records)
    const before = await stateOf(client.company.id)
    await owner.post(path, FORM)
    const after = await stateOf(client.company.id)
    const changed = [...after].filter(([name, state]) => before.get(name) !== state)
    const names = changed.map(([name]) => name).filter((name) => !OTHERS.test(name))
    if (names.length === 0) return
    changing.push(route.path)
    if (before.get('activity') === after.get('activity')) silent.push(`${route.path}: ${names}`)
  })
  assert.deepEqual(silent, [])
  assert.ok(changing.length >= 10, `only ${changing.length} forms did something: ${changing}`)
})
