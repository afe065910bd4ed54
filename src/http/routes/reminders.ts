import { waitUntilApplied } from '../../core/companies/announce.ts'
import { changeReminders } from '../../core/reminders/commands.ts'
import { requirePlaceholders } from '../../core/reminders/rules.ts'
import { listRules } from '../../core/reminders/store.ts'
import {
  dayFaults,
  RemindersChange,
  RemindersView,
  readReminders,
  showReminders,
  textsOf,
} from '../../core/reminders/view.ts'
import { route } from '../route.ts'
import { itself, read } from '../samples.ts'

const get = route({
  method: 'GET',
  path: '/reminder',
  operationId: 'getReminders',
  client: ['reminders', 'get'],
  sample: itself,
  tag: 'Company',
  summary: 'Get when payers are reminded',
  scope: 'company:read',
  data: RemindersView,
  status: 200,
  message: 'Reminders found.',
  problems: [],
  async handle({ app, company }) {
    return { data: showReminders(await listRules(app.db, company.id)) }
  },
})

const change = route({
  method: 'PUT',
  path: '/reminder',
  operationId: 'changeReminders',
  client: ['reminders', 'update'],
  changes: { record: 'company', pt: 'Lembretes alterados', en: 'Reminders changed' },
  sample: read('getReminders'),
  tag: 'Company',
  summary: 'Change when payers are reminded',
  description:
    'Payers of open charges with a due date are reminded at 9:00 in São Paulo, on the days of the rules; `rules` replaces all of them. `failedCharges` is about subscriptions. What is not sent stays as it is. Open charges follow the rules within about a minute. Each reminder is said once, and none after the charge is paid, canceled or expired.',
  scope: 'company:write',
  body: RemindersChange,
  example: {
    rules: [
      { day: -3, enabled: true, channel: 'EMAIL' },
      {
        day: 1,
        enabled: true,
        channel: 'EMAIL',
        texts: {
          pt: {
            subject: '{empresa}: sua mensalidade venceu em {vencimento}',
            text: 'Olá, {nome}!\nAinda não recebemos {valor}. Pague pelo link: {link}',
          },
        },
      },
    ],
    failedCharges: { enabled: true, channel: 'EMAIL' },
  },
  check: (body) => dayFaults(body),
  data: RemindersView,
  status: 200,
  message: 'Reminders changed.',
  problems: ['unknown_placeholder'],
  async handle(call) {
    const { app, company, body } = call
    requirePlaceholders(textsOf(body))
    const changed = await call.commit(async (tx) => {
      const rules = await changeReminders(tx, company.id, readReminders(body), app.clock.now())
      return { data: showReminders(rules) }
    })
    // After the answer every server must create charges by the changed rules.
    await waitUntilApplied(app.db)
    return changed
  },
})

export const reminderRoutes = [get, change]
