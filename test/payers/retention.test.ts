import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import { readConfig } from '../../src/config.ts'
import { sendDefenses } from '../../src/worker/due.ts'
import { daysOf, KEPT, removeOld } from '../../src/worker/retention.ts'
import { startApi } from '../support/api.ts'
import { decide, openDispute } from '../support/disputes.ts'
import { makePaid } from '../support/payments.ts'
import { secretOf } from '../support/process.ts'

const api = await startApi({
  CALLBACK_RETENTION_DAYS: '5',
  MAIL_RETENTION_DAYS: '7',
  DEFENSE_RETENTION_DAYS: '10',
})
const DAY_S = 86_400

test('what is kept for how long is what docs/operating.md says', () => {
  const config = readConfig({ SECRET_KEY: secretOf('x') })
  const said = readFileSync('docs/operating.md', 'utf8')
  for (const kind of KEPT) {
    const days = daysOf(kind, config)
    const kept = days === null ? 'until it ends' : `${days} days?`
    assert.match(said, new RegExp(`\\| ${kind.name} \\| ${kept}`), kind.name)
  }
})

test('callbacks, mails and defenses go when they are as old as was set, and not before', async () => {
  const client = await api.client()
  const { endToEndId } = await makePaid(api, client, 1990)
  const { id } = await openDispute(client, endToEndId)
  const content = Buffer.from('%PDF-1.7').toString('base64')
  const defense = { text: 'Entregue.', files: [{ name: 'nota.pdf', content }] }
  const reply = await client.post(`/dispute/${id}/defense`, defense)
  assert.equal(reply.status, 200, reply.text)
  await sendDefenses.run(api.app)
  await decide(client, id, 'won')
  await api.rows(
    `update mails set finished_at = $2, outcome = 'SENT', sealed = null where company_id = $1`,
    [client.company.id, api.clock.now()],
  )
  const counts = async () => {
    await removeOld(api.app)
    const [row] = await api.rows<Record<string, number>>(
      `select (select count(*) from bank_callbacks where company_id = $1
           and processed_at is not null) > 0 as callbacks,
         (select count(*) from mails where company_id = $1) > 0 as mails,
         (select count(*) from disputes where company_id = $1 and defense_sealed is not null) > 0
           as defenses,
         (select count(*) from dispute_files where company_id = $1) > 0 as files`,
      [client.company.id],
    )
    return Object.values(row!)
  }
  api.clock.advance(5 * DAY_S - 1)
  assert.deepEqual(await counts(), [true, true, true, true])
  api.clock.advance(2)
  assert.deepEqual(await counts(), [false, true, true, true])
  api.clock.advance(2 * DAY_S)
  assert.deepEqual(await counts(), [false, false, true, true])
  api.clock.advance(3 * DAY_S)
  assert.deepEqual(await counts(), [false, false, false, false])
  const { status, defense: shown } = (await client.get(`/dispute/${id}`)).body.data
  assert.deepEqual([status, shown?.text ?? null], ['WON', null], 'that there was one stays')
})

test('what is old goes in statements of at most 5000 rows, which end in time', async () => {
  const { company } = await api.client()
  const values = [company.id, api.clock.now()]
  const many = `select $1, gen_random_uuid(), 'x', '', $2, $2, $2 from generate_series(1, 5001)`
  await api.rows(
    `insert into idempotency_keys (company_id, key, fingerprint, status, sealed_body, created_at)
     select $1, n, '', 200, '', $2 from generate_series(1, 5001) n`,
    values,
  )
  await api.rows(
    `insert into bank_callbacks
       (company_id, id, provider, sealed, received_at, next_attempt_at, processed_at) ${many}`,
    values,
  )
  await api.rows(
    `insert into mails (company_id, id, kind, outcome, next_attempt_at, created_at, finished_at)
     ${many.replace(`''`, `'SENT'`)}`,
    values,
  )
  await api.rows(
    `create function refuse_many() returns trigger language plpgsql as $$
     begin
       if (select count(*) from gone) > 5000 then raise exception 'too many rows'; end if;
       return null;
     end $$`,
  )
  const tables = ['idempotency_keys', 'bank_callbacks', 'mails']
  for (const table of tables) {
    await api.rows(
      `create trigger few after delete on ${table} referencing old table as gone
       for each statement execute function refuse_many()`,
    )
  }
  api.clock.advance(8 * DAY_S)
  await removeOld(api.app)
  for (const table of tables) {
    const rows = await api.rows(`select from ${table} where company_id = $1`, [company.id])
    assert.equal(rows.length, 0, table)
  }
  await api.rows('drop function refuse_many cascade')
})

test('nothing goes while the clocks of machine and database differ', async () => {
  const real = api.clock.now()
  const own = await startApi({}, { databaseTime: async () => real })
  own.clock.advance((real.getTime() - own.clock.now().getTime()) / 1000)
  let removed = 0
  const kind = { name: 'x', days: 'ends', every_ms: 1, remove: async () => void removed++ } as const
  for (const [by_s, so_far] of [
    [400 * DAY_S, 0],
    [-400 * DAY_S, 1],
  ] as const) {
    own.clock.advance(by_s)
    await removeOld(own.app, undefined, [kind])
    assert.equal(removed, so_far)
  }
})

test('if one kind cannot be removed, the others are', async () => {
  const failed = new Error('no')
  let done = 0
  const kind = { name: 'x', days: 1, every_ms: 1 } as const
  const kinds = [
    { ...kind, remove: () => Promise.reject(failed) },
    { ...kind, remove: async () => void done++ },
  ]
  await assert.rejects(removeOld(api.app, undefined, kinds), failed)
  assert.equal(done, 1)
})
