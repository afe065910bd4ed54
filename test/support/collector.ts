import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { after } from 'node:test'

type Value = { stringValue?: string; intValue?: number | string; doubleValue?: number }
type Attribute = { key: string; value: Value }

/** A span as it was sent, in the JSON of OTLP. */
export type SentSpan = {
  traceId: string
  spanId: string
  parentSpanId?: string
  name: string
  kind: number
  attributes: Attribute[]
  links?: { traceId: string; spanId: string }[]
  status: { code?: number; message?: string }
}

/** What takes traces and metrics as a collector does, and keeps them. */
export type Collector = {
  url: string
  /** The bodies as they came, by path. */
  bodies: { path: string; type: string; body: Buffer }[]
  /** Those that came as JSON. */
  spans(): SentSpan[]
  text(): string
}

export async function startCollector(): Promise<Collector> {
  const bodies: Collector['bodies'] = []
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = []
    for await (const chunk of request) chunks.push(chunk as Buffer)
    const { url: path = '', headers } = request
    bodies.push({ path, type: headers['content-type'] ?? '', body: Buffer.concat(chunks) })
    response.setHeader('Content-Type', 'application/json')
    response.end('{}')
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  after(() => {
    server.closeAllConnections()
    server.close()
  })
  const { port } = server.address() as AddressInfo
  return {
    url: `http://127.0.0.1:${port}`,
    bodies,
    spans: () =>
      bodies
        .filter(({ path, type }) => path === '/v1/traces' && type === 'application/json')
        .flatMap(({ body }) => JSON.parse(body.toString()).resourceSpans)
        .flatMap(({ scopeSpans }) => scopeSpans)
        .flatMap(({ spans }) => spans),
    text: () => bodies.map(({ body }) => body.toString('latin1')).join('\n'),
  }
}

/** An attribute of a span, whatever its type. */
export function factOf({ attributes }: SentSpan, name: string): string | undefined {
  const found = attributes.find(({ key }) => key === name)?.value
  return found && String(Object.values(found)[0])
}
