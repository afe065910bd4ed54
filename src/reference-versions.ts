import { exampleOf, SHARED_REFUSALS } from './http/openapi/examples.ts'
import { documentPath } from './http/openapi.ts'
import { ROUTES } from './http/routes/all.ts'
import { compareVersions } from './http/version-changes.ts'
import { Problem, problem } from './lib/problems.ts'
import type { Change } from './versions/changes.ts'
import { LATEST, VERSIONS, type Version } from './versions/history.ts'

const EXAMPLE = ROUTES.find(({ operationId }) => operationId === 'getChargeStatus')!

/** An answer of each kind that changes. Changed values are seen in a received charge. */
function exampleIn(version: Version, change: Change): unknown {
  if (change.in === 'errors') {
    const [first, ...others] = SHARED_REFUSALS.charge_not_found ?? []
    return version.failure(first ? new Problem([first, ...others]) : problem('charge_not_found'))
  }
  const { json } = exampleOf(EXAMPLE.operationId)
  const shown = json.find(({ name }) => name === 'a received charge')!.data
  const { status, message } = EXAMPLE
  return JSON.parse(version.success(status, message, (data) => JSON.stringify(data), shown))
}

const block = (value: unknown): string => `\`\`\`json\n${JSON.stringify(value, null, 2)}\n\`\`\``

function changeSection(before: Version, version: Version, change: Change): string {
  const touched = compareVersions(ROUTES, before.name, version.name).filter(({ changes }) =>
    changes.includes(change),
  )
  const isAll = touched.length === ROUTES.length
  const names = touched.map(({ operationId }) => `\`${operationId}\``).join(', ')
  return `### \`${change.name}\`

${change.summary.en}

Operations: ${isAll ? 'all' : names}. Events: none, because their bodies have no version.

In ${before.name}:

${block(exampleIn(before, change))}

In ${version.name}:

${block(exampleIn(version, change))}
`
}

function versionSection(version: Version, i: number): string {
  const before = VERSIONS[i - 1]
  const newest = version === LATEST ? ' (the newest)' : ''
  const changes = before
    ? version.changes.map((change) => changeSection(before, version, change)).join('\n')
    : 'The first version.\n'
  return `## ${version.name}${newest}

Its OpenAPI document is at \`${documentPath(version)}\` of a running server.

${changes}`
}

/** Every version of the API, newest first, and what it changed. */
export const versionsPage = (generated: string): string => `# Versions

${generated}A company is pinned to a version: \`apiVersion\` of \`GET /company\`. The header \`X-Api-Version\` chooses
another one for a single request, and every answer names its own. Within a version answers only gain
fields. Nothing changes for a company until it is pinned to another version.

Before you change it, look at your own answers. \`GET /company/version-changes\` shows, for each operation
that the company used in the last 7 days, a recent record of it before and after, with texts masked.
With a server and a key \`vintem versions diff\` and \`vintem company pin --dry-run\` show the same, with the
database \`vintem company pin <company-id> ${LATEST.name} --dry-run\`, in a program \`versions.diff()\` of the typed
client, and for people the page *API version* of the dashboard.

${VERSIONS.map(versionSection).toReversed().join('\n')}`
