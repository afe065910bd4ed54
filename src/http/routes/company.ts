import { CompanyView, showCompany } from '../../core/companies/view.ts'
import { route } from '../route.ts'

const get = route({
  method: 'GET',
  path: '/company',
  operationId: 'getCompany',
  tag: 'Company',
  summary: 'Get the company of the API key',
  scope: 'company:read',
  data: CompanyView,
  status: 200,
  message: 'Company found.',
  problems: [],
  handle: async ({ company }) => showCompany(company),
})

export const companyRoutes = [get]
