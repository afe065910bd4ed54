import assert from 'node:assert/strict'
import { test } from 'node:test'
import { startApi } from '../../support/api.ts'
import { at } from '../../support/pages.ts'

const api = await startApi({ RATE_LIMIT: '1000' })

test('one address cannot reserve the whole stock of a link', async () => {
  const client = await api.client()
  const made = await client.post('/link', { title: 'Rifa', amount: 1000, stock: 50 })
  const { id, url } = made.body.data
  const buy = async (number: number) => {
    const fields = { once: String(number), price: '1000', name: 'Maria', taxId: '12345678909' }
    const body = new URLSearchParams(fields)
    const answer = await fetch(at(api, url), { method: 'POST', redirect: 'manual', body })
    await answer.text()
    return answer
  }
  const statuses = []
  for (let i = 0; i < 12; i++) statuses.push((await buy(i)).status)
  assert.deepEqual(statuses, [...Array(10).fill(303), 429, 429])
  assert.ok(Number((await buy(99)).headers.get('retry-after')) > 0)
  assert.equal((await client.get(`/link/${id}`)).body.data.remaining, 40)
})
