/** Names of the tasks that commands wake when they have committed work for them. */
export const TASK = {
  refunds: 'carry out refunds',
  payouts: 'pay out withdrawals',
  mail: 'send mail',
  deliver: 'deliver webhooks',
} as const
