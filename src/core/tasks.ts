/** Names of the tasks that commands wake when they have committed work for them. */
export const TASK = {
  refunds: 'carry out refunds',
  defenses: 'send defenses',
  payouts: 'pay out withdrawals',
  mail: 'send mail',
  deliver: 'deliver webhooks',
  clocks: 'play test clocks',
  generate: 'generate charges',
  bill: 'bill charges',
  collect: 'collect at the simulated bank',
  agreements: 'follow agreements',
  audit: 'audit',
  /** The name is a label of published metrics. */
  callbacks: 'settle callbacks',
  reconcile: 'reconcile',
  orphans: 'remove orphans',
  queue: 'clear the queue',
  retention: 'remove old data',
  erasures: 'finish erasures',
  webhooks: 'watch webhooks',
  certificates: 'watch certificates',
} as const
