import type { DashboardRoute } from './visit.ts'

export const balanceRoutes: DashboardRoute[] = []
