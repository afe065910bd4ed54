import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { Vintem } from '../../../packages/client/src/index.ts'
import { type LoggedRequest, partOf, STATUS_CLASSES } from '../../../src/core/request-log/rules.ts'
import {
  insertRequests,
  listRequests,
  MAX_SCANNED,
  pageQuery,
  type RequestFilter,
} from '../../../src/core/request-log/store.ts'
import { lowestIdAt, newId, suffixOf } from '../../../src/lib/ids.ts'
import { startApi } from '../../support/api.ts'
import { signIn } from '../../support/dashboard.ts'
import { isLong } from '../../support/long.ts'

const api = await startApi()
const { db } = api.app
const DAY_MS = 24 * 3600 * 1000
const ALL: RequestFilter = {
  status: null,
  operation: null,
  keyId: null,
  from: lowestIdAt(new Date(0)),
  before: null,
}
const client = await api.client()
const BUSY = client.company.id
const [OTHER, KEY, RARE_KEY] = [newId(), newId(), newId()]

/** Requests of the last 7 days, that have the fields by their numbers, the newest first. */
async function load(companyId: string, count: number, fields: string): Promise<void> {
  const now_ms = api.clock.now().getTime()
  const days = Array.from({ length: 8 }, (_, days) => new Date(now_ms - days * DAY_MS))
  const parts = days.map((at) => ({
    day: Math.floor(at.getTime() / DAY_MS),
    part: partOf({ id: lowestIdAt(at) }),
  }))
  await api.rows(
    `with r as (
       select n, $2::bigint - (n * $3::float8)::bigint as at_ms from generate_series(1, $4::int) n
     )
     insert into api_requests (company_id, id, part, ms, key_id, operation, status)
     select $1, (lpad(to_hex(at_ms), 12, '0') || '7000a' || lpad(to_hex(n), 15, '0'))::uuid,
       p.part, 3, ${fields}
     from r join jsonb_to_recordset($5) p (day bigint, part int) on p.day = at_ms / 86400000`,
    [companyId, now_ms, (7 * DAY_MS - 60_000) / count, count, JSON.stringify(parts)],
  )
}

const FILTERS: Partial<RequestFilter>[] = [
  {},
  { status: 'failed' },
  { status: 'refused' },
  { status: 'ok' },
  { operation: 'getCharge' },
  { operation: 'never' },
  { operation: 'createPixCharge' },
  { keyId: RARE_KEY },
  { keyId: newId() },
  { operation: 'createPixCharge', status: 'failed' },
  { operation: 'createPixCharge', keyId: RARE_KEY },
  { operation: 'getCharge', status: 'ok' },
  { operation: 'getCharge', status: 'refused', keyId: KEY },
  { status: 'refused', keyId: KEY },
  { status: 'ok', keyId: RARE_KEY },
]

type Plan = {
  'Node Type': string
  'Actual Rows': number
  'Actual Loops': number
  'Rows Removed by Filter'?: number
  'Rows Removed by Index Recheck'?: number
  Plans?: Plan[]
}

/** How many rows the plan has read from tables. */
function rowsRead(plan: Plan): number {
  const below = (plan.Plans ?? []).reduce((sum, one) => sum + rowsRead(one), 0)
  if (!/Scan/.test(plan['Node Type']) || plan['Node Type'] === 'Subquery Scan') return below
  const rows =
    plan['Actual Rows'] +
    (plan['Rows Removed by Filter'] ?? 0) +
    (plan['Rows Removed by Index Recheck'] ?? 0)
  return below + rows * plan['Actual Loops']
}

async function readFor(filter: RequestFilter): Promise<number> {
  const { query } = pageQuery(BUSY, filter, 100, MAX_SCANNED)
  return db.transaction(async (tx) => {
    await tx.query({ text: "select set_config('enable_sort', 'off', true)" })
    const [row] = await tx.query<{ 'QUERY PLAN': { Plan: Plan }[] }>({
      ...query,
      text: `explain (analyze, format json) ${query.text}`,
    })
    return rowsRead(row!['QUERY PLAN'][0]!.Plan)
  })
}

test('a page reads a bounded number of requests, whatever is looked for', async () => {
  const isRare = 'n > 199997'
  await load(
    BUSY,
    200_000,
    `case when ${isRare} then '${RARE_KEY}' else '${KEY}' end::uuid,
     case when ${isRare} then 'getCharge' else 'createPixCharge' end,
     case when n = 200000 then 500 when ${isRare} then 404 else 201 end`,
  )
  // Statistics count all companies: in most requests, other values are rare.
  await load(OTHER, 20_000, `'${RARE_KEY}', 'getCharge', 400 + n % 2 * 100`)
  const measure = async (when: string) => {
    for (const filter of FILTERS) {
      const read = await readFor({ ...ALL, ...filter })
      const name = `${JSON.stringify(filter)} ${when}`
      // Each part may be one row ahead.
      assert.ok(read <= MAX_SCANNED + 10, `${name} reads ${read} rows`)
      const isIndexed = Object.keys(filter).length < 2 && !filter.keyId
      if (isIndexed) assert.ok(read <= 120, `${name} reads ${read} rows`)
    }
  }
  await measure('without statistics')
  await api.rows('analyze api_requests')
  await measure('with statistics')
})

test('a rare request is found page by page by the client, and in the dashboard', async () => {
  const vintem = new Vintem({ url: api.url, key: client.key })
  const statuses: number[] = []
  for await (const { status } of vintem.requests.list({ keyId: RARE_KEY })) statuses.push(status)
  assert.deepEqual(statuses, [404, 404, 500])
  const [failed] = await vintem.requests.list({ status: 'FAILED' })
  assert.equal(failed!.operation, 'getCharge', 'it is on the first page')
  const ofOperation = await vintem.requests.list({ operation: 'getCharge' })
  assert.equal(ofOperation.length, 3, 'of a key that is not there any more')
  const developer = await signIn(api, client.company, { role: 'developer', language: 'en' })
  const page = await developer.get(`/developers/requests?key=${suffixOf(RARE_KEY)}`)
  assert.match(page.text, /Nothing was found so far/)
  assert.match(page.text, /Searched back to/)
  assert.match(page.text, /rel="next"/)
})

const OPERATIONS = ['getCharge', 'listCharges']
const KEYS = [KEY, RARE_KEY]
const any = <T>(...values: T[]) => fc.constantFrom(...values)

test('pages together have each request that matches once, in order', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.tuple(any(...OPERATIONS), any(...KEYS), any(201, 404, 500)), { maxLength: 40 }),
      fc.record({
        status: any<RequestFilter['status']>(null, 'ok', 'refused', 'failed'),
        operation: any(null, ...OPERATIONS),
        keyId: any(null, ...KEYS),
      }),
      fc.integer({ min: 1, max: 5 }),
      fc.integer({ min: 1, max: 7 }),
      async (fields, filter, limit, mostScanned) => {
        const companyId = newId()
        const all = fields.map(([operation, keyId, status], i) => ({
          companyId,
          keyId,
          operation,
          status,
          errorCode: null,
          callerId: null,
          ms: 1,
          id: lowestIdAt(new Date(Date.now() - i * 4 * 3600_000)).slice(0, 24) + newId().slice(24),
        }))
        await insertRequests(db, all)
        const wanted = all.filter(
          ({ operation, keyId, status }) =>
            (filter.operation ?? operation) === operation &&
            (filter.keyId ?? keyId) === keyId &&
            (filter.status === null ||
              STATUS_CLASSES[filter.status][0] === status - (status % 100)),
        )
        const listed: LoggedRequest[] = []
        let before: string | null = null
        do {
          const asked: RequestFilter = { ...ALL, ...filter, before }
          const page = await listRequests(db, companyId, asked, limit, mostScanned)
          assert.ok(page.requests.length <= limit)
          assert.ok(page.next === null || before === null || page.next < before, 'it goes on')
          listed.push(...page.requests)
          before = page.next
        } while (before !== null)
        assert.deepEqual(listed, wanted)
      },
    ),
    { numRuns: isLong ? 60 : 25 },
  )
})
