import assert from 'node:assert/strict'
import { globSync, readFileSync } from 'node:fs'
import { test } from 'node:test'

const read = (pattern: string) =>
  globSync(pattern)
    .filter((path) => !path.endsWith('.test.ts'))
    .sort()
    .map((path) => ({ path, text: readFileSync(path, 'utf8') }))

/** Tables whose rows belong to a company; the simulated bank calls it an account. */
const OWNED = read('migrations/*.sql').flatMap(({ text }) =>
  text
    .matchAll(/create (?:unlogged )?table (?:if not exists )?([\w.]+) \((.*?)\n\)/gs)
    .filter(([, , columns]) => /^\s+(company_id|account_id) uuid/m.test(columns!))
    .map(([, name]) => name!)
    .toArray(),
)

const USED = new RegExp(
  `\\b(?:from|join|update|using)\\s+(?:only\\s+)?(${OWNED.join('|')})\\b`,
  'g',
)
/** Single records are meant where a column is compared with what the caller gives. */
const NAMES_A_RECORD = /\b(?:id|key|\w+_id|\w+_index)\s*=\s*(?:any\s*\(\s*)?\$\d/
// The place of a row comes from a part of the statement that names the company.
const NAMES_A_COMPANY = new RegExp(
  [
    String.raw`\b(?:company_id|account_id)\s*=`,
    String.raw`\bctid = `,
    String.raw`\((?:\w+\.)?(?:company_id|account_id),[^)]*\)\s*(?:=|>|<|in\b)`,
    String.raw`using \(company_id`,
  ].join('|'),
  'g',
)

/** An API key, and what an operator names, is found without its company. */
const BY_NAME_ALONE = [
  'k.id = any($1::uuid[]) and k.revoked_at is null',
  'select company_id from withdrawals where id = $1',
  'select id from withdrawals where end_to_end_id = $1',
]

/** What belongs to a person, in all of their companies. */
const isOfPerson = ({ path, sql }: { path: string; sql: string }) =>
  path.startsWith('src/core/people/') && /\bperson_id = (?:\$1|p\.id)\b/.test(sql)

const statements = read('src/**/*.ts').flatMap(({ path, text }) =>
  text
    .matchAll(/`(?:[^`\\]|\\.)*`|'(?:[^'\n\\]|\\.)*'/g)
    .map(([literal]) => literal.slice(1, -1).replace(/\s+/g, ' ').trim())
    .filter((sql) => [...sql.matchAll(USED)].length > 0)
    .map((sql) => ({ path, sql }))
    .toArray(),
)

test('a statement that names a record names its company, for every table that it uses', () => {
  const named = statements.filter((one) => NAMES_A_RECORD.test(one.sql) && !isOfPerson(one))
  assert.ok(OWNED.length > 25 && named.length > 100, 'the statements are found')
  const faults = named.filter(({ sql }) => {
    const [uses, companies] = [[...sql.matchAll(USED)], [...sql.matchAll(NAMES_A_COMPANY)]]
    return companies.length < uses.length && !BY_NAME_ALONE.some((end) => sql.endsWith(end))
  })
  assert.deepEqual(faults, [])
})
