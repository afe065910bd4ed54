import type { Change, Details } from '../core/activity/rules.ts'
import type { Company } from '../core/companies/rules.ts'
import type { Route } from './route.ts'
import { isObject } from './schema.ts'

/** Numbers of an answer that say what was done. */
const FIGURES = ['amount', 'value', 'total', 'price', 'replayed']

type Done = { params: Record<string, string>; sent: unknown; company: Company; data: unknown }

/** What an operation has changed, for the activity log. */
export function changeOf(route: Route, { params, sent, company, data }: Done): Change {
  const { operationId: action, changes } = route
  const answer = isObject(data) ? data : {}
  const id = Object.values(params)[0] ?? idIn(answer) ?? company.id
  const { settled } = answer
  if (action === 'acceptPayment' && isObject(sent) && sent.chargeId && isObject(settled)) {
    const record = { type: 'charge' as const, id: String(settled.chargeId) }
    const details = { amount: Number(settled.amount), endToEndId: id }
    return { action: 'charge.settle', record, details }
  }
  return { action, record: { type: changes!.record, id }, details: detailsOf(route, sent, answer) }
}

function idIn({ endToEndId, ...answer }: Record<string, unknown>): string | undefined {
  const ids = [endToEndId, answer.id, answer.withdrawId, answer.correlationID]
  return ids.find((one) => typeof one === 'string')
}

/** Names of the fields that were sent, and figures. Other values may be private. */
function detailsOf(
  { method, body }: Route,
  sent: unknown,
  answer: Record<string, unknown>,
): Details | null {
  const details: Details = {}
  if (method === 'PUT' && isObject(sent)) {
    const known = (body as { properties?: object } | undefined)?.properties ?? {}
    const isChanged = (name: string) => name !== 'id' && Object.hasOwn(known, name)
    details.fields = Object.keys(sent).filter(isChanged)
  }
  for (const name of FIGURES) {
    const figure = answer[name]
    if (typeof figure === 'number') details[name] = figure
  }
  return Object.keys(details).length === 0 ? null : details
}
