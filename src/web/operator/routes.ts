import { activityRoutes } from './activity.ts'
import { banksRoutes } from './banks.ts'
import { companiesRoutes } from './companies.ts'
import { operatorKeysRoutes } from './keys.ts'
import { manyCompaniesRoutes } from './many-companies.ts'
import { overviewRoutes } from './overview.ts'
import { peopleRoutes } from './people.ts'
import type { OperatorRoute } from './visit.ts'
import { workRoutes } from './work.ts'

/** Every page and every form of the operator. Tests walk this table. */
export const OPERATOR_ROUTES: OperatorRoute[] = [
  ...overviewRoutes,
  ...manyCompaniesRoutes,
  ...operatorKeysRoutes,
  ...companiesRoutes,
  ...banksRoutes,
  ...workRoutes,
  ...peopleRoutes,
  ...activityRoutes,
]
