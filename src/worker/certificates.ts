import { renewalHorizon, warnOfExpiry } from '../core/banks/certificates.ts'
import { findUnwarned } from '../core/banks/store.ts'
import type { FullApp } from '../core/full-app.ts'
import { TASK } from '../core/tasks.ts'
import { guarded } from './rounds.ts'

/** Warns companies of certificates that expire soon, once for each bank connection. */
export async function watchCertificates(app: FullApp, signal?: AbortSignal): Promise<void> {
  const rounds = { task: TASK.certificates, only: null }
  for (let warned = 1; warned > 0 && !signal?.aborted; ) {
    const except = app.setbacks.companiesOf(rounds.task)
    const banks = await findUnwarned(app.db, renewalHorizon(app.systemClock.now()), except)
    warned = 0
    for (const bank of banks) {
      const act = () => warnOfExpiry(app, bank)
      const failed = 'a company was not warned of a certificate that expires'
      warned += Number(await guarded(app, rounds, bank.companyId, act, false, failed))
    }
  }
}
