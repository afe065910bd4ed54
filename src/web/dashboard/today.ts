import { heading } from './parts.ts'
import { DASHBOARD } from './texts.ts'
import type { DashboardRoute, Visit } from './visit.ts'

function show(visit: Visit) {
  const title = DASHBOARD[visit.language].sections.today
  return visit.send({ title, here: 'today', body: heading(title) })
}

export const todayRoutes: DashboardRoute[] = [
  { method: 'GET', path: '', needs: 'payments:read', handle: show },
]
