import type { DashboardRoute } from './visit.ts'

export const membersRoutes: DashboardRoute[] = []
