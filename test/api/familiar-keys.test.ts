import assert from 'node:assert/strict'
import { test } from 'node:test'
import { startApi } from '../support/api.ts'

const api = await startApi({ RATE_LIMIT: '1000' })
const BELIEVED_MS = 10_000

test('a neighbour at the same address who tries wrong keys locks out nobody whose key has worked', async (t) => {
  const [known, fresh] = [await api.client(), await api.client()]
  assert.equal((await known.get('/company')).status, 200)
  // Time stands still, later than a key is believed without a look: no token comes back meanwhile.
  const later = performance.now() + BELIEVED_MS + 1
  t.mock.method(performance, 'now', () => later)
  const wrong = { headers: { 'X-API-KEY': 'vk_sandbox_wrong' } }
  let status = 401
  for (let i = 0; i < 1000 && status === 401; i++) {
    status = (await api.call('GET', '/company', wrong)).status
  }
  assert.equal(status, 429)
  assert.equal((await fresh.get('/company')).status, 429, 'it could be a guess')
  assert.equal((await known.get('/company')).status, 200)
})
