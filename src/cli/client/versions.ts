import type { Static } from 'typebox'
import type { ApiVersion } from '../../../packages/client/src/index.ts'
import type { VersionDiff } from '../../core/version-changes/view.ts'
import { VERSION_NAMES } from '../../versions/history.ts'
import type { Answer, Args, Command } from '../command.ts'
import { connect, connectionOptions } from './connection.ts'

type Diff = Static<typeof VersionDiff>
type Used = Diff['operations'][number]

const diff: Command = {
  name: 'versions diff',
  summary: 'Show how the answers that the company uses change in another version of the API.',
  example: 'vintem versions diff --to 2026-08-16',
  operands: [],
  options: {
    ...connectionOptions,
    from: {
      value: 'VERSION',
      choices: VERSION_NAMES,
      help: 'by default the version that the company is pinned to',
    },
    to: { value: 'VERSION', choices: VERSION_NAMES, help: 'by default the newest version' },
  },
  run: (args) => askDiff(args),
}

/** Asks the server of the key. No database is opened. */
export async function askDiff(args: Args): Promise<Answer> {
  const { from, to } = args.options as Partial<Record<'from' | 'to', ApiVersion>>
  const query = { ...(from && { from }), ...(to && { to }) }
  return showDiff(await connect(args).versions.diff(query))
}

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

export const versionCommands = [diff]
