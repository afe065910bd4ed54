import type { App } from '../core/app.ts'
import { claimDueRefunds, returnMoney } from '../core/refunds/returns.ts'
import { toPublic, type Uuid } from '../lib/ids.ts'
import { describeError } from '../lib/log.ts'

/** Refunds that are on their way at once; the bank decides how long they take. */
const AT_ONCE = 10

/** Tells banks to return money, and asks again about refunds without an answer. */
export async function carryOutRefunds(
  app: App,
  signal?: AbortSignal,
  only: Uuid | null = null,
): Promise<void> {
  for (let found = AT_ONCE; found >= AT_ONCE && !signal?.aborted; ) {
    const claims = await claimDueRefunds(app, AT_ONCE, only)
    found = claims.length
    // What fails here is taken up again when its lease is over.
    await Promise.all(
      claims.map((claim) =>
        returnMoney(app, claim).catch((error) => {
          const refund = toPublic('rfnd', claim.refund.id)
          app.log.error({ ...describeError(error), refund }, 'a refund was interrupted')
        }),
      ),
    )
  }
}
