import { SERVICE } from '../core/activity/rules.ts'
import { withCompanyClock } from '../core/companies/clock.ts'
import { findCompany } from '../core/companies/store.ts'
import type { FullApp } from '../core/full-app.ts'
import { erasePayer, SETTLE_MS } from '../core/payers/commands.ts'
import { listUnfinished, openMemory, type Unfinished } from '../core/payers/store.ts'
import { TASK } from '../core/tasks.ts'
import { guarded } from './loop.ts'

/** Whoever has begun an erasure may still be at work on it for so long. */
const BEGUN_MS = 2 * SETTLE_MS

/**
 * Goes on with erasures that were interrupted. If one cannot end yet, because an open charge came
 * in or a callback waits for its bank, its company is set aside for a while.
 */
export async function finishErasures(app: FullApp, signal?: AbortSignal): Promise<void> {
  const { db, setbacks, systemClock } = app
  const before = new Date(systemClock.now().getTime() - BEGUN_MS)
  const except = setbacks.companiesOf(TASK.erasures)
  const work = { task: TASK.erasures, only: null, failed: 'an erasure was not finished' }
  for (const one of await listUnfinished(db, before, except)) {
    if (signal?.aborted) return
    await guarded(app, work, one.companyId, () => finish(app, one), null)
  }
}

async function finish(app: FullApp, unfinished: Unfinished): Promise<null> {
  const { companyId } = unfinished
  const [taxId] = openMemory(app.vault, unfinished).traits.taxIds
  const company = (await findCompany(app.db, companyId))!
  const wanted = { companyId, taxId: taxId!, isEverywhere: false }
  // What was under way when it began is over by now.
  const end = await erasePayer(withCompanyClock(app, company), wanted, SERVICE, async () => {})
  if (end.kind === 'erased') return null
  throw new Error('something of the payer is still open')
}
