import type { ErrorItem, ProblemCode } from '../../lib/problems.ts'
import examples from './examples.json' with { type: 'json' }

export type Example = { name: string; data: unknown }
export type Refusal = ErrorItem[]

type Frozen = { json: Example[]; file?: string; refusals: Partial<Record<ProblemCode, Refusal>> }

/**
 * Real answers of the newest version, by operation. `npm run docs` takes them from the frozen
 * answers of the tests. An older version changes them into its own form.
 */
const FROZEN = examples as Record<string, Frozen>

export const exampleOf = (operationId: string): Pick<Frozen, 'json' | 'file'> =>
  FROZEN[operationId] ?? { json: [] }

export const refusalOf = (operationId: string, code: ProblemCode): Refusal | undefined =>
  FROZEN[operationId]?.refusals[code]

const item = (code: ProblemCode, description: string) => ({ [code]: [{ code, description }] })

/** One example for each code and any operation. If there is none, the text of the catalogue. */
export const SHARED_REFUSALS: Partial<Record<ProblemCode, Refusal>> = {
  ...Object.assign({}, ...Object.values(FROZEN).map(({ refusals }) => refusals)),
  ...item('insufficient_scope', 'This operation needs a key with the scope payments:write.'),
  ...item('unsupported_media_type', 'Send the body as Content-Type: application/json.'),
  ...item('internal_error', 'A fault of ours. Quote the request id 01k3e8r8v0e008000000000001.'),
}
