import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { mkdirSync, readFileSync, realpathSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { startApi } from './support/api.ts'
import { runIn } from './support/cli.ts'
import { isLong } from './support/long.ts'
import { inherited, temporaryFolder } from './support/process.ts'

const ROOT = join(import.meta.dirname, '..')
const BIN = join(ROOT, 'bin/vintem.mjs')

const api = await startApi()
const folder = realpathSync(temporaryFolder())
const env = {
  ...api.databases,
  SECRET_KEY: api.app.config.secretKey.toString('base64'),
  HOME: folder,
}

/** Runs the installed command in the folder of somebody who is not in the clone. */
const vintem = (args: string[], own: Record<string, string> = {}) =>
  runIn(folder, [BIN, ...args], { ...env, ...own })

const statement = (companyId: string, output: string) => {
  const days = ['--from', '2026-08-01', '--to', '2026-08-31']
  return ['export', 'statement', '--company', companyId, ...days, '--output', output]
}

test('a file is written to the folder of the user', async () => {
  const { company } = await api.client()
  mkdirSync(join(folder, 'books'))
  const file = join(folder, 'books/august.csv')
  const { code, stdout, stderr } = await vintem(statement(company.id, 'books/august.csv'))
  assert.deepEqual({ code, stderr }, { code: 0, stderr: '' })
  assert.equal(stdout, `1 records are in ${file}.\n`)
  assert.match(readFileSync(file, 'utf8'), /OPENING/)
  if (!isLong) return
  const again = await vintem(statement(company.id, 'books/august.csv'))
  assert.match(again.stderr, RegExp(`^--output: ${file} exists already`))
  const nowhere = await vintem(statement(company.id, 'none/august.csv'))
  assert.match(nowhere.stderr, RegExp(`^--output: there is no folder ${folder}/none`))
})

test('files that options name are read from the folder of the user', async () => {
  const { company } = await api.client()
  writeFileSync(join(folder, 'profile.json'), 'no JSON')
  writeFileSync(join(folder, 'secret'), 'two words')
  const files = ['--profile-file', 'profile.json', '--client-secret-file', './secret']
  const options = ['--profile', 'custom', '--client-id', 'x', '--certificate', 'none.pem']
  const connect = ['bank', 'connect', '--company', company.id, ...options, ...files]
  const { code, stderr } = await vintem(connect)
  assert.equal(code, 1)
  assert.match(stderr, /--profile-file: is not JSON/)
  assert.match(stderr, /--client-secret-file: the file must hold the secret alone/)
  assert.ok(stderr.includes(`--certificate: there is no file ${folder}/none.pem`), stderr)
})

test('VINTEM_KEY_FILE of the shell is read from the folder of the user', async () => {
  const { key } = await api.client()
  writeFileSync(join(folder, 'key'), `${key}\n`)
  const ask = (file: string) =>
    vintem(['charges', 'list'], { VINTEM_URL: api.url, VINTEM_KEY_FILE: file })
  if (isLong) {
    const { code, stderr } = await ask('key')
    assert.deepEqual({ code, stderr }, { code: 0, stderr: '' })
  }
  const missing = await ask('no-key')
  assert.ok(missing.stderr.includes(`${folder}/no-key is missing`), missing.stderr)
})

test('npm run vintem knows the folder of the user too', () => {
  const { scripts } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8'))
  // As npm runs it: in the clone, and with the folder in which npm was called.
  const { stderr } = spawnSync(
    'sh',
    ['-c', `${scripts.vintem} ${statement('x', 'none/x.csv').join(' ')}`],
    { cwd: ROOT, env: { ...inherited, ...env, INIT_CWD: folder }, encoding: 'utf8' },
  )
  assert.match(stderr, RegExp(`^--output: there is no folder ${folder}/none`))
})
