import { setTimeout as pause } from 'node:timers/promises'
import { Agent, request } from 'undici'
import { payer } from '../support/api.ts'

export type Measured = { p50_ms: number; p99_ms: number; failed: number }

/** A sale begins so often; each has four requests, one after the other. */
const SALE_EVERY_MS = 100

/** A company that sells steadily: makes a charge, reads it, has it paid, lists the last ones. */
export function createNeighbour(url: string, key: string) {
  const agent = new Agent({ connections: 64, pipelining: 1 })

  async function ask(times: number[], path: string, json?: unknown) {
    const from = performance.now()
    const { statusCode, body } = await request(url + path, {
      dispatcher: agent,
      method: json === undefined ? 'GET' : 'POST',
      headers: { 'X-API-KEY': key, 'Content-Type': 'application/json' },
      body: json === undefined ? null : JSON.stringify(json),
    })
    const text = await body.text()
    times.push(performance.now() - from)
    if (statusCode >= 300) throw new Error(`${path} was answered ${statusCode} ${text}`)
    return JSON.parse(text).data
  }

  async function sell(times: number[]): Promise<void> {
    const charge = { amount: 1990, customer: payer(), devMode: true }
    const { id } = await ask(times, '/charge/pix', charge)
    await ask(times, `/charge/${id}`)
    await ask(times, `/charge/${id}/simulate-payment`, {})
    await ask(times, '/charge?limit=20')
  }

  return {
    sellOnce: () => sell([]),
    /** Sells for that long at a steady pace, whether or not earlier sales have ended. */
    async sellFor(seconds: number): Promise<Measured> {
      const times: number[] = []
      const faults: unknown[] = []
      const sales: Promise<unknown>[] = []
      const started = performance.now()
      for (let n = 0; n * SALE_EVERY_MS < seconds * 1000; n++) {
        await pause(Math.max(0, started + n * SALE_EVERY_MS - performance.now()))
        sales.push(sell(times).catch((fault) => faults.push(fault)))
      }
      await Promise.all(sales)
      if (faults.length > 0) console.error(`a neighbour’s sale failed: ${faults[0]}`)
      times.sort((a, b) => a - b)
      const at = (share: number) => times[Math.floor(times.length * share)] ?? Number.NaN
      return { p50_ms: at(0.5), p99_ms: at(0.99), failed: faults.length }
    },
    close: () => agent.close(),
  }
}
