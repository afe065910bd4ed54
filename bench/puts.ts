import { Agent } from 'undici'
import { newId } from '../src/lib/ids.ts'
import type { Connection } from '../src/provider/bacen/connection.ts'
import { chargeTxid } from '../src/provider/txid.ts'

/** How many charges are ordered at once. */
export const AT_ONCE = 32

/** Orders charges at the bank by bare undici, and nothing else. */
export async function openPuts({ profile, certificate, ca, clientId, clientSecret }: Connection) {
  if (certificate.kind !== 'pem') throw new Error('the stand-in bank gives PEM')
  const { certificate: cert, key } = certificate
  const agent = new Agent({ connections: AT_ONCE, connect: { cert, key, ca: ca! } })
  const pair = Buffer.from(`${clientId}:${clientSecret}`).toString('base64')
  const url = new URL(profile.token.url)
  const reply = await agent.request({
    origin: url.origin,
    path: url.pathname,
    method: 'POST',
    headers: {
      authorization: `Basic ${pair}`,
      'content-type': 'application/x-www-form-urlencoded',
    },
    body: 'grant_type=client_credentials&scope=cob.read+cob.write',
  })
  const token = ((await reply.body.json()) as { access_token: string }).access_token
  const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' }
  const { origin, pathname } = new URL(profile.baseUrl)
  const body = JSON.stringify({
    calendario: { expiracao: 1800 },
    valor: { original: '10.00' },
    chave: 'bench@example.com',
  })
  async function put(): Promise<string> {
    const path = `${pathname}${profile.paths.cob}/cob/${chargeTxid(newId())}`.replace('//', '/')
    const answer = await agent.request({ origin, path, method: 'PUT', headers, body })
    const text = await answer.body.text()
    if (answer.statusCode !== 201) throw new Error(`the bank answers ${answer.statusCode}`)
    return text
  }
  return { put, close: () => agent.close() }
}
