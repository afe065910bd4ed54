import assert from 'node:assert/strict'
import { test } from 'node:test'
import { readConfig } from '../../../src/config.ts'
import { startApi } from '../../support/api.ts'
import { temporaryFolder } from '../../support/process.ts'
import { answer, line } from '../../support/withdrawals.ts'

const api = await startApi({ WEBHOOKS_PER_COMPANY: '3' })

const WEBHOOK = { url: 'http://127.0.0.1:9/', name: 'shop', events: ['charge.paid'] }

test('a company has no more webhooks than it may have, also when many are added at once', async () => {
  const client = await api.client()
  const replies = await Promise.all(
    Array.from({ length: 8 }, () => client.post('/webhook', WEBHOOK)),
  )
  const created = replies.filter(({ status }) => status === 201)
  assert.equal(created.length, 3)
  const refused = replies.find(({ status }) => status !== 201)!
  assert.deepEqual(answer(refused), [422, 'webhook_limit_exceeded'])
  assert.match(line(refused), /at most 3 webhooks/)
  assert.equal((await client.get('/webhook')).body.data.length, 3)
  await client.put(`/webhook/${created[0]!.body.data.id}`, { status: 'INACTIVE' })
  assert.deepEqual(answer(await client.post('/webhook', WEBHOOK)), [422, 'webhook_limit_exceeded'])
  await client.delete(`/webhook/${created[0]!.body.data.id}`)
  assert.equal((await client.post('/webhook', WEBHOOK)).status, 201)
  assert.equal((await (await api.client()).post('/webhook', WEBHOOK)).status, 201)
})

test('where nothing is set it may have fifty', () => {
  assert.equal(readConfig({ DATA_DIR: temporaryFolder() }).webhooksPerCompany, 50)
})
