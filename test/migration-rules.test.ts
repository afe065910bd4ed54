import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import { readMigrations } from '../src/db/migrate.ts'

/** Before this one no place was on Citus, so older ones are applied before it holds the tables. */
const FIRST_ON_CITUS = 51

/** What Citus does not take when it holds the tables, by statement. */
const RULES: [rule: string, isBroken: (alter: string) => boolean][] = [
  ['one change in each ALTER TABLE', (alter) => withoutBrackets(alter).includes(',')],
  ['a constraint has a name', (alter) => /\badd\s+(?:check|unique|primary|foreign)\b/.test(alter)],
  [
    'a constraint is not part of ADD COLUMN',
    (alter) => /\badd\s+column\b.*\b(?:check|unique|primary\s+key|references)\b/s.test(alter),
  ],
]

function withoutBrackets(text: string): string {
  const shorter = text.replace(/\([^()]*\)/g, '')
  return shorter === text ? text : withoutBrackets(shorter)
}

/** Bodies of functions, texts and comments are left out. */
const alterationsOf = (sql: string): string[] =>
  sql
    .replace(/\$\$.*?\$\$/gs, '')
    .replace(/--.*$/gm, '')
    .replace(/'[^']*'/g, "''")
    .toLowerCase()
    .split(';')
    .map((statement) => statement.trim())
    .filter((statement) => statement.startsWith('alter table'))

const faultsOf = (sql: string): string[] =>
  alterationsOf(sql).flatMap((alter) =>
    RULES.filter(([, isBroken]) => isBroken(alter)).map(([rule]) => `${rule}: ${alter}`),
  )

test('new migrations are such that Citus takes them', () => {
  const found = readMigrations()
    .filter(({ version }) => version >= FIRST_ON_CITUS)
    .flatMap(({ name, sql }) => faultsOf(sql).map((fault) => `${name}: ${fault}`))
  assert.deepEqual(found, [])
})

test('what Citus does not take in a migration is found', () => {
  const ruleOf = (sql: string) => faultsOf(sql).map((fault) => fault.split(':')[0])
  assert.deepEqual(ruleOf('alter table a add column b int, add column c int;'), [RULES[0]![0]])
  assert.deepEqual(ruleOf('alter table a\n  add check (b in (1, 2));'), [RULES[1]![0]])
  assert.deepEqual(ruleOf('alter table a add column b int check (b > 0);'), [RULES[2]![0]])
  assert.deepEqual(ruleOf('alter table a add column b uuid references c;'), [RULES[2]![0]])
  const good = `alter table a add column b numeric(5, 2) not null default 0; -- one, two
    alter table a add constraint a_b check (b in (1, 2));
    create function f() returns trigger language plpgsql as $$ begin
      alter table a add column b int, add column c int; end $$;`
  assert.deepEqual(ruleOf(good), [])
})

/** The last migration that each function of the other form was written for. */
const ADAPTED = {
  add_to_totals: '0055_settled_by_hand.sql',
  count_transfers: '0050_one_schema.sql',
}

test('a function that has another form for Citus changes in both', () => {
  const made = /\bcreate (?:or replace )?function (?:\w+\.)?(\w+)/g
  const namesIn = (sql: string) => [...sql.matchAll(made)].map(([, name]) => name!)
  const last = readMigrations().flatMap(({ name, sql }) =>
    namesIn(sql).map((made) => [made, name] as const),
  )
  const lastOf = Object.fromEntries(last)
  const url = new URL('../migrations/citus-functions.sql', import.meta.url)
  const adapted = namesIn(readFileSync(url, 'utf8')).map((name) => [name, lastOf[name]])
  assert.deepEqual(Object.fromEntries(adapted), ADAPTED)
})
