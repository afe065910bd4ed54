import { cpus, loadavg } from 'node:os'
import { parseArgs } from 'node:util'
import { measureUndisturbed } from '../../bench/processor.ts'
import { ATTACKS } from './attacks.ts'
import { addTally, type Tally } from './flood.ts'
import { createNeighbour, type Measured } from './neighbour.ts'
import { type OutsideProcess, startOutside } from './outside-process.ts'
import { type OpenScene, openScene } from './scene.ts'
import { faultsOf, type Result, tableOf, writeTable } from './table.ts'

/**
 * `npm run test:attack -- --rounds 5 --seconds 8 --only lists,mails --write`
 *
 * Attacks a running service at the rates that its limits allow, while a neighbour sells steadily.
 * Each round measures the neighbour without the attack and with it, one after the other, because a
 * shared machine may be half as fast from one second to the next.
 */
const { values } = parseArgs({
  options: {
    rounds: { type: 'string', default: '5' },
    // In 8 s the neighbour sends 320 requests. A p99 of fewer is the time of the slowest few.
    seconds: { type: 'string', default: '8' },
    only: { type: 'string', default: Object.keys(ATTACKS).join() },
    write: { type: 'boolean', default: false },
  },
})
const [rounds, seconds] = [Number(values.rounds), Number(values.seconds)]
const names = values.only.split(',')
const unknown = names.filter((name) => !(name in ATTACKS))
if (unknown.length > 0 || !(rounds >= 1 && seconds > 0)) {
  console.error(`--only takes names among ${Object.keys(ATTACKS).join()}`)
  process.exit(2)
}

type Neighbour = ReturnType<typeof createNeighbour>
type Parts = { scene: OpenScene; outside: OutsideProcess; neighbour: Neighbour }

/** Measures a neighbour, and something else that it waits for meanwhile. */
async function measure(
  { scene, neighbour }: Parts,
  waitFor?: (scene: OpenScene) => Promise<void>,
): Promise<{ sold: Measured; waited_s: number }> {
  const from = performance.now()
  const waiting = waitFor?.(scene).then(() => (performance.now() - from) / 1000)
  const sold = await neighbour.sellFor(seconds)
  return { sold, waited_s: (await waiting) ?? 0 }
}

async function run(parts: Parts, name: string): Promise<Result> {
  const { scene, outside } = parts
  const attack = ATTACKS[name]!
  const { title, waiting } = attack
  const context = await attack.open(scene)
  const tally: Tally = {}
  const result: Result = {
    title,
    tally,
    without: [],
    with: [],
    block_ms: { without: 0, with: 0 },
    waiting: waiting ? { ...waiting, without_s: [], with_s: [] } : null,
  }
  let tries = 0
  const measureBoth = async () => {
    await scene.longestBlock_ms()
    const calm = await measure(parts, waiting?.measure)
    const calmBlock_ms = await scene.longestBlock_ms()
    await attack.begin?.(scene, context)
    await outside.start(name, scene.url, context, tries++ * 1_000_000)
    const hit = await measure(parts, waiting?.measure)
    addTally(tally, await outside.stop())
    const hitBlock_ms = await scene.longestBlock_ms()
    await attack.calm?.(scene, context)
    return { calm, hit, calmBlock_ms, hitBlock_ms }
  }
  const { block_ms } = result
  for (let round = 0; round < rounds; round++) {
    const { calm, hit, calmBlock_ms, hitBlock_ms } = await measureUndisturbed(measureBoth)
    result.without.push(calm.sold)
    result.with.push(hit.sold)
    block_ms.without = Math.max(block_ms.without, calmBlock_ms)
    block_ms.with = Math.max(block_ms.with, hitBlock_ms)
    result.waiting?.without_s.push(calm.waited_s)
    result.waiting?.with_s.push(hit.waited_s)
  }
  return result
}

/** What else the machine did: figures of a busy one say little. */
function describeMachine(): string {
  const [load] = loadavg()
  return (
    `${rounds} rounds of ${seconds} s on ${cpus().length} cores, which also ran the attackers, the ` +
    `neighbour and the database. Load average before it began: ${load!.toFixed(1)}.`
  )
}

async function main(): Promise<boolean> {
  const how = describeMachine()
  const outside = await startOutside()
  const scene = await openScene(outside.world, 1)
  const { key } = await scene.company()
  const neighbour = createNeighbour(scene.url, key)
  const parts = { scene, outside, neighbour }
  const results: Result[] = []
  try {
    // Compiles what is measured later.
    await neighbour.sellFor(seconds)
    for (const name of names) {
      console.error(`${name}: ${ATTACKS[name]!.title}`)
      results.push(await run(parts, name))
      console.error(`${tableOf(results.slice(-1)).split('\n').at(-1)}\n`)
    }
  } finally {
    await neighbour.close()
    outside.close()
    await scene.close()
  }
  const table = tableOf(results)
  console.log(`${how}\n\n${table}`)
  if (values.write) writeTable(table, how)
  return results.every((result) => faultsOf(result).length === 0)
}

process.exit((await main()) ? 0 : 1)
