import type { DashboardRoute } from './visit.ts'

export const newRoutes: DashboardRoute[] = []
