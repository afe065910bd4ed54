import assert from 'node:assert/strict'
import crypto from 'node:crypto'
import { syncBuiltinESMExports } from 'node:module'
import { type TestContext, test } from 'node:test'
import { lockPerson } from '../../src/core/people/second-factors-store.ts'
import { startSession } from '../../src/core/people/sessions.ts'
import { findPerson } from '../../src/core/people/store.ts'
import { startApi, type TestApi } from '../support/api.ts'
import { signIn } from '../support/dashboard.ts'
import { isLong } from '../support/long.ts'
import { cookieOf, getPage, givePassword, PASSWORD, postForm } from '../support/people.ts'
import { stopTime } from '../support/stopped-time.ts'
import { until } from '../support/until.ts'

const api = await startApi()
const client = await api.client()

async function member(on: TestApi = api) {
  const made = await signIn(on, on === api ? client.company : (await on.client()).company)
  await givePassword(on, made.person)
  return made
}

test('somebody signs in with e-mail and password, and goes on where they wanted to go', async () => {
  const { person, home } = await member()
  const page = await getPage(api, `/sign-in?next=${home}/charges`)
  assert.equal(page.status, 200)
  assert.match(page.text, new RegExp(`name="next" value="${home}/charges"`))
  assert.equal(page.headers.get('cache-control'), 'no-store')
  const typed = { email: ` ${person.email.toUpperCase()} `, password: PASSWORD }
  const done = await postForm(api, '/sign-in', { ...typed, next: home })
  assert.equal(done.status, 303)
  assert.equal(done.location, home)
  assert.match(done.headers.get('set-cookie')!, /; HttpOnly; SameSite=Lax$/)
  assert.equal((await getPage(api, home, { cookie: cookieOf(done) })).status, 200)
  const again = await getPage(api, '/sign-in', { cookie: cookieOf(done) })
  assert.equal(again.location, '/dashboard')
})

test('nobody is sent to another site after signing in', async () => {
  const { person } = await member()
  for (const next of ['https://evil.example', '//evil.example', '/\\evil.example', '/docs']) {
    const done = await postForm(api, '/sign-in', { email: person.email, password: PASSWORD, next })
    assert.equal(done.location, '/dashboard', next)
  }
  const twice = await getPage(api, '/sign-in?next=/account&next=//evil.example')
  assert.match(twice.text, /name="next" value="\/account"/)
})

test('a wrong password, an unknown e-mail and no password of their own give the same page', async () => {
  const { person } = await member()
  const without = await signIn(api, client.company)
  const pages = []
  for (const email of [person.email, 'nobody@example.com', without.person.email]) {
    const page = await postForm(api, '/sign-in', { email, password: 'not-the-password' })
    assert.equal(page.status, 401)
    assert.equal(page.headers.get('set-cookie'), null)
    // What a passkey would sign is new in every page.
    const same = page.text.replace(/data-options="[^"]+"|name="state" value="[^"]+"/g, '')
    pages.push(same.replaceAll(email, ''))
  }
  assert.equal(new Set(pages).size, 1)
  assert.match(pages[0]!, /E-mail ou senha incorretos/)
})

/** Counts the hashes that are made, with what they cost. */
function countHashes(t: TestContext): string[] {
  const costs: string[] = []
  const real = crypto.argon2
  t.mock.method(crypto, 'argon2', (...args: Parameters<typeof real>) => {
    const { memory, passes, parallelism } = args[1]
    costs.push(`${memory} ${passes} ${parallelism}`)
    return real(...args)
  })
  syncBuiltinESMExports()
  t.after(() => {
    t.mock.restoreAll()
    syncBuiltinESMExports()
  })
  return costs
}

test('an unknown e-mail costs the same hash as a known one', async (t) => {
  const { person } = await member()
  const costs = countHashes(t)
  for (const email of [person.email, 'nobody@example.com']) {
    await postForm(api, '/sign-in', { email, password: 'not-the-password' })
  }
  assert.deepEqual(costs, ['19456 2 1', '19456 2 1'])
})

test('a new session begins with each sign-in, and the one that the browser had before ends', async () => {
  const former = await member()
  const { person } = await member()
  const typed = { email: person.email, password: PASSWORD }
  const done = await postForm(api, '/sign-in', typed, { cookie: former.cookie })
  assert.notEqual(cookieOf(done), former.cookie)
  assert.equal((await former.get('')).status, 303, 'the former session has ended')
  const fixed = await postForm(api, '/sign-in', typed, { cookie: `vintem=${'x'.repeat(43)}` })
  assert.notEqual(cookieOf(fixed), `vintem=${'x'.repeat(43)}`)
  const tried = await getPage(api, former.home, { cookie: `vintem=${'x'.repeat(43)}` })
  assert.equal(tried.status, 303, 'a token that somebody else chose is never a session')
})

const GUESSES = isLong ? 1_000 : 50

test(`${GUESSES} guesses for an account are refused, and so is the right password among them`, async (t) => {
  stopTime(t)
  const { person } = await member()
  const statuses = new Map<number, number>()
  for (let count = 0; count < GUESSES; count++) {
    const password = `not-the-password-${count}`
    const { status } = await postForm(api, '/sign-in', { email: person.email, password })
    statuses.set(status, (statuses.get(status) ?? 0) + 1)
  }
  assert.deepEqual(Object.fromEntries(statuses), { 401: 10, 429: GUESSES - 10 })
  const right = await postForm(api, '/sign-in', { email: person.email, password: PASSWORD })
  assert.equal(right.status, 429)
  assert.match(right.text, /Muitas tentativas\. Aguarde 1 minuto/)
  assert.equal(right.headers.get('retry-after'), '60')
})

test('guesses from one address are refused, whatever the account', async (t) => {
  const limited = await startApi({ RATE_LIMIT: '100' })
  stopTime(t)
  const statuses = []
  for (let count = 0; count < 40; count++) {
    const typed = { email: `person-${count}@example.com`, password: 'x' }
    statuses.push((await postForm(limited, '/sign-in', typed)).status)
  }
  assert.deepEqual(statuses.slice(0, 30), Array(30).fill(401))
  assert.deepEqual(statuses.slice(30), Array(10).fill(429))
})

test('after 100 wrong passwords in a row only a new one works', async (t) => {
  const time = stopTime(t)
  const { person } = await member()
  await api.peopleRows('update people set wrong_passwords = 99 where id = $1', [person.id])
  const guess = (password: string) => postForm(api, '/sign-in', { email: person.email, password })
  assert.equal((await guess('not-the-password')).status, 401)
  assert.equal((await guess(PASSWORD)).status, 401)
  await givePassword(api, person)
  time.advance(60)
  assert.equal((await guess('not-the-password')).status, 401)
  assert.equal((await guess(PASSWORD)).status, 303)
  const [row] = await api.peopleRows('select wrong_passwords as wrong from people where id = $1', [
    person.id,
  ])
  assert.deepEqual(row, { wrong: 0 })
})

test('wrong passwords are counted before they are checked, so that none beyond the 100th is', async (t) => {
  stopTime(t)
  const { person } = await member()
  await api.peopleRows('update people set wrong_passwords = 99 where id = $1', [person.id])
  const guess = (password: string) => postForm(api, '/sign-in', { email: person.email, password })
  const waiting = (count: number) =>
    until('guesses wait for their turn', async () => {
      const [row] = await api.peopleRows<{ count: number }>(
        `select count(*)::int as count from pg_locks l join pg_stat_activity a using (pid)
         where not l.granted and a.datname = current_database()`,
      )
      return row!.count >= count
    })
  const guesses: Promise<{ status: number }>[] = []
  await api.app.db.control.transaction(async (tx) => {
    await lockPerson(tx, person.id)
    for (const [n, password] of ['not-the-password', PASSWORD].entries()) {
      guesses.push(guess(password))
      await waiting(n + 1)
    }
  })
  const statuses = (await Promise.all(guesses)).map(({ status }) => status)
  assert.deepEqual(statuses, [401, 401])
})

test('a hash of a former cost is made again at the next sign-in', async () => {
  const { person } = await member()
  const { argon2Sync } = crypto
  const salt = Buffer.alloc(16, 7)
  const cost = { memory: 8192, passes: 1, parallelism: 1 }
  const hash = argon2Sync('argon2id', { message: PASSWORD, nonce: salt, tagLength: 32, ...cost })
  const text = (bytes: Buffer) => bytes.toString('base64').replaceAll('=', '')
  const former = `$argon2id$v=19$m=8192,t=1,p=1$${text(salt)}$${text(hash)}`
  await api.peopleRows('update people set password = $2 where id = $1', [person.id, former])
  const done = await postForm(api, '/sign-in', { email: person.email, password: PASSWORD })
  assert.equal(done.status, 303)
  const { password } = (await findPerson(api.app.db.control, person.id))!
  assert.match(password!, /\$m=19456,t=2,p=1\$/)
})

test('a form from another origin does not sign in', async () => {
  const { person } = await member()
  const typed = { email: person.email, password: PASSWORD }
  const foreign: Record<string, string>[] = [
    { origin: 'https://evil.example' },
    { origin: 'null' },
    { 'sec-fetch-site': 'cross-site' },
    { 'sec-fetch-site': 'same-site' },
  ]
  for (const headers of foreign) {
    const refused = await postForm(api, '/sign-in', typed, { headers })
    assert.equal(refused.status, 400, JSON.stringify(headers))
    assert.equal(refused.headers.get('set-cookie'), null)
  }
  const own = { headers: { origin: 'http://vintem.test' } }
  assert.equal((await postForm(api, '/sign-in', typed, own)).status, 303)
})

test('a person has at most 50 sessions: the one that was seen longest ago ends', async () => {
  const { person, ...first } = await member()
  const sessions = 'select count(*)::int as count from sessions where person_id = $1'
  for (let count = 0; count < 55; count++) {
    api.clock.advance(1)
    const proof = { isConfirmed: false, hasSecondFactor: false, byLink: false }
    const origin = { address: '127.0.0.1', device: 'test' }
    const now = api.clock.now()
    await startSession(api.app.db.control, api.app.vault, person.id, origin, proof, now)
  }
  assert.deepEqual(await api.peopleRows(sessions, [person.id]), [{ count: 50 }])
  assert.equal((await first.get('')).status, 303)
})
