import type { DashboardRoute } from './visit.ts'

export const settingsRoutes: DashboardRoute[] = []
