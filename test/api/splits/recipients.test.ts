import assert from 'node:assert/strict'
import { test } from 'node:test'
import { fromPublic } from '../../../src/lib/ids.ts'
import { startApi } from '../../support/api.ts'
import { dataOf, makeRecipient, makeSettled, requireClean } from '../../support/splits.ts'
import { liveWithMoney } from '../../support/withdrawals.ts'

const api = await startApi()
const ANA = { name: 'Padaria da Ana', taxId: '529.982.247-25', pixKey: 'Ana@Example.com' }

const faultsOf = ({ body }: { body: { errors: { description: string }[] } }) =>
  body.errors.map(({ description }) => description)

test('a recipient is shown with its tax id and key masked, and both are sealed', async () => {
  const client = await api.client()
  const made = dataOf(await client.post('/recipient', ANA))
  const now = api.clock.now().toISOString()
  assert.match(made.id, /^rcpt_[0-9a-z]{26}$/)
  const shown = {
    id: made.id,
    name: 'Padaria da Ana',
    taxId: '***.***.247-25',
    pixKey: 'a***@example.com',
    status: 'ACTIVE',
    createdAt: now,
    updatedAt: now,
  }
  assert.deepEqual(made, shown)
  assert.deepEqual(dataOf(await client.get(`/recipient/${made.id}`)), shown)
  assert.deepEqual(dataOf(await client.get('/recipient')), [shown])
  assert.deepEqual(dataOf(await client.get('/recipient?taxId=52998224725')), [shown])
  assert.deepEqual(dataOf(await client.get('/recipient?taxId=39053344705')), [])
  assert.deepEqual(dataOf(await client.get('/recipient?status=INACTIVE')), [])
  const [row] = await api.rows('select * from recipients where id = $1', [
    fromPublic('rcpt', made.id),
  ])
  assert.doesNotMatch(
    JSON.stringify(row, (_, value) =>
      value?.type === 'Buffer' ? Buffer.from(value.data).toString('latin1') : value,
    ),
    /52998224725|ana@example/i,
  )
})

test('every form of a Pix key is taken, and what is none is refused with what to send', async () => {
  const client = await api.client({ mode: 'live', pixKey: 'dona@example.com' })
  const ask = (fields: object) => client.post('/recipient', { ...ANA, ...fields })
  const good: [string, string][] = [
    ['529.982.247-25', '***.***.247-25'],
    ['+55 (11) 98888-7777', '(**) *****-7777'],
    ['+551133334444', '(**) ****-4444'],
    ['MARIA@EXAMPLE.COM', 'm***@example.com'],
    ['123E4567-e89b-12d3-a456-426614174000', '123e4567-e89b-12d3-a456-426614174000'],
  ]
  for (const [pixKey, shown] of good) {
    assert.equal(dataOf(await ask({ pixKey })).pixKey, shown)
  }
  const form =
    'pixKey: must be a CPF, a CNPJ, a phone such as +5511988887777, an e-mail or a random key'
  for (const pixKey of ['11988887777', 'x', '', '+5511', 'maria@']) {
    const reply = await ask({ pixKey })
    // Eleven digits are a CPF, and this one is none.
    const rule =
      pixKey === '11988887777' ? 'pixKey: is a CPF or a CNPJ, and another one than taxId' : form
    assert.deepEqual([reply.status, ...faultsOf(reply)], [400, rule], pixKey)
  }
  const other = await ask({ pixKey: '390.533.447-05' })
  assert.deepEqual(faultsOf(other), ['pixKey: is a CPF or a CNPJ, and another one than taxId'])
  assert.deepEqual(faultsOf(await ask({ taxId: '52998224724' })), ['taxId: has wrong check digits'])
  const long = await ask({ pixKey: `${'a'.repeat(70)}@example.com` })
  assert.deepEqual(faultsOf(long), ['pixKey: must have at most 77 characters'])
})

test('a company knows nothing of the recipients of another one', async () => {
  const [owner, other] = [await api.client(), await api.client()]
  const id = await makeRecipient(owner)
  for (const reply of [
    await other.get(`/recipient/${id}`),
    await other.get(`/recipient/${id}/balance`),
    await other.get(`/recipient/${id}/statement`),
    await other.put(`/recipient/${id}`, { name: 'Eu' }),
    await other.post(`/recipient/${id}/payout`),
    await other.get('/recipient/rcpt_1'),
  ]) {
    assert.deepEqual([reply.status, reply.body.errors[0].code], [404, 'recipient_not_found'])
  }
  assert.deepEqual(dataOf(await other.get('/recipient')), [])
})

test('another Pix key is told to the company by mail, and a live one waits a day before it pays to it', async () => {
  const client = await liveWithMoney(api)
  const id = await makeRecipient(client)
  const seen = async () =>
    (
      await api.rows<{ kind: string }>('select kind from mails where company_id = $1', [
        client.company.id,
      ])
    ).filter(({ kind }) => kind === 'recipient-key-changed').length
  dataOf(await client.put(`/recipient/${id}`, { name: 'Outro nome' }))
  assert.equal(await seen(), 0)
  const changed = dataOf(await client.put(`/recipient/${id}`, { pixKey: 'novo@example.com' }))
  assert.equal(changed.pixKey, 'n***@example.com')
  assert.equal(await seen(), 1)
  const wait = await client.post(`/recipient/${id}/payout`)
  assert.deepEqual([wait.status, wait.body.errors[0].code], [409, 'recipient_key_changed'])
  api.clock.advance(24 * 3600)
  const after = await client.post(`/recipient/${id}/payout`)
  assert.deepEqual([after.status, after.body.errors[0].code], [422, 'insufficient_balance'])
  for (let i = 0; i < 20; i++) {
    await client.put(`/recipient/${id}`, { pixKey: `k${i}@example.com` })
  }
  const last = await client.put(`/recipient/${id}`, { pixKey: 'mais@example.com' })
  assert.deepEqual([last.status, last.body.errors[0].code], [429, 'rate_limited'])
  assert.equal(dataOf(await client.get(`/recipient/${id}`)).pixKey, 'k***@example.com')
})

test('a statement has pages', async () => {
  const client = await api.client()
  const recipientId = await makeRecipient(client)
  for (const amount of [600, 700, 800]) {
    await makeSettled(api, client, amount, [{ recipientId, percent: 10_000 }])
  }
  const first = await client.get(`/recipient/${recipientId}/statement?limit=2`)
  const balances = ({ balance }: { balance: number }) => balance
  assert.deepEqual(dataOf(first).map(balances), [2100, 1300])
  const [, next] = /<([^>]+)>/.exec(first.headers.get('link')!)!
  const rest = await client.get(next!.replace(/^https?:\/\/[^/]+/, ''))
  assert.deepEqual(dataOf(rest).map(balances), [600])
  await requireClean(api, client)
})
