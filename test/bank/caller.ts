import { Agent, request } from 'undici'
import type { Bank } from './bank.ts'
import type { Identity } from './certificates.ts'

export type Reply = {
  status: number
  type: string
  // biome-ignore lint/suspicious/noExplicitAny: a test asserts what it expects of a body
  body: any
}

export type Caller = {
  send(method: string, path: string, options?: SendOptions): Promise<Reply>
  token(scope?: string): Promise<Reply>
  /** A call with a token for everything, below the place where the API is. */
  call(method: string, path: string, json?: unknown): Promise<Reply>
  close(): Promise<void>
}

type SendOptions = { headers?: Record<string, string>; text?: string }

/** A client of a bank that knows nothing but HTTP. */
export function openCaller(bank: Bank, identity: Identity | null = bank.credentials): Caller {
  const secret = identity ? { cert: identity.certificate, key: identity.key } : {}
  const agent = new Agent({ connect: { ca: bank.ca, ...secret } })
  const send: Caller['send'] = async (method, path, { headers = {}, text } = {}) => {
    const url = path.startsWith('https:') ? path : bank.url + path
    const options = { method: method as 'GET', headers, body: text ?? null, dispatcher: agent }
    const reply = await request(url, options)
    const type = String(reply.headers['content-type'] ?? '')
    const answered = await reply.body.text()
    const body =
      answered === '' ? undefined : type.includes('json') ? JSON.parse(answered) : answered
    return { status: reply.statusCode, type, body }
  }
  const token = (scope = ALL) => {
    const { clientId, clientSecret } = bank.credentials
    const basic = Buffer.from(`${clientId}:${clientSecret}`).toString('base64')
    const type = 'application/x-www-form-urlencoded'
    return send('POST', bank.tokenUrl, {
      headers: { authorization: `Basic ${basic}`, 'content-type': type },
      text: new URLSearchParams({ grant_type: 'client_credentials', scope }).toString(),
    })
  }
  let own: string | undefined
  let endsAt = new Date(0)
  return {
    send,
    token,
    async call(method, path, json) {
      if (endsAt <= bank.state().clock.now()) {
        own = (await token()).body.access_token
        endsAt = bank.state().tokens.at(-1)!.endsAt
      }
      const headers = { authorization: `Bearer ${own}` }
      if (json === undefined) return send(method, `/api/v2${path}`, { headers })
      const typed = { ...headers, 'content-type': 'application/json' }
      return send(method, `/api/v2${path}`, { headers: typed, text: JSON.stringify(json) })
    },
    close: () => agent.destroy(),
  }
}

const ALL = [
  'cob.write',
  'cob.read',
  'cobv.write',
  'cobv.read',
  'pix.write',
  'pix.read',
  'webhook.read',
  'webhook.write',
  'rec.write',
  'rec.read',
  'cobr.write',
  'cobr.read',
  'webhookrec.read',
  'webhookrec.write',
  'webhookcobr.read',
  'webhookcobr.write',
  'payloadlocationrec.write',
].join(' ')
