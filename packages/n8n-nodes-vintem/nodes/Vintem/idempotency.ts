import { createHash } from 'node:crypto'
import type { IExecuteSingleFunctions, IHttpRequestOptions } from 'n8n-workflow'

/**
 * The same for each try of one item in one run of a node, so that "Retry On Fail" creates nothing
 * twice, and another one in every other run.
 */
export async function addIdempotencyKey(
  this: IExecuteSingleFunctions,
  options: IHttpRequestOptions,
): Promise<IHttpRequestOptions> {
  const parts = [
    this.getInstanceId(),
    this.getWorkflow().id,
    this.getExecutionId(),
    this.getNode().id,
    this.evaluateExpression('{{ $runIndex }}', this.getItemIndex()),
    this.getItemIndex(),
  ]
  const key = createHash('sha256').update(JSON.stringify(parts)).digest('hex')
  return { ...options, headers: { ...options.headers, 'Idempotency-Key': key } }
}
