import type { Tool } from '../tool.ts'
import { chargeTools } from './charges.ts'
import { customerTools } from './customers.ts'
import { explainTools } from './explain-charge.ts'
import { logTools } from './logs.ts'
import { moneyTools } from './money.ts'
import { sandboxTools } from './sandbox.ts'
import { subscriptionTools } from './subscriptions.ts'
import { webhookTools } from './webhooks.ts'

/** All that agents can do: the server and the tests read this one table. */
export const TOOLS: readonly Tool[] = [
  ...chargeTools,
  ...explainTools,
  ...customerTools,
  ...moneyTools,
  ...subscriptionTools,
  ...webhookTools,
  ...logTools,
  ...sandboxTools,
]
