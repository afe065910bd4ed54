import assert from 'node:assert/strict'
import { existsSync, globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { isValidTaxId, plainTaxId } from '../src/pix/tax-id.ts'

const ROOT = join(import.meta.dirname, '..')

/** Every block of the guides that puts a proxy in front of the service. */
const proxies = globSync('docs/**/*.md', { cwd: ROOT }).flatMap((path) =>
  [...readFileSync(join(ROOT, path), 'utf8').matchAll(/^```\w*\n([\s\S]*?)^```$/gm)]
    .map(([, text]) => text!)
    .filter((text) => /proxy_pass|reverse_proxy/.test(text)),
)

test('no sample of a proxy publishes the port of operators', () => {
  assert.deepEqual(
    proxies.map((text) => text.split('\n')[0]),
    ['# nginx', '# Caddy'],
  )
  for (const text of proxies) {
    assert.match(text, /127\.0\.0\.1:3000\b/)
    assert.doesNotMatch(text, /metrics|OPERATOR/)
  }
})

test('every path that the architecture page names exists', () => {
  const page = readFileSync(join(ROOT, 'docs/architecture.md'), 'utf8')
  const named = [...page.matchAll(/`((?:src|test|web|migrations)\/[\w./-]*)`/g)].map(
    ([, path]) => path!,
  )
  assert.ok(named.length > 30)
  assert.deepEqual(
    named.filter((path) => !existsSync(join(ROOT, path))),
    [],
  )
})

/** The one sample that a live company refuses; `docs/guides/testing.md` says so. */
const REFUSED = '12345678901'

test('all samples have tax ids that a live company accepts, and one that it refuses', () => {
  const files = globSync(
    [
      '*.md',
      'docs/*.md',
      'docs/guides/*.md',
      'packages/client/*.md',
      'src/http/routes/*.ts',
      'src/cli/**/*.ts',
      'examples/**/*.*',
    ],
    { cwd: ROOT },
  )
  const named = files.flatMap((path) => {
    const text = readFileSync(join(ROOT, path), 'utf8')
    return [...text.matchAll(/taxId\W{1,8}?(\w[\w./-]{10,17})\b/g)].map(([, taxId]) => ({
      path,
      taxId: plainTaxId(taxId!),
    }))
  })
  const samples = named.filter(({ taxId }) => /^\w*\d{2}$/.test(taxId))
  assert.ok(samples.length > 20)
  assert.deepEqual(
    samples.filter(({ taxId }) => !isValidTaxId(taxId)),
    [],
  )
  const guide = readFileSync(join(ROOT, 'docs/guides/testing.md'), 'utf8')
  assert.match(guide, new RegExp(`\`${REFUSED}\` \\| 400`))
  assert.equal(isValidTaxId(REFUSED), false)
})
