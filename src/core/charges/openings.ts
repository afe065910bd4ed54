import { describeError } from '../../lib/log.ts'
import { createRecent } from '../../lib/memo.ts'
import type { App } from '../app.ts'
import { insertOpening } from './openings-store.ts'
import type { ChargeId } from './store.ts'

/** Charges whose opening this process has written of late. */
const noted = createRecent<true>(4096)

/** Notes that a payer looks at the page of a charge. If that fails, the page is shown anyway. */
export async function noteOpening(app: App, { companyId, id }: ChargeId): Promise<void> {
  if (noted.get(id)) return
  noted.set(id, true)
  try {
    await insertOpening(app.db, { companyId, id }, app.clock.now())
  } catch (error) {
    app.log.warn(describeError(error), 'the opening of a page could not be written')
  }
}
