import { setTimeout as pause } from 'node:timers/promises'
import { request } from 'undici'
import { payer } from '../support/api.ts'
import type { Scene, Shop } from './attack.ts'

export type Made = { id: string; brCode: string; token: string }

/** Made at once, well below what a company may send. */
const TOGETHER = 50

/** A request of a company that must be answered as expected. If it is too fast, it waits. */
export async function call(
  { url }: Pick<Scene, 'url'>,
  { key }: Pick<Shop, 'key'>,
  path: string,
  json?: unknown,
  // biome-ignore lint/suspicious/noExplicitAny: a client reads what it expects of a body
): Promise<any> {
  const { statusCode, body } = await request(url + path, {
    method: json === undefined ? 'GET' : 'POST',
    headers: { 'X-API-KEY': key, 'Content-Type': 'application/json' },
    body: json === undefined ? null : JSON.stringify(json),
  })
  const text = await body.text()
  if (statusCode === 429) {
    await pause(1000)
    return call({ url }, { key }, path, json)
  }
  if (statusCode >= 300) throw new Error(`${path} was answered ${statusCode} ${text}`)
  return JSON.parse(text).data
}

/** Open charges of a company, with the tokens of their pages. */
export async function makeCharges(
  scene: Scene,
  shop: Shop,
  count: number,
  fields: Record<string, unknown> = {},
): Promise<Made[]> {
  const made: Made[] = []
  while (made.length < count) {
    const rest = Math.min(TOGETHER, count - made.length)
    const some = Array.from({ length: rest }, async () => {
      const charge = { amount: 1990, customer: payer(), ...fields }
      const { id, brCode, url } = await call(scene, shop, '/charge/pix', charge)
      return { id, brCode, token: String(url).split('/pay/')[1]! }
    })
    made.push(...(await Promise.all(some)))
  }
  return made
}

export const companies = (scene: Scene, count: number): Promise<Shop[]> =>
  Promise.all(Array.from({ length: count }, () => scene.company()))
