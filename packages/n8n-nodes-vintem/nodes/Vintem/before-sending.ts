import { createHash } from 'node:crypto'
import {
  type IExecuteSingleFunctions,
  type IHttpRequestOptions,
  NodeOperationError,
} from 'n8n-workflow'

/** The names of fields that were added and hold nothing. */
function namesOfEmpty(fields: unknown, prefix = ''): string[] {
  return Object.entries(fields ?? {}).flatMap(([key, value]) => {
    const name = prefix + key
    if (value === undefined) return [name]
    return Object(value) === value ? namesOfEmpty(value, `${name}.`) : []
  })
}

/**
 * Refuses to send a field whose expression finds nothing. It would be left out, which means
 * something else: a refund without a value is of all, a list without a filter has everything.
 */
export async function requireValues(
  this: IExecuteSingleFunctions,
  options: IHttpRequestOptions,
): Promise<IHttpRequestOptions> {
  const empty = [...namesOfEmpty(options.qs), ...namesOfEmpty(options.body)]
  if (empty.length === 0) return options
  throw new NodeOperationError(this.getNode(), `No value for ${empty.join(', ')}`, {
    itemIndex: this.getItemIndex(),
    description: 'Its expression finds nothing in this item. Remove the field, or give it a value.',
  })
}

/**
 * The same for each try of one item in one run of a node, so that "Retry On Fail" creates nothing
 * twice, and another one in every other run.
 */
export async function addIdempotencyKey(
  this: IExecuteSingleFunctions,
  options: IHttpRequestOptions,
): Promise<IHttpRequestOptions> {
  const index = this.getItemIndex()
  const parts = [
    this.getInstanceId(),
    this.getWorkflow().id,
    this.getExecutionId(),
    this.getNode().id,
    this.evaluateExpression('{{ $runIndex }}', index),
    index,
  ]
  const key = createHash('sha256').update(JSON.stringify(parts)).digest('hex')
  return { ...options, headers: { ...options.headers, 'Idempotency-Key': key } }
}
