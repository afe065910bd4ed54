import type { DashboardRoute } from './visit.ts'

export const deliveriesRoutes: DashboardRoute[] = []
