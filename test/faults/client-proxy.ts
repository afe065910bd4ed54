import { once } from 'node:events'
import { Agent, createServer, type IncomingMessage, request, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { buffer } from 'node:stream/consumers'
import type { Random } from './random.ts'

/** What the proxy can do to a request or to its answer. */
export const FATES = [
  'cut before it is forwarded',
  'cut after it was forwarded',
  'cut in the answer',
  'ended early, as if it were whole',
  'answered too late',
  'forwarded twice at once',
  'forwarded again after its answer',
  'refused by the proxy',
] as const
export type Fate = (typeof FATES)[number]

type Answer = { status: number; headers: Record<string, string>; body: Buffer }

export type FaultProxy = {
  url: string
  /** How often each happened. */
  counts: Record<Fate | 'passed', number>
  close(): Promise<void>
}

/**
 * A proxy before the service that is unreliable in every way that a network is: it treats
 * every second request badly, and the first ones in each way.
 */
export async function startFaultProxy(target: string, random: Random): Promise<FaultProxy> {
  const counts = Object.fromEntries([...FATES, 'passed'].map((fate) => [fate, 0])) as Record<
    Fate | 'passed',
    number
  >
  const agent = new Agent({ keepAlive: true })
  let requests = 0
  const server = createServer(async (incoming, outgoing) => {
    const first = FATES[requests++]
    const other = random.onceIn(2) ? 'passed' : FATES[random.below(FATES.length)]!
    const fate = first ?? other
    const part = random.part()
    counts[fate] += 1
    const body = await buffer(incoming)
    const forward = () => forwardTo(target, agent, incoming, body)
    await treat(fate, part, forward, outgoing)
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  return {
    url: `http://127.0.0.1:${port}`,
    counts,
    async close() {
      server.closeAllConnections()
      server.close()
      agent.destroy()
    },
  }
}

async function treat(
  fate: Fate | 'passed',
  part: number,
  forward: () => Promise<Answer>,
  outgoing: ServerResponse,
): Promise<void> {
  const cut = () => outgoing.socket?.destroy()
  if (fate === 'cut before it is forwarded') return void cut()
  if (fate === 'refused by the proxy') {
    return void outgoing.writeHead(part < 0.5 ? 502 : 429, { 'retry-after': '0' }).end('busy')
  }
  if (fate === 'forwarded twice at once') {
    const answers = await Promise.all([forward(), forward()])
    return send(outgoing, answers[part < 0.5 ? 0 : 1])
  }
  const answer = await forward()
  if (fate === 'cut after it was forwarded') return void cut()
  // Nothing more comes: the client has to end it.
  if (fate === 'answered too late') return
  const beginning = answer.body.subarray(0, Math.floor(part * answer.body.length))
  if (fate === 'cut in the answer') {
    outgoing.writeHead(answer.status, { ...answer.headers, 'content-length': answer.body.length })
    return void outgoing.write(beginning, cut)
  }
  if (fate === 'ended early, as if it were whole') {
    return send(outgoing, { ...answer, body: beginning })
  }
  send(outgoing, fate === 'forwarded again after its answer' ? await forward() : answer)
}

const send = (outgoing: ServerResponse, { status, headers, body }: Answer) =>
  void outgoing.writeHead(status, headers).end(body)

async function forwardTo(
  target: string,
  agent: Agent,
  { method, url, headers }: IncomingMessage,
  body: Buffer,
): Promise<Answer> {
  const forwarded = request(target + url, { method, headers, agent }).end(body)
  const [answer] = (await once(forwarded, 'response')) as [IncomingMessage]
  const { 'content-type': type = '', 'x-api-version': version = '' } = answer.headers
  return {
    status: answer.statusCode!,
    headers: { 'content-type': type, 'x-api-version': String(version) },
    body: await buffer(answer),
  }
}
