import { chargeOf, createRequests } from './create.ts'
import { type Measured, measure, post } from './load.ts'
import {
  benchDatabase,
  CONNECTIONS,
  measureAlternately,
  median,
  medianRatio,
  ratio,
  report,
  runVintem,
  SECONDS,
  type Target,
} from './setup.ts'

/** As many as a batch may have. */
const BATCH = 1000
/** Companies that send batches at the same time. */
const SENDERS = 2
const KNOWN_PAYERS = 1000

const keyOf = (keys: string[], n: number): string => keys[n % keys.length]!

/** Gives requests of all companies in turn, each a batch, with every second payer a new one. */
function batchRequests(keys: string[]): () => string {
  let asked = 0
  let payers = 0
  return () => {
    const n = asked++
    const charges = Array.from({ length: BATCH }, () => {
      const payer = payers++
      return chargeOf(payer % 2 === 0 ? payer % KNOWN_PAYERS : 10_000_000 + payer)
    })
    const headers = { 'X-API-KEY': keyOf(keys, n), 'Idempotency-Key': `batch-${n}` }
    return post('/charge/batch', headers, JSON.stringify({ charges }))
  }
}

/** The same single requests as `create`, each with an Idempotency-Key. */
function singleRequests(keys: string[]): () => string {
  let asked = 0
  const next = createRequests(keys)
  return () => next().replace('\r\n', `\r\nIdempotency-Key: single-${asked++}\r\n`)
}

/** Charges per second in batches of 1,000, against one by one at 64 connections. */
export async function run(): Promise<void> {
  const database = await benchDatabase()
  try {
    await compare(await runVintem(database.url))
  } finally {
    await database.stop()
  }
}

async function compare(vintem: Awaited<ReturnType<typeof runVintem>>): Promise<void> {
  const { port, keys }: Target = vintem
  const [batches, singles] = [batchRequests(keys), singleRequests(keys)]
  let last: Measured | undefined
  const { batch, single } = (await measureAlternately({
    batch: async () => {
      last = await measure({ port, connections: SENDERS, seconds: 0, count: 4, request: batches })
      return last.perSecond * BATCH
    },
    single: async () =>
      (
        await measure({ port, connections: CONNECTIONS, seconds: SECONDS, request: singles })
      ).perSecond,
  })) as { batch: number[]; single: number[] }
  await vintem.stop()
  report(
    `charges in batches of ${BATCH}, ${SENDERS} connections`,
    median(batch),
    `p50 ${last!.p50_ms.toFixed(0)} ms a batch, ${last!.failed} failed`,
  )
  report(`POST /charge/pix, ${CONNECTIONS} connections`, median(single))
  ratio('charges in batches ÷ one by one', medianRatio(batch, single), 1)
}
