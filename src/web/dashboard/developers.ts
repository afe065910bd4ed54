import type { DashboardRoute } from './visit.ts'

export const developersRoutes: DashboardRoute[] = []
