import type { Tx } from '../../db/database.ts'
import type { Uuid } from '../../lib/ids.ts'
import type { Vault } from '../../lib/vault.ts'
import { maskEmail, maskPhone } from '../../pix/masks.ts'
import { isTaxIdShape, plainTaxId } from '../../pix/tax-id.ts'
import { plainPhone } from '../../pix/written.ts'
import { digitParts, mailParts, nameParts, nameStarts, type PartsSought } from './parts.ts'
import { type Customer, nameWords } from './rules.ts'
import * as store from './store.ts'

/** `isMasked`: whoever searches sees phones and e-mail addresses only in part. */
export type Where = { db: Tx; vault: Vault; companyId: Uuid; isMasked: boolean }

/** The customers that a text may mean, the best first, and whether there are more. */
export type People = { customers: Customer[]; isCut: boolean }

type Find = (limit: number) => Promise<Customer[]>

/**
 * People of a text that support is told or reads: a tax id, a phone, a name, or a part of one of
 * these or of an e-mail address. If a whole tax id or phone finds somebody, that is who is meant.
 */
export async function findPeople(where: Where, text: string, limit: number): Promise<People> {
  const whole = await collect(findWhole(where, text), limit)
  return whole.customers.length > 0 ? whole : collect(findAny(where, text), limit)
}

/** Asks one after the other until there are enough. */
async function collect(finds: Find[], limit: number): Promise<People> {
  const found = new Map<Uuid, Customer>()
  for (const find of finds) {
    // Those who are known may be found again, and one more tells whether there are others.
    const more = await find(found.size + limit + 1)
    for (const customer of more) if (!found.has(customer.id)) found.set(customer.id, customer)
    if (found.size > limit) break
  }
  const customers = [...found.values()]
  return { customers: customers.slice(0, limit), isCut: customers.length > limit }
}

/** Eleven digits may be a CPF or a phone. */
function findWhole({ db, vault, companyId }: Where, text: string): Find[] {
  const [taxId, phone] = [plainTaxId(text), plainPhone(text)]
  const finds: Find[] = []
  if (isTaxIdShape(taxId)) {
    finds.push((limit) => store.list(db, vault, companyId, { taxId, limit, after: null }))
  }
  if (phone !== null) finds.push((limit) => store.findByPhone(db, vault, companyId, phone, limit))
  return finds
}

/**
 * First those whose name begins with the text, then those with words that begin with its words,
 * then those who have it anywhere.
 */
function findAny(where: Where, text: string): Find[] {
  const { db, vault, companyId } = where
  const finds: Find[] = []
  if (nameWords(text).length > 0) {
    finds.push((limit) => store.findByName(db, vault, companyId, text, limit))
  }
  const starts = nameStarts(text)
  if (starts) finds.push(async (limit) => (await findBy(where, starts)(limit)).sort(byName))
  return [...finds, ...partsIn(text).map((parts) => findBy(where, parts))]
}

const byName = (a: Customer, b: Customer): number => a.name.localeCompare(b.name, 'pt-BR')

/** What the text may be a part of. The last digits of a number are what is mostly asked for. */
function partsIn(text: string): PartsSought[] {
  const digits = digitParts(text)
  return [nameParts(text), digits?.end, digits, mailParts(text)].filter((parts) => !!parts)
}

const findBy = ({ db, vault, companyId, isMasked }: Where, sought: PartsSought): Find => {
  const parts = isMasked ? amongShown(sought) : sought
  return (limit) => store.findByParts(db, vault, companyId, parts, limit)
}

/** Finds only by what masks show. Otherwise what they hide could be found out part by part. */
const amongShown = ({ parts, isOf }: PartsSought): PartsSought => ({
  parts,
  isOf: ({ email, phone, ...person }) =>
    isOf({
      ...person,
      ...(email === undefined ? {} : { email: maskEmail(email) }),
      ...(phone === undefined ? {} : { phone: maskPhone(phone).replaceAll(/\D/g, '') }),
    }),
})

/** Whether a text may be a part of a phone, a tax id or an e-mail address. */
export const mayBePart = (text: string): boolean =>
  digitParts(text) !== null || mailParts(text) !== null

/** The ids of people, and whether there are more. */
export type FoundIds = { ids: Uuid[]; isCut: boolean }

/** Ids of people whose phone, tax id or e-mail address has the text. */
export function findIdsByPart(where: Where, text: string, limit: number): Promise<FoundIds> {
  const digits = digitParts(text)
  return findIds(where, [digits?.end, digits, mailParts(text)], limit)
}

/** Ids of people whose name has all words of the text: first those with words that begin so. */
export const findIdsByName = (where: Where, text: string, limit: number): Promise<FoundIds> =>
  findIds(where, [nameStarts(text), nameParts(text)], limit)

async function findIds(
  where: Where,
  all: (PartsSought | null | undefined)[],
  limit: number,
): Promise<FoundIds> {
  const finds = all.filter((parts) => !!parts).map((parts) => findBy(where, parts))
  const { customers, isCut } = await collect(finds, limit)
  return { ids: customers.map(({ id }) => id), isCut }
}
