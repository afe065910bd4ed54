import assert from 'node:assert/strict'
import { request } from 'node:http'
import { openSandbox } from '../../src/sandbox.ts'
import { startWorker } from '../../src/worker/worker.ts'
import { payer, type Reply, startApi, type TestApi } from '../support/api.ts'

/** The service as `npm start` runs it: with its sandbox company and a worker. */
export type Local = TestApi & {
  apiKey: string
  companyId: string
  post(path: string, json?: unknown): Promise<Reply['body']>
  get(path: string): Promise<Reply['body']>
}

export async function startLocal(): Promise<Local> {
  // Local mode has one place.
  const api = await startApi({}, { places: 1 })
  const { apiKey, companyId } = await openSandbox(api.app)
  const worker = startWorker(api.app)
  api.atEnd(() => worker.stop())
  const send = async (method: string, path: string, json?: unknown) => {
    const reply = await api.call(method, path, { json, headers: { 'X-API-KEY': apiKey } })
    assert.ok(reply.status < 300, reply.text)
    return reply.body.data
  }
  return {
    ...api,
    apiKey,
    companyId,
    post: (path, json) => send('POST', path, json),
    get: (path) => send('GET', path),
  }
}

/** A charge of the sandbox company. */
export const charge = (
  local: Local,
  amount: number,
  fields: Record<string, unknown> = {},
  person: Record<string, unknown> = {},
) => local.post('/charge/pix', { amount, customer: payer(person), ...fields })

/** An agreement that waits for its payer. */
export async function subscription(local: Local, productName = 'Pão de todo dia') {
  const product = await local.post('/product', {
    name: productName,
    description: 'Uma assinatura',
    price: 4990,
    type: 'RECURRING',
    frequency: 'MONTHLY',
  })
  const { id: customerId } = await local.post('/client', payer({ status: 'ACTIVE' }))
  return local.post('/pix-automatic/recurrences', { productId: product.id, customerId })
}

export const bankUrl = ({ url }: TestApi, brCode: string): string =>
  `${url}/bank?code=${encodeURIComponent(brCode)}`

/** Asks with headers that only a browser sets by itself. */
export function ask(
  { url }: TestApi,
  method: string,
  path: string,
  headers: Record<string, string>,
  body = '',
): Promise<{ status: number; text: string }> {
  return new Promise((resolve, reject) => {
    const asked = request(url + path, { method, headers }, (response) => {
      let text = ''
      response.setEncoding('utf8').on('data', (chunk) => {
        text += chunk
      })
      response.on('end', () => resolve({ status: response.statusCode!, text }))
    })
    asked.on('error', reject).end(body)
  })
}
