import type { ControlTx, Tx } from '../../db/database.ts'
import type { Uuid } from '../../lib/ids.ts'

/** A company that was not reached, and why. */
type Missed = { companyId: Uuid; error: unknown }

/**
 * Acts in each place of some companies. If a place does not answer, what was done there is undone,
 * and its companies are returned. A transaction that cannot go on without the place fails.
 */
export async function inEachPlace(
  tx: ControlTx,
  companyIds: Uuid[],
  act: (place: Tx, companyIds: Uuid[]) => Promise<void>,
): Promise<Missed[]> {
  const missed: Missed[] = []
  const find = async (companyId: Uuid) => {
    try {
      return [{ companyId, place: await tx.at(companyId) }]
    } catch (error) {
      missed.push({ companyId, error })
      return []
    }
  }
  const found = (await Promise.all(companyIds.map(find))).flat()
  const groups = Map.groupBy(found, ({ place }) => place)
  const acting = [...groups].map(async ([place, own]) => {
    const ids = own.map(({ companyId }) => companyId)
    try {
      await act(place, ids)
    } catch (error) {
      if (!tx.leaveOut(place)) throw error
      missed.push(...ids.map((companyId) => ({ companyId, error })))
    }
  })
  await Promise.all(acting)
  return missed
}
