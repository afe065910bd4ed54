import assert from 'node:assert/strict'
import { join } from 'node:path'
import { test } from 'node:test'
import { hostedVintemIn } from './support/cli.ts'
import { cloneDatabase } from './support/database.ts'
import { readSandbox, secretOf, startServer, temporaryFolder } from './support/process.ts'

const home = temporaryFolder()
const DATA_DIR = join(home, 'data')
const vintem = hostedVintemIn(home)
const run = (...args: string[]) => vintem(args, { DATA_DIR })
const server = await startServer({ DATA_DIR })

/** Runs a command that must succeed and reads its JSON. */
// biome-ignore lint/suspicious/noExplicitAny: a test asserts what it expects of an answer
async function answerOf(...args: string[]): Promise<any> {
  const { code, stdout, stderr } = await run(...args, '--json')
  assert.deepEqual({ code, stderr }, { code: 0, stderr: '' })
  return JSON.parse(stdout)
}

async function refused(pattern: RegExp, code: number, ...args: string[]): Promise<void> {
  const answer = await run(...args)
  assert.match(answer.stderr, pattern)
  assert.equal(answer.code, code)
}

const post = (url: string, form: Record<string, string> = {}, cookie = '') =>
  fetch(url, {
    method: 'POST',
    body: new URLSearchParams(form),
    redirect: 'manual',
    headers: { cookie },
  })

const cookieOf = ({ headers }: Response) => headers.get('set-cookie')!.split(';')[0]!

test('person link signs in the person of the sandbox once', async () => {
  const { email, url } = await answerOf('person', 'link')
  assert.equal(email, 'ana@example.com')
  assert.ok(url.startsWith(`${server.url}/sign-in/link/`), url)
  const signedIn = await post(url)
  assert.equal(signedIn.status, 303)
  const page = await fetch(`${server.url}/dashboard`, { headers: { cookie: cookieOf(signedIn) } })
  assert.equal(page.status, 200)
  assert.match(await page.text(), /Padaria do Vintém/)
  assert.equal((await post(url)).status, 410)
  await refused(
    /Nobody has the e-mail x@example\.com/,
    1,
    'person',
    'link',
    '--email',
    'x@example.com',
  )
})

test('person invite, list, role and remove', async () => {
  const { companyId } = readSandbox(DATA_DIR)
  const who = ['--email', 'Bia@example.com', '--company', companyId]
  const { url, email } = await answerOf('person', 'invite', ...who, '--role', 'viewer')
  assert.equal(email, 'bia@example.com')
  const joined = await post(url, { name: 'Bia', password: 'trilho-abajur-quintal-47' })
  assert.equal(joined.status, 303)
  const people = await answerOf('person', 'list', '--company', companyId)
  assert.deepEqual(
    people.map((one: { email: string; isOperator: boolean; memberships: object }) => [
      one.email,
      one.isOperator,
      one.memberships,
    ]),
    [
      ['ana@example.com', true, [{ companyId, role: 'owner' }]],
      ['bia@example.com', false, [{ companyId, role: 'viewer' }]],
    ],
  )
  const { stdout } = await run('person', 'list')
  assert.match(stdout, /^bia@example\.com +no +\S+Z +viewer:/m)
  await answerOf('person', 'role', ...who, '--role', 'support')
  const page = await fetch(`${server.url}/dashboard`, {
    headers: { cookie: cookieOf(joined) },
    redirect: 'manual',
  })
  assert.equal(page.headers.get('location'), '/sign-in?next=%2Fdashboard', 'the session has ended')
  const owner = ['--email', 'ana@example.com', '--company', companyId]
  await refused(/^--role: a company has at least one owner/, 1, 'person', 'remove', ...owner)
  await refused(/at least one owner/, 1, 'person', 'role', ...owner, '--role', 'viewer')
  assert.equal((await answerOf('person', 'remove', ...who)).removed, true)
  await refused(/no such member/, 1, 'person', 'remove', ...who)
})

test('the people of a sandbox that is reset belong to the new one', async () => {
  const { companyId: former } = readSandbox(DATA_DIR)
  const { companyId } = await answerOf('sandbox', 'reset')
  assert.notEqual(companyId, former)
  const people = await answerOf('person', 'list', '--company', companyId)
  assert.deepEqual(people[0].memberships, [{ companyId, role: 'owner' }])
  assert.deepEqual(await answerOf('person', 'list', '--company', former), [])
})

test('what was typed wrongly is refused with the usage', async () => {
  const { companyId } = readSandbox(DATA_DIR)
  const email = ['--email', 'x@example.com']
  const company = ['--company', companyId]
  await refused(/--company and --role, or --operator/, 2, 'person', 'invite', ...email)
  await refused(/belong together/, 2, 'person', 'invite', ...email, ...company)
  const typed = ['person', 'invite', ...email, ...company, '--role']
  await refused(/--role: one of owner, finance/, 2, ...typed, 'boss')
  await refused(/--language: pt or en/, 2, ...typed, 'viewer', '--language', 'fr')
  const none = ['person', 'invite', '--email', 'x', ...company, '--role', 'viewer']
  await refused(/^--email: must be an e-mail address/, 1, ...none)
})

test('with SMTP_URL the address is only printed when asked for, and a server has no sandbox', async () => {
  const own = {
    DATABASE_URL: await cloneDatabase(),
    SECRET_KEY: secretOf('cli person'),
    PUBLIC_URL: 'https://pix.example.com',
    SMTP_URL: 'smtp://127.0.0.1:1',
    MAIL_FROM: 'vintem@example.com',
  }
  const args = ['person', 'invite', '--email', 'op@example.com', '--operator', '--language', 'en']
  const quiet = await vintem(args, own)
  assert.equal(quiet.code, 0, quiet.stderr)
  assert.doesNotMatch(quiet.stdout, /https:/)
  const printed = await vintem([...args, '--print'], own)
  assert.match(printed.stdout, /https:\/\/pix\.example\.com\/invitation\/[\w-]{43}\n/)
  const link = await vintem(['person', 'link'], own)
  assert.match(link.stderr, /Missing: --email/)
  assert.equal(link.code, 2)
})
