import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { promisify } from 'node:util'
import { SCOPES, type Scope } from '../../src/core/companies/rules.ts'
import { TOOLS } from '../../src/mcp/tools/all.ts'
import { connectAgent } from '../support/agents.ts'
import { startApi } from '../support/api.ts'
import { inherited, temporaryFolder } from '../support/process.ts'

const ROOT = join(import.meta.dirname, '..', '..')
const GUIDE = readFileSync(join(ROOT, 'docs/guides/agents.md'), 'utf8')
const api = await startApi()
const company = await api.client()

/** The only block of the guide in a language. */
function blockOf(language: string): string {
  const blocks = [...GUIDE.matchAll(/```(\w*)\n([\s\S]*?)```/g)]
  const own = blocks.filter(([, name]) => name === language).map(([, , text]) => text!)
  assert.equal(own.length, 1, `the guide has one block of ${language}`)
  return own[0]!.replaceAll('http://127.0.0.1:3000', api.url)
}

test('the file for clients connects', async () => {
  const { url, headers } = JSON.parse(blockOf('json')).mcpServers.vintem
  const key = company.key
  assert.deepEqual(headers, { Authorization: 'Bearer YOUR_API_KEY' })
  assert.equal(url, `${api.url}/mcp`)
  assert.equal((await (await connectAgent(api, { key })).names()).length, TOOLS.length)
})

test('the program creates a charge and explains it', async () => {
  const folder = temporaryFolder()
  symlinkSync(join(ROOT, 'node_modules'), join(folder, 'node_modules'))
  writeFileSync(join(folder, 'agent.mjs'), blockOf('js'))
  const env = { ...inherited, VINTEM_KEY: company.key }
  const run = promisify(execFile)
  const { stdout } = await run(process.execPath, ['agent.mjs'], { cwd: folder, env })
  const [, shown] = /It prints [^`]*`([^`]+)`/.exec(GUIDE)!
  const [start, end] = shown!.split('…')
  assert.ok(stdout.startsWith(start!) && stdout.trim().endsWith(end!), stdout)
})

test('the guide lists every tool with its scope, and names scopes that exist', () => {
  const rows = [...GUIDE.matchAll(/^\| `(\w+)`(, in the sandbox only)? \| `([\w:]+)` \|$/gm)]
  const listed = rows.map(([, name, sandbox, scope]) => [name, scope, Boolean(sandbox)])
  const tools = TOOLS.map(({ name, scope, isSandbox = false }) => [name, scope, isSandbox])
  assert.deepEqual(listed.sort(), tools.sort())
  const named = [...GUIDE.matchAll(/[a-z]+:(?:read|write)\b/g)].map(([scope]) => scope as Scope)
  assert.deepEqual(
    named.filter((scope) => !SCOPES.includes(scope)),
    [],
  )
})
