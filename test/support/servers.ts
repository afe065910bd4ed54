import { generateKeyPairSync, sign } from 'node:crypto'
import { once } from 'node:events'
import { createServer, type RequestListener } from 'node:http'
import { createServer as createTlsServer } from 'node:https'
import {
  type AddressInfo,
  createServer as createTcpServer,
  type Server,
  type Socket,
} from 'node:net'
import { after } from 'node:test'

export type TestServer = {
  port: number
  url: string
  /** Every connection that has come, in that order. */
  sockets: Socket[]
  /** Resolves when all of them are closed. */
  isClosed(): Promise<void>
}

/** Servers on the loopback that answer as a test says, well or badly. */
async function listening(server: Server, scheme = 'http'): Promise<TestServer> {
  const sockets: Socket[] = []
  server.on('connection', (socket: Socket) => sockets.push(socket.on('error', () => {})))
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  after(() => {
    for (const socket of sockets) socket.destroy()
    server.close()
  })
  const isClosed = async () => {
    const closings = sockets.map((socket) => socket.closed || closed(socket))
    await Promise.all(closings)
  }
  const { port } = server.address() as AddressInfo
  return { port, url: `${scheme}://127.0.0.1:${port}/hook?x=1`, sockets, isClosed }
}

const closed = (socket: Socket) => new Promise((resolve) => socket.once('close', resolve))

export const serve = (answer: RequestListener) => listening(createServer(answer))

export const serveTls = (pair: Certified, answer: RequestListener) =>
  listening(createTlsServer(pair, answer), 'https')

/** A server below HTTP: it is given the socket once the request has begun to arrive. */
export const serveRaw = (answer: (socket: Socket) => void) =>
  listening(createTcpServer((socket) => socket.once('data', () => answer(socket))))

/** Writes a text again and again for as long as somebody reads it. */
export function flood(socket: Socket, text: string): void {
  const many = text.repeat(1 + 10_000 / text.length)
  const write = () => {
    while (!socket.destroyed && socket.write(many));
  }
  socket.on('drain', write)
  write()
}

export type Certified = { key: string; cert: string }

/** A key and a certificate that signs itself, with the name it is for. */
export function certificateFor(name: string): Certified {
  const { publicKey, privateKey } = generateKeyPairSync('ed25519')
  const bytes = (hex: string) => Buffer.from(hex, 'hex')
  const der = (tag: number, ...parts: Buffer[]) => {
    const content = Buffer.concat(parts)
    const { length } = content
    const size = length < 128 ? [length] : [0x82, length >> 8, length & 255]
    return Buffer.concat([Buffer.from([tag, ...size]), content])
  }
  const ed25519 = der(0x30, bytes('06032b6570'))
  const commonName = der(0x30, bytes('0603550403'), der(0x0c, Buffer.from(name)))
  const subject = der(0x30, der(0x31, commonName))
  const times = ['200101000000Z', '491231235959Z'].map((time) => der(0x17, Buffer.from(time)))
  const names = der(0x30, der(0x82, Buffer.from(name)))
  const extension = der(0x30, bytes('0603551d11'), der(0x04, names))
  const content = der(
    0x30,
    bytes('a003020102'),
    bytes('020101'),
    ed25519,
    subject,
    der(0x30, ...times),
    subject,
    publicKey.export({ type: 'spki', format: 'der' }),
    der(0xa3, der(0x30, extension)),
  )
  const signature = der(0x03, Buffer.from([0]), sign(null, content, privateKey))
  const base64 = der(0x30, content, ed25519, signature).toString('base64')
  const cert = `-----BEGIN CERTIFICATE-----\n${base64.replace(/.{64}/g, '$&\n')}\n-----END CERTIFICATE-----\n`
  return { key: privateKey.export({ type: 'pkcs8', format: 'pem' }).toString(), cert }
}
