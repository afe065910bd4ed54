import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { OPTIONS } from '../../src/config.ts'
import { MAX_BATCH } from '../../src/core/charges/batch-view.ts'
import { MAX_CHARGES } from '../../src/core/charges/plan-rules.ts'
import { LINK_LIFETIME_S, MAX_LIFETIME_S, PIX_LIFETIME_S } from '../../src/core/charges/rules.ts'
import { MAX_RECIPIENTS } from '../../src/core/charges/split.ts'
import { DAYS_AFTER_DUE, DueFields, NewLink, NewPixCharge } from '../../src/core/charges/view.ts'
import { SANDBOX_OPENING } from '../../src/core/companies/rules.ts'
import { RETRY_S } from '../../src/core/deliveries/rules.ts'
import { ExternalId, LONG_PAGE_SIZE } from '../../src/core/fields.ts'
import { REFUND_DAYS } from '../../src/core/refunds/rules.ts'
import {
  MAX_LIFETIME_S as LONGEST_SANDBOX_S,
  MAX_SANDBOXES,
  NEW_SANDBOX_S,
  NEW_SANDBOXES,
  MIN_LIFETIME_S as SHORTEST_SANDBOX_S,
} from '../../src/core/sandboxes/rules.ts'
import {
  DEACTIVATE_AFTER_MS,
  FAILURES_BEFORE_PAUSE,
  OVERLAP_MS,
} from '../../src/core/webhooks/rules.ts'
import { CODE_LIFETIME_S, MAX_TRIES } from '../../src/core/withdrawals/rules.ts'
import { BODY_LIMIT_BYTES, VALUES_LIMIT } from '../../src/http/body.ts'
import { CATALOGUE } from '../../src/lib/problems.ts'
import { MAX_AMOUNT, MIN_CHARGE } from '../../src/pix/amounts.ts'
import { ROOT } from './samples.ts'

const KIB = 1024
const DAY_S = 24 * 3600

const textOf = (path: string) => readFileSync(join(ROOT, path), 'utf8')

/** The number that a file gives to a name which it does not export. */
function constant(path: string, name: string): number {
  const [, number] = new RegExp(`\\b${name}(?: =|:) ([\\d_]+)`).exec(textOf(path))!
  return Number(number!.replaceAll('_', ''))
}

const [, keysASecond, keysAtOnce] = /FAILED_KEYS = \{ perSecond: (\d+), burst: (\d+)/.exec(
  textOf('src/http/admission.ts'),
)!

const option = (name: keyof typeof OPTIONS) => Number(OPTIONS[name].default)
const boundOf = (schema: object, name: string) => Number((schema as Record<string, unknown>)[name])
const inReais = (cents: number) => (cents / 100).toFixed(2).replace('.', '')

/** Where the figures of the page come from, in its order. */
const EXPECTED: (number | string)[][] = [
  [option('RATE_LIMIT')],
  [option('RATE_LIMIT_BURST')],
  [option('COMPANY_REQUESTS')],
  [option('COMPANY_QUEUE')],
  [option('SERVER_REQUESTS')],
  [BODY_LIMIT_BYTES / KIB],
  [MAX_BATCH],
  [VALUES_LIMIT],
  [constant('src/http/body.ts', 'DEPTH_LIMIT')],
  [constant('src/http/server.ts', 'HEADERS_LIMIT_BYTES')],
  [constant('src/http/server.ts', 'REQUEST_TIMEOUT_MS') / 1000],
  [LONG_PAGE_SIZE],
  [constant('src/core/feed/view.ts', 'MAX_WAIT_S')],
  [constant('src/core/feed/waits.ts', 'MAX_OF_COMPANY')],
  [keysASecond!, keysAtOnce!],
  [constant('src/core/idempotency.ts', 'STORED_HOURS')],
  [255],
  [inReais(MIN_CHARGE)],
  [inReais(1)],
  [inReais(MAX_AMOUNT)],
  [inReais(option('STATIC_SALES_LIMIT'))],
  [REFUND_DAYS],
  [/R\$ (\d+) billion/.exec(CATALOGUE.sandbox_limit_exceeded[1])![1]!],
  [inReais(SANDBOX_OPENING)],
  [PIX_LIFETIME_S / 60],
  [LINK_LIFETIME_S / DAY_S],
  [MAX_LIFETIME_S / DAY_S],
  [DAYS_AFTER_DUE, boundOf(DueFields.properties.daysAfterDue, 'maximum')],
  [boundOf(DueFields.properties.discounts, 'maxItems')],
  [MAX_RECIPIENTS],
  [boundOf(NewLink.properties.items, 'maxItems')],
  [boundOf(NewPixCharge.properties.description, 'maxLength')],
  [MAX_BATCH],
  [MAX_CHARGES],
  [boundOf(ExternalId, 'maxLength')],
  [1],
  [CODE_LIFETIME_S / 60],
  [MAX_TRIES],
  [constant('src/core/withdrawals/rules.ts', 'MAX_SENDS')],
  [option('CODE_MAILS_PER_HOUR')],
  [option('CODE_MAILS_PER_DAY')],
  [option('DESTINATION_WAIT_HOURS')],
  [option('WEBHOOKS_PER_COMPANY')],
  [constant('src/lib/http-sender.ts', 'deadline_ms') / 1000],
  [RETRY_S.length + 1],
  [FAILURES_BEFORE_PAUSE],
  [DEACTIVATE_AFTER_MS / 1000 / DAY_S],
  [OVERLAP_MS / 3_600_000],
  [MAX_SANDBOXES],
  [SHORTEST_SANDBOX_S, LONGEST_SANDBOX_S / 3600],
  [1, NEW_SANDBOX_S, NEW_SANDBOXES],
  [],
  [option('DELIVERY_RETENTION_DAYS')],
  [constant('src/core/request-log/rules.ts', 'KEPT_MS')],
  [option('CALLBACK_RETENTION_DAYS')],
  [option('MAIL_RETENTION_DAYS')],
  [option('DEFENSE_RETENTION_DAYS')],
]

/** The figures in the second column, without the signs between their digits. */
function figuresOf(path: string): string[][] {
  const rows = textOf(path)
    .split('\n')
    .filter((line) => /^\| (?!(limite?|o quê|what) \|)/.test(line))
  return rows.map((row) => {
    const value = row.split(' | ')[1]!.replace(/`[^`]*`/g, '')
    return (value.match(/\d[\d.,]*/g) ?? []).map((figure) => figure.replace(/[.,]/g, ''))
  })
}

test('the page of limits says what the code says, in both languages', () => {
  const expected = EXPECTED.map((row) => row.map((figure) => String(figure)))
  for (const path of ['docs/guides/limits.md', 'docs/pt/guides/limits.md']) {
    assert.deepEqual(figuresOf(path), expected, path)
  }
})
