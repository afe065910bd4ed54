import type { Tx } from '../../db/database.ts'
import { timeOf, toPublic, type Uuid } from '../../lib/ids.ts'
import { invalid, type Problem } from '../../lib/problems.ts'
import { findRestoredTo } from '../installation.ts'
import { type FeedPosition, findLastBefore, findPosition, hasRedelivery } from './store.ts'

const UNKNOWN = 'after: must be the id of an event of this company'
/** An id is made before its transaction is committed, and clocks of servers differ. */
const CLOCKS_MS = 60_000

/**
 * Where the feed goes on after a cursor. Positions that were given out after the moment of a backup
 * are given again when it is restored, but ids never are: so a cursor that is newer than the backup
 * is known by its id, and refused with what to do, because to go on after its position could leave
 * events out.
 */
export async function requirePosition(
  tx: Tx,
  companyId: Uuid,
  after: Uuid | FeedPosition,
): Promise<FeedPosition> {
  const isEvent = typeof after === 'string'
  const position = isEvent ? await findPosition(tx, companyId, after) : after
  const id = isEvent ? after : after.id
  if (isEvent && position) return position
  const restoredTo = await findRestoredTo(tx)
  const isLater = restoredTo !== null && timeOf(id).getTime() >= restoredTo.getTime() - CLOCKS_MS
  if (!isLater) {
    if (position) return position
    throw invalid(UNKNOWN)
  }
  if (position && (await hasRedelivery(tx, companyId, position))) return position
  throw await lostCursor(tx, companyId, restoredTo)
}

async function lostCursor(tx: Tx, companyId: Uuid, restoredTo: Date): Promise<Problem> {
  const last = await findLastBefore(tx, companyId, restoredTo)
  const where = last === null ? 'without `after`' : `with after=${toPublic('evt', last)}`
  return invalid(
    `${UNKNOWN}. This one is newer than ${restoredTo.toISOString()}, the moment to which the service was restored. Continue ${where}: no event since then is left out. What you have from events after that moment may be missing here: read it again`,
  )
}
