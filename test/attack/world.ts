import { once } from 'node:events'
import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { openSmtp } from '../support/smtp.ts'
import type { World } from './attack.ts'

/** What has arrived under a name, and who waits for it. */
function createArrivals() {
  const seen = new Set<string>()
  const waiting = new Map<string, () => void>()
  return {
    note(name: string): void {
      seen.add(name)
      waiting.get(name)?.()
    },
    wait: (name: string): Promise<void> =>
      new Promise((resolve) => {
        if (seen.has(name)) resolve()
        else waiting.set(name, resolve)
      }),
  }
}

/** Opens a mail server and a server with receivers of every slowness. */
export async function openWorld(): Promise<World & { close(): Promise<void> }> {
  const [mails, posts] = [createArrivals(), createArrivals()]
  const smtp = await openSmtp({}, ({ to }) => {
    for (const address of to) mails.note(address)
  })
  const unanswered = new Map<ServerResponse, NodeJS.Timeout>()
  const answer = (response: ServerResponse) => {
    clearTimeout(unanswered.get(response))
    unanswered.delete(response)
    response.writeHead(200).end()
  }
  const server = createServer((request, response) => {
    const path = request.url ?? '/'
    const delay_ms = Number(path.split('/')[1])
    request.resume().on('end', () => {
      posts.note(path)
      if (delay_ms === 0) answer(response)
      else
        unanswered.set(
          response,
          setTimeout(() => answer(response), delay_ms),
        )
    })
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  return {
    smtpUrl: smtp.url,
    receiverUrl: `http://127.0.0.1:${port}`,
    mailTo: mails.wait,
    postTo: posts.wait,
    async release() {
      for (const response of [...unanswered.keys()]) answer(response)
    },
    async close() {
      for (const timer of unanswered.values()) clearTimeout(timer)
      server.closeAllConnections()
      server.close()
      await smtp.stop()
    },
  }
}
