import type { Static } from 'typebox'
import { SCOPES } from '../core/companies/rules.ts'
import { showUsed, type VersionDiff } from '../core/version-changes/view.ts'
import { ROUTES } from '../http/routes/all.ts'
import { diffVersions, usedSince } from '../http/version-changes.ts'
import { commandAuthor } from './author.ts'
import { requireCompany } from './records.ts'
import { withApp } from './session.ts'

type Diff = Static<typeof VersionDiff>

/** What the API answers a company that compares its version with another, from the database. */
export const diffOf = (companyId: string, to: string): Promise<Diff> =>
  withApp(async (app) => {
    const company = await requireCompany(app.db, companyId)
    const actor = { company, author: commandAuthor(), scopes: SCOPES }
    const from = company.apiVersion
    const used = await diffVersions(app, ROUTES, actor, from, to)
    return { from, to, since: usedSince(app).toISOString(), operations: used.map(showUsed) }
  })
