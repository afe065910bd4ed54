import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { createServer as createSecureServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import type { TLSSocket } from 'node:tls'
import { trust } from './certificates.ts'

export type Taken = {
  path: string
  // biome-ignore lint/suspicious/noExplicitAny: a test asserts what it expects of a body
  body: any
  /** Who has called, by its certificate; null over plain HTTP. */
  caller: string | null
}

/** Takes callbacks of a bank, and gives them to who asks for them. */
export async function openReceiver(kind: 'plain' | 'certificates only' = 'plain') {
  let taken: Taken[] = []
  const take = async (request: IncomingMessage, reply: ServerResponse) => {
    const parts: Buffer[] = []
    for await (const part of request) parts.push(part as Buffer)
    const peer = kind === 'plain' ? null : (request.socket as TLSSocket).getPeerCertificate()
    const body = JSON.parse(Buffer.concat(parts).toString())
    taken.push({ path: request.url!, body, caller: peer && String(peer.subject.CN) })
    reply.end()
  }
  const server = kind === 'plain' ? createServer(take) : createSecureServer(await guarded(), take)
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const scheme = kind === 'plain' ? 'http' : 'https'
  return {
    url: `${scheme}://127.0.0.1:${(server.address() as AddressInfo).port}`,
    /** What has come since the last time. */
    taken(): Taken[] {
      const now = taken
      taken = []
      return now
    },
    close: async () => {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}

/** Lets those in alone who have a certificate of the bank's authority. */
async function guarded() {
  const { ca, server } = await trust()
  return { key: server.key, cert: server.certificate, ca, requestCert: true }
}
