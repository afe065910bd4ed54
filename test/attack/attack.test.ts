import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { after, test } from 'node:test'
import { START_OPTIONS } from '../../bench/setup.ts'
import { isLong } from '../support/long.ts'
import { until } from '../support/until.ts'
import { type Attack, openAgent } from './attack.ts'
import { ATTACKS } from './attacks.ts'
import { startFlood, triesIn } from './flood.ts'
import { createNeighbour } from './neighbour.ts'
import { type OpenScene, openScene } from './scene.ts'
import { openWorld } from './world.ts'

/**
 * The small version of `npm run test:attack`: the same attacks on the same service, with fewer
 * tries, and every third of them unless it is `npm run test:long`. It looks at answers only,
 * because times mean nothing while other tests run.
 */
const SCALE = 0.1
const world = await openWorld()
const scene: OpenScene = await openScene(world, SCALE)
const { key } = await scene.company()
const neighbour = createNeighbour(scene.url, key)
after(async () => {
  await neighbour.close()
  await scene.close()
  await world.close()
})

test('what is measured has the options of npm start', () => {
  const { scripts } = JSON.parse(readFileSync('package.json', 'utf8'))
  assert.equal(scripts.start.split('exec ')[1], `"$node" ${START_OPTIONS.join(' ')} src/main.ts`)
})

/** Attacks until a neighbour has sold something and got what else it waits for. */
async function strike(attack: Attack) {
  const context = await attack.open(scene)
  await attack.begin?.(scene, context)
  const agent = openAgent(500)
  const flood = startFlood({
    ...attack,
    most: attack.few,
    send: (n, signal) => attack.send({ url: scene.url, agent, signal }, context, n),
  })
  await neighbour.sellOnce()
  await attack.waiting?.measure(scene)
  const { refusal } = attack
  if (refusal) await until('something is refused', async () => flood.tally[refusal] ?? null)
  const tally = await (attack.holds ? flood.stop() : flood.done)
  await agent.destroy()
  await attack.calm?.(scene, context)
  return tally
}

const attacks = Object.entries(ATTACKS).filter((_, n) => isLong || n % 3 === 0)

for (const [name, attack] of attacks) {
  test(`a neighbour is served under ${name}: ${attack.title}`, async () => {
    const tally = await strike(attack)
    const answers = Object.keys(tally).map(Number)
    const unexpected = answers.filter((status) => !attack.statuses.includes(status))
    assert.deepEqual(unexpected, [], JSON.stringify(tally))
    assert.ok(triesIn(tally) > 0)
  })
}
