import { type Context, openAgent } from './attack.ts'
import { ATTACKS } from './attacks.ts'
import { startFlood } from './flood.ts'
import { openWorld } from './world.ts'

/**
 * The process of attackers, of the mail server and of receivers: what they cost is not taken from
 * the neighbour whose requests are measured in the process that started this one.
 */
export type Order =
  | { do: 'start'; attack: string; url: string; context: Context; first: number }
  | { do: 'stop' }
  | { do: 'mailTo'; name: string }
  | { do: 'postTo'; name: string }
  | { do: 'release' }

export type Asked = { id: number; order: Order }

const CONNECTIONS = 2000
const world = await openWorld()
let flood: ReturnType<typeof startFlood> | null = null

function start({ attack, url, context, first }: Order & { do: 'start' }): void {
  const { send, ...pace } = ATTACKS[attack]!
  const agent = openAgent(CONNECTIONS)
  const begun = startFlood({
    ...pace,
    send: (n, signal) => send({ url, agent, signal }, context, first + n),
  })
  flood = {
    ...begun,
    async stop() {
      const tally = await begun.stop()
      await agent.destroy()
      return tally
    },
  }
}

async function carryOut(order: Order): Promise<unknown> {
  if (order.do === 'start') return start(order)
  if (order.do === 'stop') return flood!.stop()
  if (order.do === 'release') return world.release()
  return world[order.do](order.name)
}

process.on('message', async ({ id, order }: Asked) => {
  const answer = await carryOut(order)
  process.send!({ id, answer })
})
process.on('disconnect', () => process.exit(0))
process.send!({ id: 0, answer: { smtpUrl: world.smtpUrl, receiverUrl: world.receiverUrl } })
