import { bytes, uuids } from '../../db/arrays.ts'
import type { Tx } from '../../db/database.ts'
import type { Uses } from '../app.ts'
import { emailIndexOf } from '../customers/sealing.ts'
import type { Charge } from './rules.ts'
import { CHARGE, type ChargeId } from './store.ts'

const NAME = 'charge search'

async function isPending(tx: Tx): Promise<boolean> {
  const rows = await tx.query({ text: 'select from backfills where name = $1', values: [NAME] })
  return rows.length === 1
}

/** The last charge that was indexed. Null if all are, or if another process is at it. */
async function lockLast(tx: Tx): Promise<ChargeId | null> {
  const [row] = await tx.query<{ company_id: string; charge_id: string }>({
    text: `select company_id, charge_id from backfills where name = $1 for update skip locked`,
    values: [NAME],
  })
  return row ? { companyId: row.company_id, id: row.charge_id } : null
}

async function setLast(tx: Tx, { companyId, id }: ChargeId): Promise<void> {
  await tx.query({
    text: 'update backfills set company_id = $2, charge_id = $3 where name = $1',
    values: [NAME, companyId, id],
  })
}

async function finish(tx: Tx): Promise<void> {
  await tx.query({ text: 'delete from backfills where name = $1', values: [NAME] })
}

/** Charges of all companies, by company and id. */
async function listAfter(tx: Tx, after: ChargeId, limit: number): Promise<Charge[]> {
  const rows = await tx.query({
    text: `select * from charges where (company_id, id) > ($1, $2)
           order by company_id, id limit $3`,
    values: [after.companyId, after.id, limit],
  })
  return rows.map(CHARGE.read)
}

type ChargeEmail = ChargeId & { emailIndex: Buffer }

/** Lets old charges be found by their payers' e-mail addresses. Can be repeated. */
async function insertEmails(tx: Tx, found: ChargeEmail[]): Promise<void> {
  await tx.query({
    text: `insert into charge_emails (company_id, email_index, charge_id)
           select * from unnest($1::uuid[], $2::bytea[], $3::uuid[]) on conflict do nothing`,
    values: [
      uuids(found.map(({ companyId }) => companyId)),
      bytes(found.map(({ emailIndex }) => emailIndex)),
      uuids(found.map(({ id }) => id)),
    ],
  })
}

/** Stores tax ids of charges whose customers were deleted or have another tax id now. */
async function insertFormerTaxIds(tx: Tx, charges: Charge[]): Promise<void> {
  await tx.query({
    text: `insert into former_tax_ids (company_id, tax_id_index, customer_id)
           select distinct c.company_id, c.payer_index, c.customer_id
           from unnest($1::uuid[], $2::uuid[]) k (company_id, id)
           join charges c on c.company_id = k.company_id and c.id = k.id
           left join customers p on p.company_id = c.company_id and p.id = c.customer_id
           where c.customer_id is not null and c.payer_index is not null
             and p.tax_id_index is distinct from c.payer_index
           on conflict do nothing`,
    values: [uuids(charges.map(({ companyId }) => companyId)), uuids(charges.map(({ id }) => id))],
  })
}

/** Charges that one transaction indexes. */
const MAX_CHARGES = 500

/**
 * Indexes the e-mail addresses of charges that were created before there was a search by them. SQL
 * cannot do that, because the addresses are sealed. Each call continues where the last has ended.
 * Returns whether there is more to do.
 */
export async function indexOldCharges(
  app: Uses<'db' | 'log' | 'vault'>,
  max = MAX_CHARGES,
): Promise<boolean> {
  if (!(await isPending(app.db))) return false
  return app.db.transaction(async (tx) => {
    const before = await lockLast(tx)
    if (before === null) return false
    const charges = await listAfter(tx, before, max)
    await insertEmails(tx, emailsOf(app, charges))
    await insertFormerTaxIds(tx, charges)
    const last = charges.at(-1)
    if (last && charges.length === max) await setLast(tx, last)
    else await finish(tx)
    return charges.length === max
  })
}

/** If a payer cannot be opened, logs that and indexes the others. */
function emailsOf(app: Uses<'log' | 'vault'>, charges: Charge[]): ChargeEmail[] {
  return charges.flatMap(({ companyId, id, payer }) => {
    try {
      const emailIndex = payer && emailIndexOf(app.vault, companyId, payer)
      return emailIndex ? [{ companyId, id, emailIndex }] : []
    } catch {
      app.log.warn({ company: companyId, charge: id }, 'a payer cannot be read')
      return []
    }
  })
}
