import type { Route } from '../route.ts'
import { balanceRoutes } from './balance.ts'
import { chargeBatchRoutes } from './charge-batches.ts'
import { chargeRoutes } from './charges.ts'
import { companyRoutes } from './company.ts'
import { customerRoutes } from './customers.ts'
import { deliveryRoutes } from './deliveries.ts'
import { disputeRoutes } from './disputes.ts'
import { eventRoutes } from './events.ts'
import { linkRoutes } from './links.ts'
import { paymentRoutes } from './payments.ts'
import { planRoutes } from './plans.ts'
import { productRoutes } from './products.ts'
import { recipientRoutes } from './recipients.ts'
import { recurrenceRoutes } from './recurrences.ts'
import { refundRoutes } from './refunds.ts'
import { reminderRoutes } from './reminders.ts'
import { requestRoutes } from './requests.ts'
import { sandboxRoutes } from './sandbox.ts'
import { versionRoutes } from './versions.ts'
import { webhookRoutes } from './webhooks.ts'
import { withdrawalRoutes } from './withdrawals.ts'

/** The whole HTTP interface: the server, the OpenAPI document and the tests read this one table. */
export const ROUTES: readonly Route[] = [
  ...chargeRoutes,
  ...chargeBatchRoutes,
  ...planRoutes,
  ...linkRoutes,
  ...recurrenceRoutes,
  ...refundRoutes,
  ...paymentRoutes,
  ...disputeRoutes,
  ...customerRoutes,
  ...productRoutes,
  ...webhookRoutes,
  ...deliveryRoutes,
  ...eventRoutes,
  ...balanceRoutes,
  ...withdrawalRoutes,
  ...recipientRoutes,
  ...companyRoutes,
  ...reminderRoutes,
  ...versionRoutes(() => ROUTES),
  ...sandboxRoutes,
  ...requestRoutes((wanted) => ROUTES.find(({ operationId }) => operationId === wanted)),
]
