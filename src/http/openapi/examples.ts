import type { ErrorItem, ProblemCode } from '../../lib/problems.ts'
import examples from './examples.json' with { type: 'json' }

export type Example = { name: string; data: unknown }
export type Refusal = ErrorItem[]

type Kept = { json: Example[]; file?: string; refusals: Partial<Record<ProblemCode, Refusal>> }

/**
 * Real answers of the newest version, by operation. `npm run docs` takes them from the answers that
 * the tests keep; an older version shows them as it answers.
 */
const KEPT = examples as Record<string, Kept>

export const exampleOf = (operationId: string): Pick<Kept, 'json' | 'file'> =>
  KEPT[operationId] ?? { json: [] }

export const refusalOf = (operationId: string, code: ProblemCode): Refusal | undefined =>
  KEPT[operationId]?.refusals[code]

const item = (code: ProblemCode, description: string) => ({ [code]: [{ code, description }] })

/** One refusal for each code, whatever the operation; a code without one has the catalogue's. */
export const SHARED_REFUSALS: Partial<Record<ProblemCode, Refusal>> = {
  ...Object.assign({}, ...Object.values(KEPT).map(({ refusals }) => refusals)),
  ...item('insufficient_scope', 'This operation needs a key with the scope payments:write.'),
  ...item('unsupported_media_type', 'Send the body as Content-Type: application/json.'),
  ...item('internal_error', 'A fault of ours. Quote the request id 01k3e8r8v0e008000000000001.'),
}
