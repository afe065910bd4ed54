import type { DashboardRoute } from './visit.ts'

export const requestsRoutes: DashboardRoute[] = []
