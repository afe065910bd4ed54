import type { PaymentProcess } from '@vendure/core'

declare module '@vendure/core' {
  interface PaymentStates {
    Pending: never
  }
}

/** A payment waits in `Pending` until Vintém says that it is paid. */
export const paymentProcess: PaymentProcess<'Pending'> = {
  transitions: {
    Created: { to: ['Pending'], mergeStrategy: 'merge' },
    Pending: { to: ['Settled', 'Declined', 'Error', 'Cancelled'], mergeStrategy: 'merge' },
  },
}
