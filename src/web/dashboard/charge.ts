import type { DashboardRoute } from './visit.ts'

export const chargeRoutes: DashboardRoute[] = []
