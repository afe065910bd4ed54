import assert from 'node:assert/strict'
import type { LookupAddress } from 'node:dns'
import { test } from 'node:test'
import type { Reply } from '../../support/api.ts'
import { startApi } from '../../support/api.ts'
import { stored } from '../storage.ts'

/** What the name servers of this world know. */
const NAMES: Record<string, string[]> = {
  'public.example': ['93.184.215.14', '2606:2800:21f:cb07:6820:80da:af6b:8b2c'],
  'inside.example': ['10.0.0.5'],
  'metadata.example': ['169.254.169.254'],
  'loopback.example': ['::1'],
  'both.example': ['93.184.215.14', '192.168.0.1'],
  'nat64.example': ['64:ff9b::7f00:1'],
}

async function lookup(name: string): Promise<LookupAddress[]> {
  if (name === 'silent.example') return new Promise(() => {})
  const addresses = NAMES[name]
  if (!addresses) throw Object.assign(new Error('not found'), { code: 'ENOTFOUND' })
  return addresses.map((address) => ({ address, family: address.includes(':') ? 6 : 4 }))
}

const api = await startApi({}, { local: false, lookup })
const client = await api.client()

const post = (url: string): Promise<Reply> =>
  client.post('/webhook', { url, name: 'Loja', events: ['charge.paid'] })

const refusalOf = ({ status, body }: Reply): string => {
  assert.equal(status, 400, JSON.stringify(body))
  assert.equal(body.errors.length, 1)
  assert.equal(body.errors[0].code, 'invalid_value')
  return body.errors[0].description
}

const { id } = (await post('https://public.example/hook')).body.data

test('in production an address that is written as a number must be public', async () => {
  const before = await stored(api)
  for (const host of [
    '127.0.0.1',
    '10.1.2.3',
    '192.168.1.1',
    '169.254.169.254',
    '100.64.0.1',
    '0.0.0.0',
    '2130706433',
    '0x7f.1',
    '0177.0.0.1',
    '127.1',
    '[::1]',
    '[::ffff:10.0.0.1]',
    '[fe80::1]',
    '[fd00::1]',
    '[64:ff9b::a00:1]',
    '127.0.0.1.',
    '①②⑦.0.0.1',
  ]) {
    const url = `https://${host}/hook`
    assert.match(refusalOf(await post(url)), /^url: must not be a private or reserved/, url)
    assert.match(refusalOf(await client.put(`/webhook/${id}`, { url })), /^url: must not be/, url)
  }
  for (const host of ['localhost', 'printer', 'db.internal', 'nas.local', 'a.localhost.']) {
    assert.equal(refusalOf(await post(`https://${host}/`)), 'url: must be a public name', host)
  }
  assert.match(refusalOf(await post('http://public.example/')), /^url: must start with https/)
  assert.deepEqual(await stored(api), before)
})

test('in production a name must not resolve to a private address, not even with a public one', async () => {
  const before = await stored(api)
  for (const name of ['inside', 'metadata', 'loopback', 'both', 'nat64']) {
    const url = `https://${name}.example/hook`
    const rule = 'url: must not lead to a private or reserved address'
    assert.equal(refusalOf(await post(url)), rule, name)
    assert.equal(refusalOf(await client.put(`/webhook/${id}`, { url })), rule, name)
  }
  assert.deepEqual(await stored(api), before)
})

test('a name that does not exist yet, or whose servers do not answer, is accepted', async () => {
  for (const name of ['public', 'unknown', 'silent']) {
    const url = `https://${name}.example/hook`
    assert.equal((await post(url)).status, 201, name)
  }
  assert.equal((await post('https://93.184.215.14/')).status, 201)
  const changed = await client.put(`/webhook/${id}`, { url: 'https://unknown.example/' })
  assert.equal(changed.status, 200)
})

test('a change of other fields does not resolve the address', async () => {
  NAMES['unknown.example'] = ['10.0.0.5']
  const { status, body } = await client.put(`/webhook/${id}`, { name: 'Outra' })
  assert.deepEqual([status, body.data.name], [200, 'Outra'])
})
