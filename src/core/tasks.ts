/** Names of the tasks that commands wake when they have committed work for them. */
export const TASK = {
  refunds: 'carry out refunds',
  payouts: 'pay out withdrawals',
  mail: 'send mail',
  deliver: 'deliver webhooks',
  clocks: 'play test clocks',
  generate: 'generate charges',
  bill: 'bill charges',
  agreements: 'follow agreements',
  audit: 'audit',
  callbacks: 'settle callbacks',
  reconcile: 'reconcile',
  orphans: 'take back orphans',
} as const
