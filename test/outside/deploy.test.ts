import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { readdirSync, readFileSync, utimesSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { before, describe, test } from 'node:test'
import { Registry } from 'prom-client'
import { parse } from 'yaml'
import { countRestarts } from '../../src/processes/machine.ts'
import { startApi } from '../support/api.ts'
import { temporaryFolder } from '../support/process.ts'
import { findProgram, NO_PROGRAM, type Rule } from '../support/prometheus.ts'

const ROOT = join(import.meta.dirname, '../..')
const DEPLOY = join(ROOT, 'deploy')
const read = (...path: string[]) => readFileSync(join(ROOT, ...path), 'utf8')
const rules: Rule[] = parse(read('deploy/prometheus/alerts.yml')).groups[0].rules
const board = JSON.parse(read('deploy/grafana/vintem.json'))

const promtool = findProgram('promtool')
const run = (args: string[], input?: string) =>
  execFileSync(promtool!, args, {
    cwd: join(DEPLOY, 'prometheus'),
    encoding: 'utf8',
    ...(input === undefined ? {} : { input }),
  })

/** Each metric of a server, and the labels that it has. */
const metrics = new Map<string, { type: string; labels: Set<string> }>()
let shown = ''

before(async () => {
  const api = await startApi()
  const client = await api.client()
  await client.post('/charge/pix', { amount: 1 })
  const machine = new Registry()
  countRestarts(machine, { onRestart: () => {} })
  shown = `${(await api.operator('/metrics')).text}\n${await machine.metrics()}`
  for (const [, name, type] of shown.matchAll(/^# TYPE (\w+) (\w+)$/gm)) {
    metrics.set(name!, { type: type!, labels: new Set() })
  }
  for (const [, name, labels = ''] of shown.matchAll(/^(\w+)\{([^}]*)\}/gm)) {
    const own = metrics.get(baseOf(name!))
    for (const [, label] of labels.matchAll(/(\w+)="/g)) own?.labels.add(label!)
  }
})

const baseOf = (name: string): string =>
  metrics.has(name) ? name : name.replace(/_(?:bucket|sum|count)$/, '')

/** The metrics that an expression reads, each with the labels that it selects by. */
const namedIn = (expr: string) =>
  [...expr.matchAll(/\b((?:vintem|process|nodejs)_\w+)(?:\{([^}]*)\})?/g)].map(
    ([, name, selected = '']) => ({
      name: name!,
      labels: [...selected.matchAll(/(\w+)\s*(?:=~|!=|!~|=)/g)].map(([, label]) => label!),
    }),
  )

/** Labels that Prometheus adds, or that have values only when something has happened. */
const FROM_ELSEWHERE = ['job', 'instance', 'place', 'le']
/** Nothing has waited, no bank was asked, and no company has a certificate in this server. */
const LATER: Record<string, string[]> = {
  vintem_bank_request_seconds: ['profile', 'status'],
  vintem_database_wait_seconds: ['pool'],
  vintem_bank_certificate_end_timestamp_seconds: ['company', 'profile'],
  vintem_task_last_success_timestamp_seconds: ['task'],
  vintem_set_aside_companies: ['task'],
  vintem_setbacks_total: ['task'],
}

function assertKnown(expr: string, where: string): void {
  for (const { name, labels } of namedIn(expr)) {
    const base = baseOf(name)
    const metric = metrics.get(base)
    assert.ok(metric, `${where}: ${name} is no metric`)
    assert.equal(base !== name, metric.type === 'histogram' && name !== base, where)
    const own = [...metric.labels, ...(LATER[base] ?? []), ...FROM_ELSEWHERE]
    for (const label of labels) assert.ok(own.includes(label), `${where}: ${name} has no ${label}`)
  }
}

describe('what is in deploy/', () => {
  test('each alert reads metrics that there are, and says how bad it is and what to do', () => {
    const pages = read('docs/runbooks.md')
    const sections = [...pages.matchAll(/^## (\w+)$/gm)].map(([, name]) => name!)
    assert.deepEqual(
      sections,
      rules.map(({ alert }) => alert),
    )
    for (const { alert, expr, labels, annotations } of rules) {
      assertKnown(expr, alert)
      assert.match(labels.severity, /^(?:page|ticket)$/)
      assert.equal(annotations.runbook_url, `docs/runbooks.md#${alert.toLowerCase()}`)
      assert.ok(annotations.summary.length > 10 && annotations.description.length > 20, alert)
    }
  })

  test('each section of the runbooks says what to do, and leads to sections that there are', () => {
    const pages = read('docs/runbooks.md')
    const operating = read('docs/operating.md')
    const anchorsOf = (text: string) =>
      [...text.matchAll(/^#+ (.+)$/gm)].map(([, title]) =>
        title!
          .toLowerCase()
          .replaceAll(/[^\w\s-]/g, '')
          .replaceAll(' ', '-'),
      )
    for (const section of pages.split(/^## /m).slice(1)) assert.ok(section.length > 200, section)
    for (const [, path, anchor] of pages.matchAll(/\]\(([\w./]*)#([\w-]+)\)/g)) {
      const known = anchorsOf(path === '' ? pages : operating)
      assert.ok(known.includes(anchor!), `${path}#${anchor}`)
    }
  })

  test('each panel of the board reads metrics that there are', () => {
    type Panel = { title: string; type: string; targets?: { expr: string }[] }
    const panels = (board.panels as Panel[]).filter(({ type }) => type !== 'row')
    assert.ok(panels.length > 20)
    for (const { title, targets = [] } of panels) {
      assert.ok(targets.length > 0, title)
      for (const { expr } of targets) assertKnown(expr, title)
    }
    const ids = (board.panels as { id: number }[]).map(({ id }) => id)
    assert.equal(new Set(ids).size, ids.length)
  })

  test('the board shows each metric of ours', () => {
    const text = JSON.stringify(board)
    const unseen = [...metrics.keys()].filter(
      (name) => name.startsWith('vintem_') && !text.includes(name),
    )
    assert.deepEqual(unseen, [])
  })

  test('no label names a company, except the end of a certificate', () => {
    for (const [name, { labels }] of metrics) {
      if (name === 'vintem_bank_certificate_end_timestamp_seconds') continue
      assert.ok(!labels.has('company'), name)
    }
    // Each label has few values, so there are few series.
    assert.ok(shown.split('\n').length < 2_000)
  })

  test('promtool finds nothing odd in the names of our metrics', (t) => {
    if (!promtool) return t.skip(NO_PROGRAM)
    const ours = shown
      .split('\n')
      .filter((line) => /^(?:# \w+ )?vintem_/.test(line))
      .join('\n')
    assert.equal(run(['check', 'metrics'], `${ours}\n`), '')
  })

  test('each alert fires for the series that promtool is given, and is silent for others', (t) => {
    if (!promtool) return t.skip(NO_PROGRAM)
    const tests: { name: string }[] = parse(read('deploy/prometheus/alerts.test.yml')).tests
    // An alert may have more cases, each with what is particular about it.
    const kinds = tests.map(({ name }) => /^\w+ (?:fires|is silent)/.exec(name)?.[0])
    assert.deepEqual(
      new Set(kinds),
      new Set(rules.flatMap(({ alert }) => [`${alert} fires`, `${alert} is silent`])),
    )
    assert.match(run(['test', 'rules', 'alerts.test.yml']), /SUCCESS/)
    type Target = { expr: string }
    const targets = (board.panels as { targets?: Target[] }[]).flatMap((one) => one.targets ?? [])
    const queries = targets.map(({ expr }, n) => ({
      record: `panel:${n}`,
      expr: expr.replaceAll('$__rate_interval', '5m'),
    }))
    const file = join(temporaryFolder(), 'board.yml')
    writeFileSync(file, JSON.stringify({ groups: [{ name: 'board', rules: queries }] }))
    assert.match(run(['check', 'rules', file]), /SUCCESS/)
  })
})

test('the unit of backups deletes old ones and what interrupted ones have left, nothing else', () => {
  const folder = temporaryFolder()
  const files: [name: string, days: number][] = [
    ['vintem-2026-10-01T0300.backup', 31],
    ['vintem-2026-10-30T0300.backup', 3],
    ['vintem-2026-10-29T0300.backup.417.part', 3],
    ['vintem-2026-10-31T0300.backup.417.part', 0],
    ['other.part', 90],
  ]
  for (const [name, days] of files) {
    const at = Date.now() / 1000 - days * 86_400 - 3_600
    writeFileSync(join(folder, name), '')
    utimesSync(join(folder, name), at, at)
  }
  const unit = read('deploy/systemd/vintem-backup.service')
  for (const [, command] of unit.matchAll(/^ExecStartPost=(.+)$/gm)) {
    execFileSync('sh', ['-c', command!.replaceAll('/var/lib/vintem/backups', folder)])
  }
  const left = [
    'other.part',
    'vintem-2026-10-30T0300.backup',
    'vintem-2026-10-31T0300.backup.417.part',
  ]
  assert.deepEqual(readdirSync(folder).toSorted(), left)
})
