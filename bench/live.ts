import { fork } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import type { Connection } from '../src/provider/bacen/connection.ts'
import { createRequests } from './create.ts'
import { type Measured, measure } from './load.ts'
import { cpuBelow_us } from './processor.ts'
import { AT_ONCE, openPuts } from './puts.ts'
import {
  atMost,
  type BenchDatabase,
  benchDatabase,
  end,
  measureAlternately,
  median,
  medianRatio,
  ratio,
  report,
  runVintem,
  SECONDS,
} from './setup.ts'

const MAX_MORE_ms = 5

/**
 * Live charges, each issued by a bank over mutual TLS, against the same PUTs by bare undici. A bare
 * Fastify that passes the PUTs on, without a database, shows what is left for a service here.
 */
export async function run(): Promise<void> {
  const database = await benchDatabase()
  const bank = fork(join(import.meta.dirname, 'bank.ts'))
  try {
    const [connection] = (await once(bank, 'message')) as [Connection]
    await compare(database, bank.pid!, connection)
  } finally {
    await end(bank)
    await database.stop()
  }
}

async function compare(database: BenchDatabase, bankPid: number, connection: Connection) {
  const vintem = await runVintem(database.url, connection)
  const relay = fork(join(import.meta.dirname, 'relay.ts'))
  relay.send(connection)
  const [relayPort] = (await once(relay, 'message')) as [number]
  const puts = await openPuts(connection)
  const request = createRequests(vintem.keys)
  const create = async (connections: number, port = vintem.port): Promise<Measured> => {
    const created = await measure({ port, seconds: SECONDS, connections, request })
    if (created.failed > 0) throw new Error(`${created.failed} charges failed`)
    return created
  }
  // The first charge of a company connects to its bank.
  const first = { count: vintem.keys.length, seconds: SECONDS, connections: AT_ONCE }
  await measure({ port: vintem.port, ...first, request })
  const usage = watchUsage({ Node: vintem.pid, PostgreSQL: database.postmaster, bank: bankPid })
  let last: Measured | undefined
  try {
    const measured = await measureAlternately({
      ours: async () => {
        last = await usage.during(() => create(AT_ONCE))
        return last.perSecond
      },
      bare: async () => (await measurePuts(puts.put, AT_ONCE)).perSecond,
      relayed: async () => (await create(AT_ONCE, relayPort)).perSecond,
      oursAlone_ms: async () => (await create(1)).p50_ms,
      bareAlone_ms: async () => (await measurePuts(puts.put, 1)).p50_ms,
    })
    print(measured as Sides, last!)
    usage.print()
  } finally {
    await Promise.all([vintem.stop(), end(relay), puts.close()])
  }
}

/** The processor that charges have used, of each process and all below it. */
function watchUsage(pids: Record<string, number>) {
  const used = new Map<string, number>()
  let charges = 0
  const read = () => Object.entries(pids).map(([name, pid]) => [name, cpuBelow_us(pid)] as const)
  return {
    async during(act: () => Promise<Measured>): Promise<Measured> {
      const before = new Map(read())
      const measured = await act()
      for (const [name, now_us] of read()) {
        used.set(name, (used.get(name) ?? 0) + now_us - before.get(name)!)
      }
      charges += measured.count
      return measured
    },
    print() {
      const each = [...used].map(([name, us]) => `${name} ${Math.round(us / charges)}`)
      console.log(`µs of the processor for each live charge: ${each.join(', ')} (not ours)`)
    },
  }
}

type Sides = Record<'ours' | 'bare' | 'relayed' | 'oursAlone_ms' | 'bareAlone_ms', number[]>

function print({ ours, bare, relayed, oursAlone_ms, bareAlone_ms }: Sides, last: Measured): void {
  const times = `p50 ${last.p50_ms.toFixed(1)} ms, p99 ${last.p99_ms.toFixed(1)} ms`
  report(`live charges with QR, ${AT_ONCE} connections`, median(ours), times)
  report('the same PUTs by bare undici', median(bare))
  report('the same passed on by bare Fastify', median(relayed))
  ratio('live charges ÷ bare PUTs', medianRatio(ours, bare), 0.6)
  ratio('passed on without a database ÷ bare PUTs', medianRatio(relayed, bare))
  const more_ms = median(oursAlone_ms.map((value, i) => value - bareAlone_ms[i]!))
  atMost('one at a time, more than a bare PUT', more_ms, MAX_MORE_ms)
  console.log(
    `  (a charge ${median(oursAlone_ms).toFixed(1)} ms, a PUT ${median(bareAlone_ms).toFixed(1)} ms)`,
  )
}

async function measurePuts(put: () => Promise<unknown>, connections: number) {
  const times: number[] = []
  const until = performance.now() + SECONDS * 1000
  const work = async () => {
    for (let from = performance.now(); from < until; ) {
      await put()
      const now = performance.now()
      times.push(now - from)
      from = now
    }
  }
  await Promise.all(Array.from({ length: connections }, work))
  return { perSecond: times.length / SECONDS, p50_ms: median(times) }
}
