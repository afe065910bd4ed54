import { fork } from 'node:child_process'
import { constants, setPriority } from 'node:os'
import { join } from 'node:path'
import type { Context, World } from './attack.ts'
import type { Tally } from './flood.ts'
import type { Asked, Order } from './outside.ts'

export type OutsideProcess = {
  world: World
  start(attack: string, url: string, context: Context, first: number): Promise<void>
  stop(): Promise<Tally>
  close(): void
}

/** Starts the process of attackers; resolves when its mail server and receivers are there. */
export async function startOutside(): Promise<OutsideProcess> {
  const child = fork(join(import.meta.dirname, 'outside.ts'))
  // Attackers have machines of their own, so the service goes before them where they share one.
  setPriority(child.pid!, constants.priority.PRIORITY_LOW)
  const answers = new Map<number, (answer: never) => void>()
  const opened = new Promise<Pick<World, 'smtpUrl' | 'receiverUrl'>>((resolve) =>
    answers.set(0, resolve),
  )
  child.on('message', ({ id, answer }: { id: number; answer: never }) => {
    answers.get(id)?.(answer)
    answers.delete(id)
  })
  let last = 0
  const ask = <T>(order: Order): Promise<T> =>
    new Promise<T>((resolve) => {
      const asked: Asked = { id: ++last, order }
      answers.set(asked.id, resolve)
      child.send(asked)
    })
  const addresses = await opened
  return {
    world: {
      ...addresses,
      mailTo: (name) => ask({ do: 'mailTo', name }),
      postTo: (name) => ask({ do: 'postTo', name }),
      release: () => ask({ do: 'release' }),
    },
    start: (attack, url, context, first) => ask({ do: 'start', attack, url, context, first }),
    stop: () => ask<Tally>({ do: 'stop' }),
    close: () => child.disconnect(),
  }
}
