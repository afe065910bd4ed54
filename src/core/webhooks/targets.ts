import { setTimeout as pause } from 'node:timers/promises'
import { isPublic } from '../../lib/addresses.ts'
import { invalid } from '../../lib/problems.ts'
import type { App } from '../app.ts'

/** Whoever registers a webhook does not wait longer for somebody's name servers. */
const PATIENCE_MS = 2_000

/**
 * Refuses a name that leads to a private address already now. A name that nobody knows yet is
 * taken: every connection is checked anyway, and this only reports it earlier.
 */
export async function requirePublicTarget({ config, lookup }: App, url: string): Promise<void> {
  if (config.local) return
  const found = await Promise.race([
    lookup(new URL(url).hostname).catch(() => []),
    pause(PATIENCE_MS, [], { ref: false }),
  ])
  if (!found.every(({ address }) => isPublic(address))) {
    throw invalid('url: must not lead to a private or reserved address')
  }
}
