import type { DashboardRoute } from './visit.ts'

export const unmatchedRoutes: DashboardRoute[] = []
