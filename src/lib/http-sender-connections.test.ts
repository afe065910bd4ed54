import assert from 'node:assert/strict'
import { subscribe } from 'node:diagnostics_channel'
import type { Socket } from 'node:net'
import { after, test } from 'node:test'
import { serve, serveRaw } from '../../test/support/servers.ts'
import { createSender, type Sender, type SenderOptions } from './http-sender.ts'

const HEADERS = { 'content-type': 'application/json', 'webhook-id': 'msg_1' }
const BODY = '{"event":"Charge.Paid"}'

function senderOf(options: Partial<SenderOptions> = {}): Sender {
  const sender = createSender({ guarded: false, ...options })
  after(() => sender.close())
  return sender
}

const ourSockets: Socket[] = []
subscribe('net.client.socket', (message) => {
  ourSockets.push((message as { socket: Socket }).socket)
})

test('a connection that its server has closed or written to while idle is not used again', async () => {
  const answer = 'HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok'
  const spoils: ((socket: Socket) => void)[] = [
    (socket) => socket.end(),
    (socket) => socket.resetAndDestroy(),
    (socket) => socket.write(answer.replace('ok', 'no')),
  ]
  for (const spoil of spoils) {
    const server = await serveRaw((socket) => socket.write(answer))
    const sender = senderOf({ limits: { idle_ms: 60_000 } })
    assert.equal((await sender.post(server.url, HEADERS, BODY)).body, 'ok')
    const ours = ourSockets.at(-1)!
    const closed = new Promise((resolve) => ours.once('close', resolve))
    spoil(server.sockets[0]!)
    await closed
    assert.equal((await sender.post(server.url, HEADERS, BODY)).body, 'ok')
    assert.equal(server.sockets.length, 2)
  }
})

test('a connection is not used again in the last second before its server closes it', async () => {
  for (const [offer, connections] of [
    ['Keep-Alive: timeout=1', 2],
    ['Connection: close', 2],
    ['Keep-Alive: timeout=9', 1],
  ] as const) {
    const server = await serve((_, response) => {
      const [name, value] = offer.split(': ')
      response.writeHead(200, { [name!]: value }).end()
    })
    const sender = senderOf()
    for (let i = 0; i < 2; i++) await sender.post(server.url, HEADERS, BODY)
    assert.equal(server.sockets.length, connections, offer)
  }
})

test('no proxy is taken from the environment', async () => {
  const proxy = await serve((_, response) => response.end())
  const { origin } = new URL(proxy.url)
  const variables = ['http_proxy', 'https_proxy', 'all_proxy']
  for (const name of [...variables, ...variables.map((name) => name.toUpperCase())]) {
    process.env[name] = origin
    after(() => delete process.env[name])
  }
  process.env.NODE_USE_ENV_PROXY = '1'
  after(() => delete process.env.NODE_USE_ENV_PROXY)
  const server = await serve((_, response) => response.end('own'))
  const lookup = async () => [{ address: '127.0.0.1', family: 4 }]
  const sender = senderOf({ lookup })
  const url = `http://hooks.example.com:${server.port}/`
  assert.equal((await sender.post(url, HEADERS, BODY)).body, 'own')
  assert.deepEqual([server.sockets.length, proxy.sockets.length], [1, 0])
})

test('no header can make two requests of one', async () => {
  const server = await serve((_, response) => response.end())
  const sender = senderOf()
  const headers = [
    { 'x-y': 'a\r\nb' },
    { 'x-y': 'a\nb: c' },
    { 'x-y': 'a\0' },
    { 'x-y': 'ç' },
    { 'x y': '' },
    { 'x:y': 'a' },
    { 'x\r\ny': 'a' },
    { '': 'a' },
    { 'Content-Length': '0' },
    { Host: 'a' },
    { 'transfer-encoding': 'chunked' },
    { connection: 'close' },
    { Expect: '100-continue' },
  ]
  for (const given of headers) {
    const code = 'ERR_INVALID_HEADER'
    await assert.rejects(sender.post(server.url, given as never, BODY), { code })
  }
  assert.equal(server.sockets.length, 0)
})
