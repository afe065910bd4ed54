import type { DashboardRoute } from './visit.ts'

export const chargesRoutes: DashboardRoute[] = []
