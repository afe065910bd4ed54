import type { DashboardRoute } from './visit.ts'

export const customersRoutes: DashboardRoute[] = []
