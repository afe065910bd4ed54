import type { FastifyReply } from 'fastify'
import type { CountLimit } from '../lib/limits.ts'

/** Counts an answer until its connection is closed. False if that is too many. */
export async function takeSeat(
  seats: CountLimit,
  name: string,
  { raw }: FastifyReply,
): Promise<boolean> {
  const isFree = await seats.add(name)
  if (!isFree) return false
  // If it was closed meanwhile, nothing says so any more.
  if (raw.destroyed) seats.remove(name)
  else raw.once('close', () => seats.remove(name))
  return true
}
