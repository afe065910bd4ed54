import type { DashboardRoute } from './visit.ts'

export const productsRoutes: DashboardRoute[] = []
