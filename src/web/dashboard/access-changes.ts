import { problem } from '../../lib/problems.ts'
import type { Visit } from './visit.ts'

/**
 * Refuses too many changes of who can reach the money. Each is mailed to all owners and to the
 * company, whose address may be anybody's.
 */
export async function requireFewAccessChanges({ app, company }: Visit): Promise<void> {
  const wait_s = (await app.accessChanges?.take(company.id)) ?? 0
  if (wait_s === 0) return
  throw problem('rate_limited', undefined, { 'Retry-After': String(Math.ceil(wait_s)) })
}
