import { renewalHorizon, warnOfExpiry } from '../core/banks/certificates.ts'
import { type BankRecord, findUnwarned } from '../core/banks/store.ts'
import type { FullApp } from '../core/full-app.ts'
import { TASK } from '../core/tasks.ts'
import { workOff } from './loop.ts'

/** Warns companies of certificates that expire soon, once for each bank connection. */
export function watchCertificates(app: FullApp, signal?: AbortSignal): Promise<void> {
  return workOff<BankRecord>(app, {
    task: TASK.certificates,
    only: null,
    signal,
    atOnce: 1,
    failed: 'a company was not warned of a certificate that expires',
    async find(except) {
      const banks = await findUnwarned(app.db, renewalHorizon(app.systemClock.now()), except)
      return { due: new Map(banks.map((bank) => [bank.companyId, bank])), isFull: true }
    },
    act: async (_companyId, bank) => Number(await warnOfExpiry(app, bank)),
  })
}
