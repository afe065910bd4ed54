import { waitUntilApplied } from '../../core/companies/announce.ts'
import { changeCompany } from '../../core/companies/commands.ts'
import { CompanyChange, CompanyView, readChange, showCompany } from '../../core/companies/view.ts'
import { route } from '../route.ts'
import { itself, read } from '../samples.ts'

const get = route({
  method: 'GET',
  path: '/company',
  operationId: 'getCompany',
  client: ['company', 'get'],
  sample: itself,
  tag: 'Company',
  summary: 'Get the company of the API key',
  scope: 'company:read',
  data: CompanyView,
  status: 200,
  message: 'Company found.',
  problems: [],
  handle: async ({ company }) => ({ data: showCompany(company) }),
})

const change = route({
  method: 'PUT',
  path: '/company',
  operationId: 'changeCompany',
  client: ['company', 'update'],
  changes: { record: 'company', pt: 'Dados da empresa alterados', en: 'Company changed' },
  sample: read('getCompany'),
  tag: 'Company',
  summary: 'Change the company of the API key',
  description:
    'Only the fields sent are changed; null removes `imageUrl`. When `email` changes, the former address and the new one get a mail. For 24 hours one-time codes of withdrawals still go to the former address, whatever the address is changed to meanwhile; changing it back ends that. The address can be changed 5 times an hour and 20 times a day; more is 429. Changing it back is always possible. Pix key and tax id are changed by the operator.',
  scope: 'company:write',
  body: CompanyChange,
  example: { name: 'Padaria São João', color: '#b45309' },
  data: CompanyView,
  status: 200,
  message: 'Company changed.',
  problems: [],
  async handle(call) {
    const { app, company, body } = call
    const changed = await call.commit(async (tx) => {
      const fields = readChange(body)
      const now = app.systemClock.now()
      const { after } = await changeCompany(tx, app.vault, company.id, fields, 'company', now)
      return { data: showCompany(after) }
    })
    // After the answer every server must use the changed company.
    await waitUntilApplied(app.db)
    return changed
  },
})

export const companyRoutes = [get, change]
