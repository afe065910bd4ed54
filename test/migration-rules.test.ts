import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import { readMigrations } from '../src/db/migrate.ts'
import { readLastRelease } from './support/releases.ts'

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

type Statement = { text: string; comments: string[] }

/** The words of a block between which its statements are. */
const BLOCK = /\b(?:begin|declare|exception|then|else|loop|end)\b/gi

/** Statements in small letters, with the comments above each. Bodies of functions are left out. */
function statementsIn(sql: string): Statement[] {
  const found: Statement[] = []
  let [code, comments]: string[][] = [[], []]
  const end = () => {
    const text = code!.join(' ').replace(/\s+/g, ' ').trim().toLowerCase()
    if (text === '') return
    found.push({ text, comments: comments! })
    ;[code, comments] = [[], []]
  }
  const run = sql.replace(/^\s*do\s+\$\$(.*?)\$\$/gims, (_, body) => body.replace(BLOCK, ';'))
  for (const line of run.replace(/\$\$.*?\$\$/gs, '').split('\n')) {
    if (line.trim().startsWith('--')) {
      comments!.push(line.trim())
      continue
    }
    const parts = line
      .replace(/'[^']*'/g, "''")
      .replace(/--.*$/, '')
      .split(';')
    for (const [i, part] of parts.entries()) {
      if (i > 0) end()
      code!.push(part)
    }
  }
  end()
  return found
}

/** What may break the version before, which still runs: it reads, or writes without what is new. */
const TAKES_AWAY: [what: string, isIt: RegExp][] = [
  ['drops something', /^drop (?!index\b)|^alter table .*\bdrop (?!constraint\b|not null\b)/],
  ['runs a text', /^execute\b/],
  ['renames or moves something', /^alter .*\b(?:rename|set schema)\b/],
  ['changes a type', /^alter type\b|^alter table .*\balter (?:column )?\w+ (?:set data )?type\b/],
  ['refuses null', /^alter table .*\bset not null\b/],
  [
    'adds a column that must be written',
    /\badd column (?!.*\b(?:default|generated)\b).*\bnot null\b/,
  ],
]
/** The same, unless it is about a table or a column that the same migration adds. */
const REFUSES_ROWS = [
  /^alter table (\w+) .*\badd (?:constraint|check|unique|primary|foreign|exclude)\b(.*)/,
  /^create unique index .*?\bon (\w+) (.*)/,
]

/** Unique indexes. Without one, a statement with ON CONFLICT and its columns fails. */
const UNIQUE = new Set(
  readMigrations()
    .flatMap(({ sql, baseline = '' }) => [sql, baseline])
    .flatMap((sql) => [...sql.matchAll(/\bunique index (?:concurrently )?(\w+)/g)])
    .map(([, name]) => name!),
)
const dropsUnique = (text: string): boolean =>
  text
    .matchAll(/\bdrop (?:index|constraint) (?:concurrently )?(?:if exists )?(\w+)/g)
    .some(([, name]) => UNIQUE.has(name!) || /_(?:pkey|key)$/.test(name!))

/** Since which migration no version uses it, and why. */
const CONTRACT = /^-- contract since (\d{4}): \S/

function takenAway(sql: string, lastRelease: number): string[] {
  const statements = statementsIn(sql)
  const all = statements.map(({ text }) => text).join('\n')
  const names = (made: RegExp) => new Set(all.matchAll(made).map(([, name]) => name!))
  const tables = names(/^create (?:unlogged )?table (?:if not exists )?(\w+)/gm)
  const columns = names(/\badd column (?:if not exists )?(\w+)/g)
  const isNew = (table: string, rule: string) =>
    tables.has(table) || [...rule.matchAll(/\w+/g)].some(([word]) => columns.has(word))
  return statements.flatMap(({ text, comments }) => {
    const what = dropsUnique(text)
      ? 'drops what is unique'
      : TAKES_AWAY.find(([, isIt]) => isIt.test(text))?.[0]
    const rules = REFUSES_ROWS.map((rule) => rule.exec(text)).filter((found) => found !== null)
    if (!what && rules.every(([, table, rule]) => isNew(table!, rule!))) return []
    const since = comments.map((line) => CONTRACT.exec(line)?.[1]).find((number) => number)
    if (Number(since) <= lastRelease) return []
    return [`${what ?? 'refuses rows'}: ${text}`]
  })
}

test('migrations leave what the version before uses, or say why it does not', () => {
  const all = readMigrations()
  const added = all.slice(all.findIndex(({ baseline }) => baseline !== undefined) + 1)
  const last = Number.parseInt(readLastRelease().last, 10)
  const found = added.flatMap(({ name, sql }) =>
    takenAway(sql, last).map((fault) => `${name} ${fault}`),
  )
  assert.deepEqual(found, [], 'see "Migrations" in CONTRIBUTING.md')
})

test('what a migration takes from the version before is found', () => {
  const found = (sql: string) => takenAway(sql, 70).map((fault) => fault.split(':')[0])
  const cases: Record<string, string[]> = {
    'drops something': [
      'drop table a;',
      'drop function f();',
      'alter table a drop column b;',
      'alter table a\n  drop b;',
      'alter table a alter column b drop default;',
      'drop table a',
    ],
    'drops what is unique': [
      'alter table a drop constraint a_pkey;',
      'drop index concurrently if exists charges_payment;',
    ],
    'runs a text': ["do $$ begin execute 'drop table a'; end $$;"],
    'renames or moves something': [
      'alter table a rename column b to c;',
      'alter table a rename to b;',
      'alter table a set schema b;',
    ],
    'changes a type': [
      'alter table a alter column b type bigint;',
      'alter table a alter b set data type bigint;',
      "alter type a add value 'b';",
    ],
    'refuses null': ['alter table a alter column b set not null;'],
    'adds a column that must be written': ['alter table a add column b int not null;'],
    'refuses rows': [
      'alter table a add constraint a_b check (b > 0) not valid;',
      'alter table a add constraint a_b foreign key (b) references c;',
      'create unique index a_b on a (b);',
    ],
  }
  for (const [what, list] of Object.entries(cases)) {
    for (const sql of list) {
      assert.deepEqual(found(sql), [what], sql)
      assert.deepEqual(found(`-- contract since 0070: nobody reads it\n${sql}`), [], sql)
      assert.deepEqual(found(`-- contract since 0071: the last release does\n${sql}`), [what], sql)
      assert.deepEqual(found(`-- contract since 0070: \n${sql}`), [what], 'it gives a reason')
    }
  }
  const hidden = [
    'alter table a add column b int; drop table c;',
    'do $$ begin if true then alter table a drop column b; end if; end $$;',
    'do $$ begin\n  alter table a drop column b;\nexception when others then null; end $$;',
  ]
  for (const sql of hidden) assert.deepEqual(found(sql), ['drops something'], sql)
  const good = `create table a (b uuid not null, constraint a_b check (b is not null));
    alter table a add constraint a_c check (c > 0); -- drop table a;
    create unique index a_b on a (b);
    -- It's nobody's: drop column d
    alter table d add column e int not null default 0;
    alter table d add constraint d_e check (e >= 0) not valid;
    alter table d validate constraint d_e;
    alter table d drop constraint d_f;
    alter table d alter column f drop not null;
    drop index concurrently if exists d_g;
    comment on table d is 'drop column; rename';
    create or replace function f() returns trigger language plpgsql as $$ begin
      drop table a;
    end $$;`
  assert.deepEqual(found(good), [])
})
