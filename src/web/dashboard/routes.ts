import { activityRoutes } from './activity.ts'
import { approvalsRoutes } from './approvals.ts'
import { balanceRoutes } from './balance.ts'
import { bankRoutes } from './bank.ts'
import { chargeRoutes } from './charge.ts'
import { chargeShareRoutes } from './charge-share.ts'
import { chargesRoutes } from './charges.ts'
import { closingRoutes } from './closing.ts'
import { counterRoutes } from './counter.ts'
import { customerFileRoutes } from './customer-file.ts'
import { customersRoutes } from './customers.ts'
import { deliveriesRoutes } from './deliveries.ts'
import { developersRoutes } from './developers.ts'
import { disputesRoutes } from './disputes.ts'
import { eventsRoutes } from './events.ts'
import { keysRoutes } from './keys.ts'
import { linksRoutes } from './links.ts'
import { logoRoutes } from './logo.ts'
import { membersRoutes } from './members.ts'
import { messagesRoutes } from './messages.ts'
import { newRoutes } from './new.ts'
import { pickedChargesRoutes } from './picked-charges.ts'
import { plansRoutes } from './plans.ts'
import { productsRoutes } from './products.ts'
import { recipientsRoutes } from './recipients.ts'
import { refundRoutes } from './refund.ts'
import { refundsRoutes } from './refunds.ts'
import { remindersRoutes } from './reminders.ts'
import { replayRoutes } from './replay.ts'
import { reportsRoutes } from './reports.ts'
import { requestsRoutes } from './requests.ts'
import { savedViewsRoutes } from './saved-views.ts'
import { searchRoutes } from './search.ts'
import { settingsRoutes } from './settings.ts'
import { subscriptionsRoutes } from './subscriptions.ts'
import { todayRoutes } from './today.ts'
import { unmatchedRoutes } from './unmatched.ts'
import { versionsRoutes } from './versions.ts'
import type { DashboardRoute } from './visit.ts'
import { webhooksRoutes } from './webhooks.ts'
import { withdrawalsRoutes } from './withdrawals.ts'

/** Every page and every form of the dashboard. Tests walk this table. */
export const ROUTES: DashboardRoute[] = [
  ...todayRoutes,
  ...searchRoutes,
  ...chargesRoutes,
  ...pickedChargesRoutes,
  ...savedViewsRoutes,
  ...chargeRoutes,
  ...chargeShareRoutes,
  ...refundRoutes,
  ...newRoutes,
  ...counterRoutes,
  ...plansRoutes,
  ...linksRoutes,
  ...customersRoutes,
  ...customerFileRoutes,
  ...productsRoutes,
  ...subscriptionsRoutes,
  ...balanceRoutes,
  ...reportsRoutes,
  ...closingRoutes,
  ...withdrawalsRoutes,
  ...refundsRoutes,
  ...approvalsRoutes,
  ...recipientsRoutes,
  ...unmatchedRoutes,
  ...disputesRoutes,
  ...developersRoutes,
  ...keysRoutes,
  ...webhooksRoutes,
  ...deliveriesRoutes,
  ...replayRoutes,
  ...eventsRoutes,
  ...requestsRoutes,
  ...settingsRoutes,
  ...logoRoutes,
  ...messagesRoutes,
  ...remindersRoutes,
  ...bankRoutes,
  ...versionsRoutes,
  ...membersRoutes,
  ...activityRoutes,
]
