import type { Row, Tx } from '../../db/database.ts'
import type { Uuid } from '../../lib/ids.ts'

/** See the table `company_moves`. */
export type MoveState = 'leaving' | 'left' | 'arriving' | 'ready'

/** What a place knows of a company. */
export type Known = { isHere: boolean; state: MoveState | null; otherPlace: number | null }

/** In the order of the ids. */
export const listKnown = (tx: Tx, companyIds: Uuid[]): Promise<Known[]> =>
  tx.query<Row & Known>({
    name: 'find_places',
    text: `select exists (select from companies c where c.id = asked.id) as "isHere", m.state,
             m.other_place as "otherPlace"
           from unnest($1::uuid[]) with ordinality asked (id, n)
           left join company_moves m on m.company_id = asked.id order by asked.n`,
    values: [companyIds],
  })

export async function findKnown(tx: Tx, companyId: Uuid): Promise<Known> {
  const [known] = await listKnown(tx, [companyId])
  return known!
}

/** A company that is being moved from or to this place. */
export type Moving = {
  companyId: Uuid
  state: MoveState
  otherPlace: number
  /** Whether tasks leave it alone here: it arrives, has left, or is about to leave. */
  isLeftAlone: boolean
}

export const listMoving = (tx: Tx): Promise<Moving[]> =>
  tx.query<Row & Moving>({
    name: 'list_moving',
    text: `select company_id as "companyId", state, other_place as "otherPlace",
             state <> 'leaving' or coalesce(quiet_until > now(), false) as "isLeftAlone"
           from company_moves`,
  })

/** The company lives here from now on. */
export async function activate(tx: Tx, companyId: Uuid): Promise<void> {
  await tx.query({
    text: `delete from company_moves where company_id = $1 and state = 'ready'`,
    values: [companyId],
  })
}

/** How many companies are being moved from or to this place, by how far they are. */
export const countMoving = (tx: Tx): Promise<{ state: MoveState; count: number }[]> =>
  tx.query({
    name: 'count_moving',
    text: 'select state, count(*) as count from company_moves group by state',
  })

/** How many companies live here. Those that arrive or have left are not counted. */
export async function countCompanies(tx: Tx): Promise<number> {
  const [row] = await tx.query<Row & { count: number }>({
    text: `select count(*) from companies c where not exists (
             select from company_moves m where m.company_id = c.id and m.state <> 'leaving')`,
  })
  return row!.count
}
