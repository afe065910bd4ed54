import type { Tx } from '../../db/database.ts'
import type { Uuid } from '../../lib/ids.ts'

/** Writes that the person of a session has just proved who they are. */
export async function confirmSession(
  tx: Tx,
  sessionId: Uuid,
  hasSecondFactor: boolean,
  now: Date,
): Promise<void> {
  await tx.query({
    text: `update sessions set confirmed_at = $2, has_second_factor = has_second_factor or $3
           where id = $1`,
    values: [sessionId, now, hasSecondFactor],
  })
}
