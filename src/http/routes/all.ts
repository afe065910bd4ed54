import type { Route } from '../route.ts'
import { chargeRoutes } from './charges.ts'
import { companyRoutes } from './company.ts'
import { customerRoutes } from './customers.ts'
import { productRoutes } from './products.ts'
import { webhookRoutes } from './webhooks.ts'

/** The whole HTTP interface: the server, the OpenAPI document and the tests read this one table. */
export const ROUTES: readonly Route[] = [
  ...chargeRoutes,
  ...customerRoutes,
  ...productRoutes,
  ...webhookRoutes,
  ...companyRoutes,
]
