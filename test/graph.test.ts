import assert from 'node:assert/strict'
import { test } from 'node:test'
import { importsOf, nounGraph, sortByUse } from '../scripts/noun-graph.ts'

/**
 * Which noun of core may use which, types too. If a change needs a new entry, it must not close a
 * cycle. An entry that is not needed any more goes.
 */
const MAY_USE: Record<string, string[]> = {
  activity: ['app.ts'],
  'app.ts': ['setbacks.ts'],
  audits: [
    'app.ts',
    'banks',
    'companies',
    'payments',
    'reconciliation',
    'reconciliation-schedule.ts',
    'refunds',
    'tasks.ts',
    'withdrawals',
  ],
  balance: ['charges', 'fields.ts', 'payments', 'refunds', 'withdrawals'],
  banks: ['app.ts', 'companies', 'mails', 'people', 'reconciliation-schedule.ts'],
  billings: ['due.ts', 'tasks.ts'],
  'charge-history': [
    'activity',
    'app.ts',
    'charges',
    'companies',
    'customers',
    'deliveries',
    'events.ts',
    'feed',
    'mails',
    'payments',
    'refunds',
  ],
  charges: [
    'app.ts',
    'billings',
    'companies',
    'customers',
    'due.ts',
    'events.ts',
    'fields.ts',
    'idempotency.ts',
    'installation.ts',
    'mails',
    'orders.ts',
    'products',
    'tasks.ts',
  ],
  clocks: ['app.ts', 'companies', 'due.ts', 'fields.ts', 'tasks.ts'],
  companies: ['app.ts', 'fields.ts', 'mails', 'reconciliation-schedule.ts'],
  customers: ['app.ts', 'companies', 'fields.ts'],
  deliveries: [
    'app.ts',
    'companies',
    'due.ts',
    'events.ts',
    'feed',
    'fields.ts',
    'tasks.ts',
    'webhooks',
  ],
  'due.ts': [],
  'events.ts': ['tasks.ts'],
  feed: ['app.ts', 'events.ts', 'fields.ts'],
  'fields.ts': [],
  'full-app.ts': [
    'activity',
    'charges',
    'clocks',
    'deliveries',
    'due.ts',
    'feed',
    'idempotency.ts',
    'payments',
    'places',
    'request-log',
  ],
  'idempotency.ts': [],
  'installation.ts': [],
  mails: ['due.ts', 'tasks.ts'],
  moves: ['companies', 'places'],
  'operate.ts': ['activity', 'app.ts', 'companies'],
  operator: ['activity', 'clocks', 'companies', 'mails'],
  'orders.ts': ['due.ts'],
  payments: [
    'app.ts',
    'banks',
    'billings',
    'charges',
    'companies',
    'customers',
    'due.ts',
    'events.ts',
    'fields.ts',
    'mails',
    'tasks.ts',
  ],
  people: ['activity', 'app.ts', 'companies', 'mails'],
  places: ['app.ts', 'companies', 'installation.ts'],
  products: ['fields.ts'],
  receipts: ['app.ts', 'charges', 'companies', 'customers', 'mails', 'recurrences'],
  reconciliation: [
    'app.ts',
    'banks',
    'companies',
    'payments',
    'reconciliation-schedule.ts',
    'refunds',
  ],
  'reconciliation-schedule.ts': ['due.ts', 'tasks.ts'],
  recurrences: [
    'app.ts',
    'banks',
    'billings',
    'charges',
    'companies',
    'customers',
    'due.ts',
    'events.ts',
    'fields.ts',
    'orders.ts',
    'payments',
    'products',
    'tasks.ts',
  ],
  refunds: [
    'app.ts',
    'charges',
    'companies',
    'due.ts',
    'events.ts',
    'fields.ts',
    'mails',
    'orders.ts',
    'payments',
    'tasks.ts',
  ],
  'request-log': ['app.ts', 'fields.ts'],
  'setbacks.ts': [],
  'simulated-bank': [
    'app.ts',
    'charges',
    'companies',
    'due.ts',
    'fields.ts',
    'payments',
    'places',
    'tasks.ts',
  ],
  'tasks.ts': [],
  totals: ['app.ts', 'companies'],
  'version-changes': ['fields.ts', 'operate.ts'],
  webhooks: ['app.ts', 'companies', 'due.ts', 'events.ts', 'fields.ts', 'mails', 'tasks.ts'],
  withdrawals: [
    'activity',
    'app.ts',
    'banks',
    'companies',
    'due.ts',
    'events.ts',
    'fields.ts',
    'mails',
    'orders.ts',
    'payments',
    'people',
    'places',
    'tasks.ts',
  ],
}

test('a noun uses only the nouns that it may use', () => {
  const found = [...nounGraph()].map(([noun, used]) => [noun, [...used].sort()])
  assert.deepEqual(Object.fromEntries(found), MAY_USE)
})

test('the nouns of core are a graph without cycles', () => {
  assert.deepEqual(sortByUse(nounGraph()).cyclic, [])
})

test('no file of src imports itself through others', () => {
  const imports = importsOf()
  const own = [...imports].map(([path, targets]) => {
    return [path, targets.filter((target) => imports.has(target))] as const
  })
  assert.deepEqual(sortByUse(new Map(own)).cyclic, [])
})
