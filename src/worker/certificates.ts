import type { App } from '../core/app.ts'
import { renewalHorizon, warnOfEnd } from '../core/banks/certificates.ts'
import { findUnwarned } from '../core/banks/store.ts'
import { TASK } from '../core/tasks.ts'
import { guarded } from './rounds.ts'

/** Tells companies of certificates that end soon, once for each connection. */
export async function watchCertificates(app: App, signal?: AbortSignal): Promise<void> {
  const rounds = { task: TASK.certificates, only: null }
  for (let warned = 1; warned > 0 && !signal?.aborted; ) {
    const but = app.setbacks.companiesOf(rounds.task)
    const banks = await findUnwarned(app.db, renewalHorizon(app.systemClock.now()), but)
    warned = 0
    for (const bank of banks) {
      const act = () => warnOfEnd(app, bank)
      const failed = 'nobody was warned of the end of a certificate'
      warned += Number(await guarded(app, rounds, bank.companyId, act, false, failed))
    }
  }
}
