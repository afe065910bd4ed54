import { type Database, isRowError } from '../../db/database.ts'
import { type Batcher, createBatcher } from '../../lib/batch.ts'
import { createRecent } from '../../lib/memo.ts'
import type { Charge } from './rules.ts'
import {
  type ChargeId,
  findVersions,
  type ListedCharge,
  type ListPart,
  listMany,
  type ReadCharge,
  refreshMany,
} from './store.ts'

/** Reads of charges that are carried out together. */
export type ReadGroups = {
  /** Reads a charge with others that are read at the same time. */
  find: Batcher<ChargeId, Charge | null>
  /**
   * Lists the newest charges of a company with other lists that are read at the same time. A charge
   * that is not remembered as it is now is still to be found. None is ever deleted.
   */
  list: Batcher<ListPart, (Charge | ChargeId)[]>
}

const MAX_READS = 64
/** Lists of a group. Each has up to 101 charges. */
const MAX_LISTS = 16
/** How many charges are remembered, for clients that ask again and again about one. */
const MAX_KNOWN = 8_192
/** A link with more items is not remembered, because 100 items may take megabytes. */
const MAX_KNOWN_ITEMS = 1

const isSmall = ({ link }: Charge): boolean => (link?.items.length ?? 0) <= MAX_KNOWN_ITEMS

export function groupReads(db: Database): ReadGroups {
  const known = createRecent<ReadCharge>(MAX_KNOWN)
  const shared = {
    isItemError: isRowError,
    ownerOf: ({ companyId }: { companyId: string }) => companyId,
  }

  function recall({ companyId, id }: ChargeId): ReadCharge | undefined {
    const read = known.get(id)
    return read?.charge.companyId === companyId ? read : undefined
  }

  function remember(read: ReadCharge): void {
    if (isSmall(read.charge)) known.set(read.charge.id, read)
  }

  async function findNew(wanted: ChargeId[]): Promise<(ReadCharge | null)[]> {
    const found = wanted.length === 0 ? [] : await findVersions(db.hot, wanted)
    for (const read of found) if (read) remember(read)
    return found
  }

  async function refresh(seen: ReadCharge[]): Promise<ReadCharge[]> {
    const refreshed = seen.length === 0 ? [] : await refreshMany(db.hot, seen)
    for (const [i, read] of refreshed.entries()) if (read !== seen[i]) remember(read)
    return refreshed
  }

  /** Of charges that are remembered it reads only those that have changed. */
  async function findAll(wanted: ChargeId[]): Promise<(Charge | null)[]> {
    const old = wanted.map(recall)
    const [refreshed, found] = await Promise.all([
      refresh(old.filter((read) => read !== undefined)),
      findNew(wanted.filter((_, i) => old[i] === undefined)),
    ])
    const read = old.map((one) => (one ? refreshed.shift()! : found.shift()!))
    return read.map((one) => one?.charge)
  }

  async function list(parts: ListPart[]): Promise<(Charge | ChargeId)[][]> {
    const lists = await listMany(db.hot, parts)
    const current = (one: ListedCharge) => {
      const read = recall(one)
      return read?.version === one.version ? read.charge : one
    }
    return lists.map((listed) => listed.map(current))
  }

  return {
    find: createBatcher(findAll, { ...shared, max: MAX_READS }),
    list: createBatcher(list, { ...shared, max: MAX_LISTS }),
  }
}
