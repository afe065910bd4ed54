import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { promisify } from 'node:util'
import { startWorker } from '../../src/worker/worker.ts'
import { type Client, startApi } from '../support/api.ts'
import { isLong, variants } from '../support/long.ts'
import { startPhp } from '../support/php.ts'
import { inherited, temporaryFolder } from '../support/process.ts'
import { startPython } from '../support/python.ts'
import { folderWithClient } from './client.ts'
import { BROWSERS_SERVER } from './frameworks.ts'
import { blockOf } from './receivers.ts'
import {
  blocksOf,
  fileOf,
  LANGUAGES,
  type Language,
  PAGES,
  type Page,
  programOf,
  ROOT,
  withoutSamples,
} from './samples.ts'

const run = promisify(execFile)
const api = await startApi({ CLOCK_WAIT_SECONDS: '120' })
const worker = startWorker(api.app)
api.atEnd(() => worker.stop())

const shown = PAGES.filter(({ samples }) => samples.length > 0)

/** Where the samples find the server here. */
const place = (code: string) => code.replaceAll('http://127.0.0.1:3000', api.url)

/** The files that a page says to save. They are the same on every page. */
function filesOf(language: Language): Record<string, string> {
  const files: Record<string, string> = {}
  for (const code of shown.flatMap(({ samples }) => samples.map((sample) => sample[language]))) {
    const name = fileOf(code)
    if (name === null) continue
    assert.equal(files[name] ?? code, code, `every page shows the same ${name}`)
    files[name] = code
  }
  return files
}

const COMING_FROM = 'docs/guides/coming-from.md'

test('the call in the first version is answered as that version answers', async () => {
  const { text } = PAGES.find(({ path }) => path === COMING_FROM)!
  const calls = text.match(/^curl .*127\.0\.0\.1:3000(.*\\\n)*.*$/gm)
  assert.equal(calls?.length, 1)
  const { key } = await api.client()
  const env = { ...inherited, VINTEM_KEY: key }
  const { stdout } = await run('bash', ['--norc', '-c', place(calls[0]!)], { env })
  assert.match(JSON.parse(stdout).id, /^charge_/)
})

test('a guide that shows a call shows it in every language', () => {
  assert.deepEqual(
    shown.map(({ path }) => path),
    [
      'docs/guides/subscriptions.md',
      'docs/guides/webhooks.md',
      'docs/introduction.md',
      'docs/start.md',
    ],
  )
  for (const page of PAGES) {
    const [call] = /^.*curl.*127\.0\.0\.1:3000.*$/m.exec(withoutSamples(page)) ?? []
    // A call in the first version is for those who have a client of their own, in any language.
    if (page.path === COMING_FROM) continue
    assert.equal(call, undefined, `${page.path} shows a call in one language only`)
    for (const name of Object.keys(LANGUAGES)) {
      assert.ok(!withoutSamples(page).includes(`**${name}**\n`), `${page.path}: a lone ${name}`)
    }
  }
})

type Runner = (page: Page, client: Client) => Promise<string>

const RUNNERS: Record<Language, Runner> = {
  curl: runCurl,
  TypeScript: runTypeScript,
  Python: runPython,
  PHP: runPhp,
}

// biome-ignore lint/suspicious/noExplicitAny: a test asserts what it expects of a body
type Any = any

/**
 * Runs the lines one after the other. An `export` with a … gets the field of the answer before it
 * that its comment names.
 */
async function runCurl(page: Page, { key }: Client): Promise<string> {
  const folder = temporaryFolder()
  mkdirSync(join(folder, '.data'))
  writeFileSync(join(folder, '.data', 'sandbox.json'), JSON.stringify({ apiKey: key }))
  const [own] = /^export VINTEM_KEY=.*$/m.exec(page.text) ?? []
  const exported = [own ?? `export VINTEM_KEY=${key}`]
  const answers: Any[] = []
  for (const part of programOf(page, 'curl').trim().split(/\n\n+/)) {
    const fields = [...part.matchAll(/^export (\w+)=.*….*# (?:the|its) (\w+)/gm)]
    for (const [, name, field] of fields) {
      const value = String(answers.at(-1).data[field!]).replace(api.app.publicUrl, api.url)
      exported.push(`export ${name}='${value}'`)
    }
    if (part.startsWith('export')) {
      if (fields.length === 0) exported.push(part)
      continue
    }
    const script = ['set -euo pipefail', ...exported, place(part)].join('\n')
    const { stdout } = await run('bash', ['--norc', '-c', script], { cwd: folder, env: inherited })
    const answer = JSON.parse(stdout)
    assert.ok(answer.status < 300, `${part}\n${stdout}`)
    answers.push(answer)
  }
  return JSON.stringify(answers)
}

const installed = folderWithClient()

const fileNameOf = ({ path }: Page): string => `${path.replaceAll('/', '-')}.ts`

async function runTypeScript(page: Page, { key }: Client): Promise<string> {
  const file = fileNameOf(page)
  writeFileSync(join(installed, file), place(programOf(page, 'TypeScript')))
  const env = { ...inherited, VINTEM_KEY: key }
  const { stdout } = await run(process.execPath, [file], { cwd: installed, env })
  return stdout
}

async function runPython(page: Page, { key }: Client): Promise<string> {
  const python = await startPython()
  for (const [name, text] of Object.entries(filesOf('Python'))) python.write(name, place(text))
  return python.run(programOf(page, 'Python'), { VINTEM_KEY: key })
}

async function runPhp(page: Page, { key }: Client): Promise<string> {
  const php = await startPhp()
  for (const [name, text] of Object.entries(filesOf('PHP'))) php.write(name, place(text))
  return php.run(programOf(page, 'PHP'), { VINTEM_KEY: key })
}

/**
 * What is the same in every language: the lines without ids and codes. The feed of events may be
 * behind, so its lines are left out.
 */
const comparable = (output: string): string[] =>
  output
    .toLowerCase()
    .trim()
    .split('\n')
    .filter((line) => !/^(charge|payment)\.\w+$/.test(line))
    .map((line) => line.replace(/^000201.*|\S{20,}/g, '…'))

const PAID = 'completed received'
const MISSED = 'expired expired'

/** What the samples of a page print. */
const PRINTED: Record<string, string[]> = {
  'docs/introduction.md': ['…', 'completed paid'],
  'docs/start.md': [
    '…',
    'completed paid',
    '…',
    '…',
    'duplicate 700',
    '500 one was missing',
    'true',
    '…',
    '0',
  ],
  'docs/guides/subscriptions.md': [
    '…',
    '…',
    'approved',
    PAID,
    PAID,
    PAID,
    String(100_000 + 3 * 4990),
    MISSED,
    MISSED,
    'canceled canceled',
    '…',
    '…',
  ],
}

/** The longest page of those that need no clock. */
const START = 'docs/start.md'
const isStart = ({ path }: Page) => path === START
const inOrder = [...shown.filter(isStart), ...shown.filter((page) => !isStart(page))]

for (const page of variants(inOrder)) {
  test(`the samples of ${page.path} do the same in every language`, async () => {
    const names = (Object.keys(LANGUAGES) as Language[]).filter(
      // To start Python or PHP takes seconds.
      (name) => isLong || name === 'curl' || name === 'TypeScript',
    )
    const outputs = await Promise.all(
      names.map(async (name) => [name, await RUNNERS[name](page, await api.client())] as const),
    )
    const { curl, ...others } = Object.fromEntries(outputs) as Record<Language, string>
    assert.ok(JSON.parse(curl).length > 0)
    const printed = comparable(others.TypeScript)
    assert.deepEqual(printed, PRINTED[page.path] ?? printed, 'TypeScript')
    assert.ok(printed.length > 0)
    for (const [name, output] of Object.entries(others)) {
      assert.deepEqual(comparable(output), printed, name)
    }
  })
}

test('the samples in TypeScript have the right types', async () => {
  for (const page of shown) {
    writeFileSync(join(installed, fileNameOf(page)), programOf(page, 'TypeScript'))
  }
  writeFileSync(join(installed, 'receiver.ts'), blockOf('TypeScript'))
  symlinkSync(join(ROOT, 'node_modules/fastify'), join(installed, 'node_modules/fastify'))
  for (const name of ['Fastify', 'Next']) {
    writeFileSync(join(installed, `${name}.ts`), blocksOf(name)[0]!)
  }
  writeFileSync(join(installed, 'browsers.ts'), BROWSERS_SERVER)
  const config = { extends: join(ROOT, 'tsconfig.json'), include: ['*.ts'] }
  writeFileSync(join(installed, 'tsconfig.json'), JSON.stringify(config))
  const compiler = join(ROOT, 'node_modules/typescript/bin/tsc')
  const { stdout } = await run(process.execPath, [compiler, '--pretty', 'false'], {
    cwd: installed,
  }).catch((fault: { stdout: string }) => fault)
  assert.equal(stdout, '')
})
