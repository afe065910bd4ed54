import { Counter, type Registry } from 'prom-client'
import type { Database } from '../../db/database.ts'
import { createBatcher } from '../../lib/batch.ts'
import type { App } from '../app.ts'
import type { LoggedRequest } from './rules.ts'
import { insertRequests } from './store.ts'

/** Writes requests to the log, many at once. */
type RequestLog = {
  /** Nobody waits for it. If too many wait, the request is left out and counted. */
  add(request: LoggedRequest): void
  /** Resolves when all are written. */
  idle(): Promise<void>
}

export type AppWithRequestLog = App & { requestLog: RequestLog }

const MAX_GROUP = 1000
const GATHER_MS = 1_000
/** A few MB. */
const MAX_WAITING = 20_000
/** A company that sends more than can be written leaves room for the others. */
const MAX_OF_COMPANY = 5_000

export function createRequestLog(db: Database, registry: Registry): RequestLog {
  const lost = new Counter({
    name: 'vintem_logged_requests_lost_total',
    help: 'Requests that are not in the request log, because too many waited or it failed',
    registers: [registry],
  })
  const waiting = new Map<string, number>()
  let count = 0
  const note = (companyId: string, change: number) => {
    const left = (waiting.get(companyId) ?? 0) + change
    if (left === 0) waiting.delete(companyId)
    else waiting.set(companyId, left)
    count += change
  }
  async function run(requests: LoggedRequest[]): Promise<null[]> {
    try {
      await insertRequests(db.light, requests)
    } catch {
      lost.inc(requests.length)
    }
    for (const { companyId } of requests) note(companyId, -1)
    return requests.map(() => null)
  }
  const ownerOf = ({ companyId }: LoggedRequest) => companyId
  const write = createBatcher(run, { max: MAX_GROUP, gather_ms: GATHER_MS, ownerOf })
  return {
    add(request) {
      const { companyId } = request
      const isFull = count >= MAX_WAITING || (waiting.get(companyId) ?? 0) >= MAX_OF_COMPANY
      if (isFull) {
        lost.inc()
        return
      }
      note(companyId, 1)
      write(request)
    },
    idle: write.idle,
  }
}
