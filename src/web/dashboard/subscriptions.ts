import type { DashboardRoute } from './visit.ts'

export const subscriptionsRoutes: DashboardRoute[] = []
