/** The amounts that the simulated bank refuses, and leaves without an answer, are among them. */
export const AMOUNTS = [500, 55_555, 66_666, 70_000, 66_666, 200_000]
export const LIFETIMES_S = [300, 1800, 86_400, 7_776_000]
export const SECONDS = [
  1, 4, 5, 5, 30, 60, 60, 60, 120, 300, 300, 590, 600, 1800, 3600, 86_400, 259_200,
]

export const pick = <T>(list: readonly T[], choice: number): T => list[choice % list.length]!

/** What the runs must have met to be worth anything: if not, take more of them or another seed. */
export const WANTED = [
  'pay OPEN exact',
  'pay OPEN other',
  'pay COMPLETED exact',
  'pay EXPIRED exact',
  'pay due less',
  'pay due same',
  'pay due more',
  'sell exact',
  'payKey waits',
  'payKey settled',
  'pay CANCELED exact',
  'payAgain 201',
  'simulate OPEN 200',
  'accept UNMATCHED 200',
  'settle less 200',
  'settle exact 200',
  'settle more 200',
  'refund PAID 201',
  'refund PAID 409',
  'refund RECEIVED 201',
  'refund RECEIVED 422',
  'pending>bank',
  'pending>pending',
  'pending>available',
  'available>bank',
  'available>available',
  'unmatched>bank',
  'unmatched>unmatched',
  'withdraw 201',
  'withdraw 409',
  'withdraw 422',
  'confirm 200',
  'confirm 400',
  'confirm 410',
  ...['COMPLETED', 'FAILED', 'EXPIRED', 'CANCELED'].map((end) => `a withdrawal ${end}`),
  'cancelWithdrawal PROCESSING 409',
  'payRecipient 201',
  'payRecipient 201 200',
  'payRecipient 422',
  'recipient 0 owes',
]
