import { createRequests } from './create.ts'
import { type Answered, measure, measureOpen } from './load.ts'
import {
  atMost,
  benchDatabase,
  CONNECTIONS,
  median,
  progress,
  ratio,
  report,
  runVintem,
  type Target,
  verdictOf,
} from './setup.ts'

/** How long is looked for the rate that can be served, and then for each overload. */
const FIND_S = 3
const ROUNDS = 3
const LOAD_S = Number(process.env.BENCH_SECONDS ?? 10)
/** How much more comes than can be served. */
const TIMES = 2

const MAX_ACCEPTED_MS = 1000
/** Who is refused shall know it at once. */
const MAX_REFUSED_MS = 500
/** Of what can be served, so much is served while twice as much comes. */
const LEAST_SERVED = 0.5

/**
 * Finds how many charges can be created in a second, and sends twice as many, at a constant rate.
 * Times count from when a request should have been sent, so that no wait is left out.
 */
export async function run(): Promise<void> {
  const database = await benchDatabase()
  try {
    const vintem = await runVintem(database.url)
    const request = createRequests(vintem.keys)
    const perSecond = await findRate(vintem, request)
    report('charges that can be created', perSecond, `${CONNECTIONS} connections`)
    progress(`${TIMES} times as many for ${LOAD_S} s`)
    const load = { port: vintem.port, perSecond: TIMES * perSecond, seconds: LOAD_S, request }
    print(await measureOpen(load), perSecond)
    progress('as before')
    report('charges that can be created afterwards', await findRate(vintem, request))
    await vintem.stop()
  } finally {
    await database.stop()
  }
}

/** The median of some rounds after one that only warms up. */
async function findRate({ port }: Target, request: () => string): Promise<number> {
  const rates: number[] = []
  for (let round = 0; round <= ROUNDS; round++) {
    progress(round === 0 ? 'warm-up' : `round ${round} of ${ROUNDS}`)
    const found = await measure({ port, connections: CONNECTIONS, seconds: FIND_S, request })
    if (round > 0) rates.push(found.perSecond)
  }
  return median(rates)
}

function print(all: Answered[], perSecond: number): void {
  const accepted = all.filter(({ status }) => status < 300)
  const refused = all.filter(({ status }) => status === 503 || status === 429)
  const others = all.length - accepted.length - refused.length
  const silent = refused.filter(({ mayRetry }) => !mayRetry).length
  report('sent at a constant rate', all.length / LOAD_S, `${all.length} in ${LOAD_S} s`)
  report('accepted', accepted.length / LOAD_S, timesOf(accepted))
  report('refused', refused.length / LOAD_S, timesOf(refused))
  ratio('accepted ÷ what can be served', accepted.length / LOAD_S / perSecond, LEAST_SERVED)
  atMost('accepted, p99', at(accepted, 0.99), MAX_ACCEPTED_MS)
  atMost('refused, p99', at(refused, 0.99), MAX_REFUSED_MS)
  const isClean = verdictOf(silent + others === 0)
  const [mute, odd] = [`refused without Retry-After: ${silent}`, `answered otherwise: ${others}`]
  console.log(`${mute}; broken or ${odd}; bar 0: ${isClean}`)
}

const timesOf = (answered: Answered[]): string =>
  [0.5, 0.99, 1].map((part) => `p${part * 100} ${at(answered, part).toFixed(0)} ms`).join(', ')

/** The time within which this part of them was answered. */
function at(answered: Answered[], part: number): number {
  const times = answered.map(({ took_ms }) => took_ms).sort((a, b) => a - b)
  return times[Math.min(times.length - 1, Math.floor(times.length * part))] ?? 0
}
