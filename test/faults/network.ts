import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'

/** What a network between two machines does. */
export type Network = {
  /** Where the other side is reached through it. */
  port: number
  /** Ends all connections, as a switch that restarts does. */
  reset(): void
  /** Whether new connections are refused. */
  refuse(isRefusing: boolean): void
  /** What is sent on present connections gets lost, and neither side is told. */
  lose(what: 'all' | 'answers'): void
  /** Whether the same happens on connections that are opened from now on. */
  losing(isLosing: boolean): void
  /** How long everything takes on its way from now on. */
  delay(delay_ms: number): void
  close(): Promise<void>
}

/** A connection, and what becomes of what is sent on it. */
type Link = { near: Socket; far: Socket; lost: 'nothing' | 'answers' | 'all' }

/** How long the far side believes in a connection that is lost: as long as its keepalives take. */
const BELIEVED_MS = 15_000

export async function startNetwork(farPort: number): Promise<Network> {
  const links = new Set<Link>()
  const state = { isRefusing: false, isLosing: false, delay_ms: 0 }
  const server = createServer((near) => {
    if (state.isRefusing) return void near.resetAndDestroy()
    const far = connect(farPort, '127.0.0.1')
    const link: Link = { near, far, lost: state.isLosing ? 'all' : 'nothing' }
    links.add(link)
    const isThere = { toFar: () => link.lost !== 'all', toNear: () => link.lost === 'nothing' }
    carry(near, far, isThere.toFar, () => state.delay_ms)
    carry(far, near, isThere.toNear, () => state.delay_ms)
    // The far side is not told of the end of a connection that is lost.
    near.on('close', () => {
      if (link.lost === 'nothing') far.destroy()
      else setTimeout(() => far.destroy(), BELIEVED_MS).unref()
    })
    far.on('close', () => {
      links.delete(link)
      if (link.lost === 'nothing') near.destroy()
    })
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    port: (server.address() as AddressInfo).port,
    reset() {
      for (const { near, far } of links) {
        near.resetAndDestroy()
        far.resetAndDestroy()
      }
    },
    refuse(isRefusing) {
      state.isRefusing = isRefusing
    },
    lose(what) {
      for (const link of links) link.lost = what
    },
    losing(isLosing) {
      state.isLosing = isLosing
    },
    delay(delay_ms) {
      state.delay_ms = delay_ms
    },
    async close() {
      server.close()
      for (const { near, far } of links) {
        near.destroy()
        far.destroy()
      }
    },
  }
}

/** Passes on what one side sends, in its order, each part after the delay that it met. */
function carry(from: Socket, to: Socket, isPassing: () => boolean, delay_ms: () => number): void {
  let free_ms = 0
  let waiting = 0
  const pass = (act: () => void) => {
    const now_ms = performance.now()
    free_ms = Math.max(free_ms, now_ms + delay_ms())
    if (waiting === 0 && free_ms <= now_ms) return act()
    waiting += 1
    setTimeout(() => {
      waiting -= 1
      act()
    }, free_ms - now_ms)
  }
  from.setNoDelay(true)
  from.on('error', () => {})
  from.on('data', (part) =>
    pass(() => {
      if (isPassing() && !to.destroyed) to.write(part)
    }),
  )
  from.on('end', () =>
    pass(() => {
      if (isPassing() && !to.destroyed) to.end()
    }),
  )
}
