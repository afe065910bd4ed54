import assert from 'node:assert/strict'
import { type ClientRequest, get, type IncomingMessage } from 'node:http'
import { test } from 'node:test'
import { formTokenOf } from '../../src/core/people/sessions.ts'
import { trust } from '../bank/certificates.ts'
import { startApi } from '../support/api.ts'
import { type Member, signIn } from '../support/dashboard.ts'
import { lettersOf } from '../support/mail.ts'
import { stopTime } from '../support/stopped-time.ts'
import { addApp } from '../support/totp.ts'
import { until } from '../support/until.ts'

const api = await startApi({ RATE_LIMIT: '100' })

test('people of one company open so many pages a second, and others go on', async (t) => {
  const time = stopTime(t)
  const [busy, other] = [await api.client(), await api.client()]
  const [person, neighbour] = [await signIn(api, busy.company), await signIn(api, other.company)]
  const replies = await Promise.all(Array.from({ length: 210 }, () => person.get('/new')))
  const refused = replies.filter(({ status }) => status === 429)
  assert.equal(refused.length, 10)
  assert.match(refused[0]!.text, /Aguarde alguns segundos/)
  assert.equal((await neighbour.get('/new')).status, 200)
  time.advance(Number(refused[0]!.headers.get('retry-after')))
  assert.equal((await person.get('/new')).status, 200)
})

test('a company uploads five certificates at once, then one in 30 seconds', async (t) => {
  const time = stopTime(t)
  const { client } = await trust()
  const open = async () => {
    const { company } = await api.client({ mode: 'live', pixKey: 'dona@example.com' })
    return signIn(api, company, { hasSecondFactor: true })
  }
  const upload = async (member: Member) => {
    const form = new FormData()
    form.set('token', formTokenOf(api.app.vault, member.session))
    for (const [name, value] of Object.entries(CONNECTION)) form.set(name, value)
    form.set('certificate', new Blob([client.certificate]), 'bank.pem')
    form.set('key', new Blob([client.key]), 'bank.key')
    const url = `${api.url}${member.home}/settings/bank/connect`
    const headers = { cookie: member.cookie }
    const reply = await fetch(url, { method: 'POST', body: form, headers, redirect: 'manual' })
    return reply.status
  }
  const [busy, other] = [await open(), await open()]
  for (let count = 0; count < 5; count++) assert.equal(await upload(busy), 303)
  assert.equal(await upload(busy), 429)
  assert.equal(await upload(other), 303)
  time.advance(31)
  assert.equal(await upload(busy), 303)
  assert.equal(await upload(busy), 429)
})

test('a person changes their factors 20 times at once, so that operators are not flooded', async (t) => {
  stopTime(t)
  const { company } = await api.client()
  const reader = await signIn(api, company, { role: null, isOperator: true })
  const busy = await signIn(api, company, { role: null, isOperator: true })
  await addApp(api, busy)
  const statuses = new Map<number, number>()
  for (let count = 0; count < 25; count++) {
    const { status } = await busy.post('//account/security/recovery-codes')
    statuses.set(status, (statuses.get(status) ?? 0) + 1)
  }
  assert.deepEqual(Object.fromEntries(statuses), { 200: 19, 429: 6 })
  assert.equal((await lettersOf(api, reader.person.id)).length, 1)
})

test('a company changes who can reach its money 20 times at once, then once in 6 minutes', async (t) => {
  const time = stopTime(t)
  const [busy, other] = [await api.client(), await api.client()]
  const [owner, neighbour] = [await signIn(api, busy.company), await signIn(api, other.company)]
  const change = (member: Member, count: number) =>
    member.post('/settings/approvals', { amount: `${count},00` })
  for (let count = 1; count <= 20; count++) assert.equal((await change(owner, count)).status, 303)
  assert.equal((await change(owner, 21)).status, 429)
  assert.equal((await change(neighbour, 21)).status, 303)
  time.advance(361)
  assert.equal((await change(owner, 21)).status, 303)
})

const CONNECTION = {
  profile: 'efi',
  pixKey: 'dona@example.com',
  clientId: 'Client_Id_teste',
  clientSecret: 'segredo',
  accountType: 'corrente',
  payouts: 'manual',
}

/** A file whose reader stops after its beginning. */
function openFile(member: Member): Promise<{ request: ClientRequest; status: number }> {
  const url = `${api.url}${member.home}/settings/activity.csv?author=all`
  return new Promise((resolve, reject) => {
    const headers = { cookie: member.cookie }
    const request = get(url, { headers, agent: false }, (reply: IncomingMessage) => {
      reply.pause()
      resolve({ request, status: reply.statusCode! })
    })
    request.on('error', reject)
  })
}

test('a company reads two files at once, until their readers are gone', async () => {
  const { company } = await api.client()
  const owner = await signIn(api, company)
  // Far more than what waits between server and reader.
  await api.rows(
    `insert into activity (company_id, id, at, author_kind, author_name, action, details)
     select $1, gen_random_uuid(), now(), 'service', 'vintem', 'x',
       jsonb_build_object('text', repeat('x', 2000)) from generate_series(1, 20000)`,
    [company.id],
  )
  const files = [await openFile(owner), await openFile(owner)]
  assert.deepEqual(
    files.map(({ status }) => status),
    [200, 200],
  )
  const third = await openFile(owner)
  assert.equal(third.status, 429)
  const neighbour = await signIn(api, (await api.client()).company)
  assert.equal((await openFile(neighbour)).status, 200)
  for (const { request } of [...files, third]) request.on('error', () => {}).destroy()
  await until('there is room again', async () => {
    const file = await openFile(owner)
    file.request.on('error', () => {}).destroy()
    return file.status === 200
  })
})
