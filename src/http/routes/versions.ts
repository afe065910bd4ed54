import { showUsed, VersionDiff, VersionQuery } from '../../core/version-changes/view.ts'
import { LATEST } from '../../versions/history.ts'
import { asLongPage } from '../lists.ts'
import { type Route, route } from '../route.ts'
import { diffVersions, usedSince } from '../version-changes.ts'

/** @param routes all operations, of which this is one */
export const versionRoutes = (routes: () => readonly Route[]): Route[] => [
  route({
    method: 'GET',
    path: '/company/version-changes',
    operationId: 'compareVersions',
    client: ['versions', 'diff'],
    tag: 'Company',
    summary: 'Compare two versions by what the company uses',
    description:
      'For each operation that the company used in the last 7 days: what changes, and a recent record of its own in both versions. Every text that a client or a payer has written, codes and addresses are masked, and of a list the first entry is shown. A record is shown if the key may read such records. A body is text, because it has another version than the answer that it is in.',
    scope: 'company:read',
    query: VersionQuery,
    data: VersionDiff,
    status: 200,
    message: 'Versions compared.',
    problems: [],
    async handle(call) {
      const { app, company, author, query } = call
      const { from = company.apiVersion, to = LATEST.name } = query
      const actor = { app, company, author, scopes: [...call.scopes] }
      // It reads many records, as a long page does.
      const used = await asLongPage(company.id, () => diffVersions(routes(), actor, from, to))
      const since = usedSince(app).toISOString()
      return { data: { from, to, since, operations: used.map(showUsed) } }
    },
  }),
]
