import { listEntries } from '../core/activity/store.ts'
import type { FullApp } from '../core/full-app.ts'
import type { Actor } from '../core/operate.ts'
import { Problem } from '../lib/problems.ts'
import { makeCall } from './call.ts'
import type { Route } from './route.ts'
import type { Reader } from './samples.ts'

/**
 * @param values the payment statuses that another version spells otherwise
 */
export function createReader(
  app: FullApp,
  { company, author, scopes }: Actor,
  routes: readonly Route[],
  values: string[],
): Reader {
  const read: Reader['read'] = async (operationId, { params = {}, query = {} } = {}) => {
    const route = routes.find((one) => one.operationId === operationId)!
    const asked = { route, path: route.path, params, company, author, scopes: new Set(scopes) }
    const call = makeCall(app, asked, { query, body: undefined, sent: undefined }, null)
    try {
      return (await route.handle(call)).data
    } catch (error) {
      // It was deleted meanwhile.
      if (error instanceof Problem && error.status === 404) return null
      throw error
    }
  }
  const first: Reader['first'] = async (operationId, asked = {}) => {
    const list = await read(operationId, { ...asked, query: { ...asked.query, limit: 1 } })
    return list?.[0] ?? null
  }
  return {
    app,
    companyId: company.id,
    read,
    first,
    async last(operationId) {
      const filter = { author: null, action: operationId, from: null, before: null }
      const [entry] = await listEntries(app.db, company.id, filter, 1)
      return entry?.record ? { id: entry.record.id, details: entry.details } : null
    },
    async charge() {
      for (const paymentStatus of values) {
        const found = await first('listCharges', { query: { paymentStatus, include: 'qr' } })
        if (found) return found
      }
      return first('listCharges', { query: { include: 'qr' } })
    },
  }
}
