import { type Database, isRowError } from '../../db/database.ts'
import { type Batcher, createBatcher } from '../../lib/batch.ts'
import { createRecent } from '../../lib/memo.ts'
import { CHANGING } from './columns.ts'
import type { Charge } from './rules.ts'
import {
  type ChargeHead,
  type ChargeId,
  findMany,
  type ListPart,
  listMany,
  refreshMany,
} from './store.ts'

/** Reads of charges that are carried out together. */
export type ReadGroups = {
  /** Reads a charge with others that are read at the same time. */
  find: Batcher<ChargeId, Charge | null>
  /**
   * Lists the newest charges of a company with other lists that are read at the same time. A charge
   * that is not remembered is still to be found. None is ever deleted.
   */
  list: Batcher<ListPart, (Charge | ChargeId)[]>
}

const MAX_READS = 32
/** Lists of a group. Each has up to 101 charges. */
const MAX_LISTS = 8
/** How many charges are remembered, for clients that ask again and again about one. */
const MAX_KNOWN = 4096
/** A link with more items is not remembered, because 100 items may take megabytes. */
const MAX_KNOWN_ITEMS = 1

const isSmall = ({ link }: Charge): boolean => (link?.items.length ?? 0) <= MAX_KNOWN_ITEMS
const nameOf = ({ companyId, id }: ChargeId): string => companyId + id

export function groupReads(db: Database): ReadGroups {
  const known = createRecent<Charge>(MAX_KNOWN)
  const shared = {
    concurrency: 2,
    isItemError: isRowError,
    ownerOf: ({ companyId }: { companyId: string }) => companyId,
  }

  async function findNew(wanted: ChargeId[]): Promise<(Charge | null)[]> {
    const charges = wanted.length === 0 ? [] : await findMany(db.hot, wanted)
    for (const charge of charges) if (charge && isSmall(charge)) known.set(nameOf(charge), charge)
    return charges
  }

  /** Of charges that are remembered it reads only what can have changed. */
  async function findAll(wanted: ChargeId[]): Promise<(Charge | null)[]> {
    const old = wanted.map((one) => known.get(nameOf(one)))
    const seen = old.filter((charge) => charge !== undefined)
    const [refreshed, found] = await Promise.all([
      seen.length === 0 ? [] : refreshMany(db.hot, seen),
      findNew(wanted.filter((_, i) => old[i] === undefined)),
    ])
    return old.map((charge) => (charge ? refreshed.shift()! : found.shift()!))
  }

  async function list(parts: ListPart[]): Promise<(Charge | ChargeId)[][]> {
    const lists = await listMany(db.hot, parts)
    const merge = ({ row, ...id }: ChargeHead) => {
      const charge = known.get(nameOf(id))
      return charge ? CHANGING.merge(charge, row) : id
    }
    return lists.map((heads) => heads.map(merge))
  }

  return {
    find: createBatcher(findAll, { ...shared, max: MAX_READS }),
    list: createBatcher(list, { ...shared, max: MAX_LISTS }),
  }
}
