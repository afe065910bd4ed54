import type { FastifyReply } from 'fastify'
import type { FairQueue } from '../lib/fair-queue.ts'

/** Takes a slot for an answer until its connection is closed. False if none is free. */
export async function holdSlot(
  queue: FairQueue,
  owner: string,
  { raw }: FastifyReply,
): Promise<boolean> {
  const release = await queue.tryTake(owner)
  if (!release) return false
  // If it was closed meanwhile, nothing says so any more.
  if (raw.destroyed) release()
  else raw.once('close', release)
  return true
}
