import assert from 'node:assert/strict'
import { test } from 'node:test'
import pg from 'pg'
import { createCompany } from '../../src/core/companies/commands.ts'
import { mayOwnerReset } from '../../src/core/people/reset-factors.ts'
import { setMembership } from '../../src/core/people/store.ts'
import { appsOf } from '../../src/core/places/front.ts'
import { LATEST } from '../../src/versions/history.ts'
import { databaseAt } from '../citus/cluster.ts'
import { payer, startApi } from '../support/api.ts'
import { type Member, signIn } from '../support/dashboard.ts'
import { makeCode, order } from '../support/payments.ts'
import { cookieOf, getPage, givePassword, PASSWORD, postForm } from '../support/people.ts'

const api = await startApi({}, { places: 2 })
const [first, second] = appsOf(api.app) as [typeof api.app, typeof api.app]

/** Does something while nobody can connect to a place. */
async function whileDown(place: 1 | 2, act: () => Promise<void>): Promise<void> {
  const down = new URL(api.places[place - 1]!)
  const name = down.pathname.slice(1)
  const base = new pg.Client({ connectionString: databaseAt(down.href, 'postgres') })
  await base.connect()
  try {
    await base.query(`alter database ${name} allow_connections false`)
    await base.query('select pg_terminate_backend(pid) from pg_stat_activity where datname = $1', [
      name,
    ])
    await act()
  } finally {
    await base.query(`alter database ${name} allow_connections true`)
    await base.end()
  }
}

test('companies of one place work as fast as ever while another place is down', async () => {
  const client = await api.client()
  assert.equal((await client.get('/charge')).status, 200)
  await whileDown(1, async () => {
    const times: number[] = []
    for (let n = 0; n < 5; n += 1) {
      const start_ms = performance.now()
      const made = await client.post('/charge/pix', { amount: 1000, customer: payer() })
      assert.equal(made.status, 201, made.text)
      times.push(Math.round(performance.now() - start_ms))
    }
    assert.ok(Math.max(...times) < 1_000, `each took ${times.join(', ')} ms`)
  })
})

const bakery = await first.db.transaction((tx) => {
  const company = { name: 'Padaria do Centro', taxId: '11222333000181', email: 'a@example.com' }
  const version = { mode: 'sandbox', apiVersion: LATEST.name } as const
  return createCompany(tx, { ...company, ...version }, api.clock.now())
})
const { company: market } = await api.client({ name: 'Mercado da Praia' })

/** Somebody who belongs to a company of each place. */
async function makeMember(): Promise<Member> {
  const member = await signIn(api, bakery, { language: 'en' })
  await setMembership(first.db.control, market.id, member.person.id, 'owner', api.clock.now())
  await givePassword(api, member.person)
  return member
}

const enter = async ({ person }: Member): Promise<string> =>
  cookieOf(await postForm(api, '/sign-in', { email: person.email, password: PASSWORD }))

/** How often somebody has signed in, as the activity logs of both companies say. */
const entriesOf = ({ person }: Member): Promise<number[]> =>
  Promise.all(
    [first, second].map(async ({ db }) => {
      const text = `select from activity where author_id = $1 and action = 'session.start'`
      return (await db.query({ text, values: [person.id] })).length
    }),
  )

test('somebody with companies in two places signs in while one of them is down', async () => {
  const member = await makeMember()
  await enter(member)
  assert.deepEqual(await entriesOf(member), [1, 1])
  await whileDown(2, async () => {
    const cookie = await enter(member)
    const { status, text } = await getPage(api, '/dashboard', { cookie })
    assert.equal(status, 200)
    assert.match(text, /Padaria do Centro/)
    assert.match(text, /Some of your companies cannot be reached/)
    assert.equal(await mayOwnerReset(first.db.control, bakery.id, member.person), false)
  })
  assert.deepEqual(await entriesOf(member), [2, 1])
  const { text } = await getPage(api, '/dashboard', { cookie: await enter(member) })
  assert.match(text, /Mercado da Praia/)
  assert.doesNotMatch(text, /cannot be reached/)
  assert.deepEqual(await entriesOf(member), [3, 2])
})

test('somebody whose only company is in a place that is down sees that', async () => {
  const member = await signIn(api, market, { language: 'en' })
  await whileDown(2, async () => {
    const { status, text } = await member.get('//dashboard')
    assert.equal(status, 200)
    assert.match(text, /Some of your companies cannot be reached/)
  })
  assert.equal((await member.get('//dashboard')).location, member.home)
})

test('somebody signs in while another place is lost in the middle of it', async () => {
  const member = await makeMember()
  await api.rows(
    `create function end_connection() returns trigger language plpgsql as $$ begin
       perform pg_terminate_backend(pg_backend_pid());
       return null;
     end $$`,
  )
  await api.rows(
    'create trigger lost after insert on activity for each row execute function end_connection()',
  )
  try {
    const cookie = await enter(member)
    assert.equal((await getPage(api, '/dashboard', { cookie })).status, 200)
  } finally {
    await api.rows('drop trigger lost on activity')
  }
  assert.deepEqual(await entriesOf(member), [1, 0])
})

test('a code whose company may be in a place that is down is not called unknown', async () => {
  const { brCode } = await makeCode(await api.client(), 700)
  const pay = () => order(api, { brCode })
  await whileDown(2, async () => assert.ok((await pay()).status >= 500))
  assert.equal((await pay()).status, 201)
})
