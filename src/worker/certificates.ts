import type { App } from '../core/app.ts'
import { renewalHorizon, warnOfEnd } from '../core/banks/certificates.ts'
import { findUnwarned } from '../core/banks/store.ts'
import { describeError } from '../lib/log.ts'

/** Tells companies of certificates that end soon, once for each connection. */
export async function watchCertificates(app: App, signal?: AbortSignal): Promise<void> {
  for (let warned = 1; warned > 0 && !signal?.aborted; ) {
    const banks = await findUnwarned(app.db, renewalHorizon(app.wall.now()))
    warned = 0
    for (const bank of banks) {
      const done = await warnOfEnd(app, bank).catch((error) => {
        const about = { ...describeError(error), company: bank.companyId }
        app.log.error(about, 'nobody was warned of the end of a certificate')
        return false
      })
      warned += Number(done)
    }
  }
}
