import type { Tx } from '../../db/database.ts'
import type { Uuid } from '../../lib/ids.ts'
import { problem } from '../../lib/problems.ts'
import type { Uses } from '../app.ts'
import type { Company } from '../companies/rules.ts'
import { findCompany } from '../companies/store.ts'
import { lockPaid } from '../payments/lock.ts'
import { TASK } from '../tasks.ts'
import { type NewFile, sealDefense, sealFile } from './files.ts'
import { announce, type DisputeApp } from './holds.ts'
import type { Dispute } from './rules.ts'
import * as rules from './rules.ts'
import * as store from './store.ts'

/** Tells a company of the deadline of a dispute. Returns whether that was due. */
export async function noticeDeadline(
  app: DisputeApp & Uses<'db'>,
  companyId: Uuid,
  id: Uuid,
): Promise<boolean> {
  // The payment of a dispute never changes, so this is read without a lock. It is locked first.
  const { paymentSource: source, endToEndId } = (await store.find(app.db, companyId, id))!
  return app.db.transaction(async (tx) => {
    const paid = await lockPaid(tx, companyId, source, endToEndId)
    const before = await store.find(tx, companyId, id, 'for update')
    const { dispute, hours } = rules.notice(before!, app.clock.now())
    if (dispute === before) return false
    await store.update(tx, dispute)
    if (hours === null) return true
    const company = await findCompany(tx, companyId)
    await announce(tx, app, company!, paid!, dispute, { news: 'deadline', hours })
    return true
  })
}

/** The defense of a company: what it says, and its files. */
export type NewDefense = { text: string; files: NewFile[] }

/** Records the defense of a dispute. A task sends it to the bank afterwards. */
export async function defend(
  tx: Tx,
  app: DisputeApp,
  company: Company,
  id: Uuid,
  { text, files }: NewDefense,
): Promise<Dispute> {
  const now = app.clock.now()
  const before = await store.find(tx, company.id, id, 'for update')
  if (!before) throw problem('dispute_not_found')
  rules.requireDefensible(before, now)
  const dispute = rules.defended(before, sealDefense(app.vault, before, text), now)
  await store.update(tx, dispute)
  const sealed = files.map((file, i) => sealFile(app.vault, dispute, i + 1, file))
  await store.saveFiles(tx, dispute, sealed)
  tx.wake(TASK.defenses)
  return dispute
}
