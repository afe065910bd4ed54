import type { Static } from 'typebox'
import { SCOPES } from '../core/companies/rules.ts'
import { showUsed, type VersionDiff } from '../core/version-changes/view.ts'
import { ROUTES } from '../http/routes/all.ts'
import { diffVersions, usedSince } from '../http/version-changes.ts'
import { commandAuthor } from './author.ts'
import type { Answer } from './command.ts'
import { requireCompany } from './records.ts'
import { withApp } from './session.ts'

type Diff = Static<typeof VersionDiff>
type Used = Diff['operations'][number]

/** What the API answers a company that compares its version with another, from the database. */
export const diffOf = (companyId: string, to: string): Promise<Diff> =>
  withApp(async (app) => {
    const company = await requireCompany(app.db, companyId)
    const actor = { company, author: commandAuthor(), scopes: SCOPES }
    const from = company.apiVersion
    const used = await diffVersions(app, ROUTES, actor, from, to)
    return { from, to, since: usedSince(app).toISOString(), operations: used.map(showUsed) }
  })

export function showDiff(diff: Diff): Answer {
  const { from, to, operations } = diff
  const changed = operations.filter(({ changes }) => changes.length > 0)
  const same = operations.length - changed.length
  const sentences = new Map(
    changed.flatMap(({ changes }) => changes.map(({ name, description }) => [name, description])),
  )
  const heading =
    operations.length === 0
      ? `No operation was used in the last 7 days. docs/reference/versions.md has all changes from ${from} to ${to}.\n`
      : `From ${from} to ${to}: ${changed.length} of ${operations.length} operations that were used in the last 7 days answer otherwise.\n`
  const list = [...sentences].map(([name, sentence]) => `  ${name}: ${sentence}\n`).join('')
  const unchanged = changed.length > 0 && same > 0 ? `\n${same} answer as before.\n` : ''
  const text = `${heading}${list && `\n${list}`}${changed.map(showOperation).join('')}${unchanged}\nNothing was changed.\n`
  return { json: diff, text }
}

function showOperation({ operationId, method, path, changes, answer, missing }: Used): string {
  const title = `\n${method} ${path} (${operationId}): ${changes.map(({ name }) => name).join(', ')}\n`
  if (!answer) return `${title}  ${missing}\n`
  const fields = answer.fields.map(({ formerPath, path, before, after }) => {
    if (formerPath === null) return `  + ${path}: ${shown(after)}\n`
    if (path === null) return `  - ${formerPath}: ${shown(before)}\n`
    if (before === null && after === null) return `  ${formerPath} → ${path}\n`
    return `  ${formerPath}: ${shown(before)} → ${path}: ${shown(after)}\n`
  })
  return `${title}  before  ${answer.before}\n  after   ${answer.after}\n${fields.join('')}`
}

const shown = (value: unknown): string => JSON.stringify(value)
