import { asPart } from '../lib/tracing.ts'

type Query = { name?: string; text: string }

export const COMMIT: Query = { name: 'commit', text: 'commit' }

/** A statement, as a part of the trace of whoever waits for it. Its parameters are nowhere. */
export const asStatement = <R>(query: Query, run: () => Promise<R>): Promise<R> =>
  asPart(query.name ?? 'statement', () => factsOf(query), run)

const factsOf = (query: Query) => ({
  'db.system.name': 'postgresql',
  'db.query.summary': query.name ?? summaryOf(query.text),
})

/** What it does and to which table: words of ours, whatever else its text says. */
export function summaryOf(text: string): string {
  const verb = /\b(select|insert|update|delete|with|create|set)\b/i.exec(text)?.[1] ?? 'other'
  const table = /\b(?:from|into|update)\s+([a-z_]+)/.exec(text)?.[1]
  return table ? `${verb} ${table}` : verb
}
