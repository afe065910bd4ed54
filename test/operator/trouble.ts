import assert from 'node:assert/strict'
import type { Client, TestApi } from '../support/api.ts'

/** A payer whom no operator may see. */
export const PAYER = {
  name: 'Raimunda Teles Peixoto',
  taxId: '12345678909',
  email: 'raimunda.teles@example.org',
  phone: '11977776666',
}

/** Everything that an operator has to see goes wrong for a company, as the tasks leave it. */
export async function makeTrouble(api: TestApi, client: Client): Promise<void> {
  const { id } = client.company
  const now = api.clock.now()
  const later = new Date(now.getTime() + 3_600_000)
  const webhook = {
    url: 'https://hooks.example.com/secret-path',
    name: 'loja',
    events: ['charge.paid'],
  }
  assert.equal((await client.post('/webhook', webhook)).status, 201)
  await api.rows('update webhooks set failing_since = $2, failures = 3 where company_id = $1', [
    id,
    now,
  ])
  await api.rows(
    `insert into setbacks (task, company_id, failures, error, since, until)
     values ('reconcile', $1, 3, 'some_constraint', $2, $3)`,
    [id, now, later],
  )
  await api.rows(
    `insert into audits (company_id, checked_entry, difference, audited_at)
     values ($1, 1, 'pending is 5 too high', $2)
     on conflict (company_id) do update set difference = excluded.difference`,
    [id, now],
  )
  await api.rows(
    `insert into bank_connections (company_id, id, profile, sealed, callback_id, payouts,
       certificate_ends_at, connected_at)
     values ($1, gen_random_uuid(), 'itau', ''::bytea, gen_random_uuid(), 'manual', $2, $3)`,
    [id, later, now],
  )
  await api.rows(
    `insert into mails (company_id, id, kind, attempts, next_attempt_at, created_at, finished_at,
       outcome)
     values ($1, gen_random_uuid(), 'receipt', 7, $2, $2, $2, 'FAILED')`,
    [id, now],
  )
}
