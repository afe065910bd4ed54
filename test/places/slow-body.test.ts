import assert from 'node:assert/strict'
import { once } from 'node:events'
import { connect } from 'node:net'
import { test } from 'node:test'
import { setTimeout as pause } from 'node:timers/promises'
import { moveCompany } from '../../src/core/moves/move.ts'
import { payer, startApi } from '../support/api.ts'

const api = await startApi({}, { places: 2 })

test('a request whose body arrives slowly is not acknowledged in the place that was left', async () => {
  const client = await api.client()
  const { id } = client.company
  await client.get('/charge')
  const body = JSON.stringify({ amount: 1234, customer: payer(), devMode: true })
  const socket = connect({ host: '127.0.0.1', port: Number(new URL(api.url).port) })
  await once(socket, 'connect')
  let answer = ''
  socket.on('data', (chunk) => {
    answer += String(chunk)
  })
  // The key is found before the body is read, and the request remembers the place.
  socket.write(
    `POST /charge/pix HTTP/1.1\r\nHost: x\r\nX-API-KEY: ${client.key}\r\n` +
      'Content-Type: application/json\r\nConnection: close\r\n' +
      `Content-Length: ${Buffer.byteLength(body)}\r\n\r\n${body.slice(0, 10)}`,
  )
  await pause(300)
  // The old place has forgotten the company before the rest of the body is sent.
  await moveCompany({ companyId: id, urls: api.places, from: 2, to: 1, workers_ms: 0, grace_ms: 0 })
  socket.write(body.slice(10))
  await once(socket, 'close')
  const status = Number(/^HTTP\/1.1 (\d+)/.exec(answer)?.[1])
  const { body: list } = await client.get('/charge')
  assert.ok(status === 503 || list.data.length === 1, `${status}, charges: ${list.data.length}`)
})
