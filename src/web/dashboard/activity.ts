import type { DashboardRoute } from './visit.ts'

export const activityRoutes: DashboardRoute[] = []
