import type { Row, Tx } from '../db/database.ts'
import { newId, type Uuid } from '../lib/ids.ts'
import type { Vault } from '../lib/vault.ts'

/** The lists of which views can be saved. */
export type ViewedList = 'charges' | 'customers' | 'subscriptions'

/** Filters of a list that a person keeps under a name. */
export type SavedView = { id: Uuid; name: string; filters: Record<string, string> }

/** Whose views, and where. Nobody else sees them, so they are in no activity log. */
type Owner = { db: Tx; vault: Vault; companyId: Uuid; personId: Uuid }

/** Views that a person may have in one company. */
export const MAX_VIEWS = 20
export const MAX_VIEW_NAME = 40
/** Characters of all filters together. */
const MAX_FILTERS = 1000

export const viewContext = (
  { companyId, personId }: Pick<Owner, 'companyId' | 'personId'>,
  id: Uuid,
): string => `${companyId}:view:${personId}:${id}`

/** The name and the filters of a view, as JSON. */
export const openView = (
  { vault, ...owner }: Omit<Owner, 'db'>,
  { id, sealed }: { id: Uuid; sealed: Buffer },
): string => vault.open(sealed, viewContext(owner, id))

type ViewRow = Row & { id: Uuid; sealed: Buffer }

/** The views of one list, the first one saved first. */
export async function listViews(owner: Owner, list: ViewedList): Promise<SavedView[]> {
  const { db, companyId, personId } = owner
  const rows = await db.query<ViewRow>({
    text: `select id, sealed from saved_views
           where company_id = $1 and person_id = $2 and list = $3 order by id`,
    values: [companyId, personId, list],
  })
  return rows.map(({ id, sealed }) => ({
    id,
    ...JSON.parse(openView(owner, { id, sealed })),
  }))
}

/**
 * Saves a view, in place of that of the same name. False: the person has too many views, or the
 * name or the filters are too long.
 */
export async function saveView(
  owner: Owner,
  list: ViewedList,
  view: Omit<SavedView, 'id'>,
  now: Date,
): Promise<boolean> {
  const { db, vault, companyId, personId } = owner
  if (view.name.length > MAX_VIEW_NAME || JSON.stringify(view.filters).length > MAX_FILTERS) {
    return false
  }
  const same = (await listViews(owner, list)).find(({ name }) => name === view.name)
  const id = same?.id ?? newId()
  const sealed = vault.seal(JSON.stringify(view), viewContext(owner, id))
  const saved = await db.query({
    text: `insert into saved_views (company_id, person_id, id, list, sealed, created_at)
           select $1::uuid, $2::uuid, $3::uuid, $4, $5, $6
           where $7 or (select count(*) from saved_views
             where company_id = $1 and person_id = $2) < ${MAX_VIEWS}
           on conflict (company_id, person_id, id) do update set sealed = excluded.sealed
           returning id`,
    values: [companyId, personId, id, list, sealed, now, same !== undefined],
  })
  return saved.length > 0
}

/** Deletes a view. False: the person has no such view. */
export async function deleteView(
  { db, companyId, personId }: Omit<Owner, 'vault'>,
  id: Uuid,
): Promise<boolean> {
  const deleted = await db.query({
    text: `delete from saved_views where company_id = $1 and person_id = $2 and id = $3
           returning id`,
    values: [companyId, personId, id],
  })
  return deleted.length > 0
}
