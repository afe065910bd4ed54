import type { Static } from 'typebox'
import { SCOPES } from '../core/companies/rules.ts'
import { showUsed, type VersionDiff } from '../core/version-changes/view.ts'
import { commandAuthor } from './author.ts'
import { requireCompany } from './records.ts'
import { withApp } from './session.ts'

type Diff = Static<typeof VersionDiff>

/** What the API answers a company that compares its version with another, from the database. */
export const diffOf = (companyId: string, to: string): Promise<Diff> =>
  withApp(async (app) => {
    const company = await requireCompany(app.db, companyId)
    const actor = { app, company, author: commandAuthor(), scopes: SCOPES }
    const from = company.apiVersion
    // Loaded here, because no other command needs the operations of the API.
    const { ROUTES } = await import('../http/routes/all.ts')
    const { diffVersions, usedSince } = await import('../http/version-changes.ts')
    const used = await diffVersions(ROUTES, actor, from, to)
    return { from, to, since: usedSince(app).toISOString(), operations: used.map(showUsed) }
  }, companyId)
