import { LATEST } from '../versions/history.ts'
import { openApiDocument } from './openapi.ts'

/**
 * A collection of requests that clients such as Postman and Bruno import, made from the OpenAPI
 * document. Sent from the first to the last, each request has what it needs.
 */

type Parameter = { name: string; in: string; description?: string; schema: { enum?: unknown[] } }
type Operation = {
  operationId: string
  summary: string
  description: string
  tags: string[]
  parameters: (Parameter | { $ref: string })[]
  requestBody?: { content: { 'application/json': { example: object } } }
}
type Found = { method: string; path: string; operation: Operation }

/** A request to an operation. */
type Step = {
  operationId: string
  /** If it is not the summary of the operation. */
  name?: string
  /** The variable that each parameter of the path comes from. */
  path?: string | undefined
  /** In place of the example of the document, or fields of it. */
  body?: Record<string, unknown>
  /** The variable of the key, if it is another one. */
  key?: string
  /** Variables that are set from the answer, by the field in `data` that they come from. */
  keep?: Record<string, string>
}

const step = (operationId: string, more: Omit<Step, 'operationId'> = {}): Step => ({
  operationId,
  ...more,
})

const PLAN = {
  name: 'Clube do pão',
  description: 'Pão todo dia',
  price: 4990,
  type: 'RECURRING',
  frequency: 'MONTHLY',
}
const AGREED = { productId: '{{planId}}', customerId: '{{customerId}}' }

/**
 * In an order in which each record is created before it is used, and deleted last. An operation
 * that is not here is sent at the end of the folder of its tag, with the first record made there.
 */
const FOLDERS: Record<string, Step[]> = {
  Company: [],
  Customers: [
    step('createCustomer', { keep: { customerId: 'id' } }),
    step('changeCustomer', { body: { id: '{{customerId}}' } }),
  ],
  Products: [step('createProduct', { keep: { productId: 'id' } })],
  Charges: [
    step('createPixCharge', { keep: { chargeId: 'id' } }),
    step('getCharge', { path: 'chargeId' }),
    step('simulatePayment', { path: 'chargeId' }),
    step('duplicateCharge', { path: 'chargeId', keep: { duplicateId: 'id' } }),
    step('cancelCharge', { path: 'duplicateId' }),
  ],
  Plans: [
    step('createPlan', { keep: { salePlanId: 'id' } }),
    step('listPlans'),
    step('getPlan', { path: 'salePlanId' }),
    step('cancelPlan', { path: 'salePlanId' }),
  ],
  Links: [
    step('createReusableLink', { keep: { linkId: 'id' } }),
    step('listReusableLinks'),
    step('getReusableLink', { path: 'linkId' }),
    step('changeReusableLink', { path: 'linkId' }),
  ],
  Subscriptions: [
    step('createProduct', {
      name: 'Create a product that is charged every month',
      body: PLAN,
      keep: { planId: 'id' },
    }),
    step('createRecurrence', { body: AGREED, keep: { subscriptionId: 'id' } }),
    step('createRecurrenceTemplate', { body: { productId: '{{planId}}' } }),
    step('listRecurrences'),
    step('getRecurrence', { path: 'subscriptionId' }),
    step('cancelRecurrence', { path: 'subscriptionId' }),
  ],
  Webhooks: [
    step('createWebhook', { keep: { webhookId: 'id', webhookSecret: 'secret' } }),
    step('listWebhooks'),
    step('getWebhook', { path: 'webhookId' }),
    step('changeWebhook', { path: 'webhookId' }),
    step('testWebhook', { path: 'webhookId', keep: { deliveryId: 'id', eventId: 'eventId' } }),
    step('listDeliveries', { path: 'webhookId' }),
    step('redeliver', { path: 'deliveryId' }),
    step('replayDeliveries', { path: 'webhookId' }),
    step('rotateWebhookSecret', { path: 'webhookId', keep: { webhookSecret: 'secret' } }),
  ],
  Events: [
    step('listEvents'),
    step('getEvent', { path: 'eventId' }),
    step('listEventDeliveries', { path: 'eventId' }),
  ],
  Requests: [],
  Recipients: [
    step('createRecipient', { keep: { recipientId: 'id' } }),
    step('changeRecipient', { path: 'recipientId' }),
    step('createPixCharge', {
      name: 'Create a charge that is split',
      body: {
        amount: 10_000,
        split: [{ recipientId: '{{recipientId}}', percent: 8000 }],
        externalId: undefined,
      },
      keep: { splitChargeId: 'id' },
    }),
    step('simulatePayment', { name: 'Pay the charge that is split', path: 'splitChargeId' }),
    step('moveClock', {
      name: 'Move the clock, until the recipient has its part',
      body: { advance: 60 },
    }),
    step('startPayout', { path: 'recipientId', keep: { payoutId: 'withdrawId' } }),
    // A company has one withdrawal or payout at a time.
    step('cancelWithdrawal', { name: 'Cancel the payout', path: 'payoutId' }),
  ],
  Refunds: [step('refundCharge', { path: 'chargeId' }), step('listRefunds', { path: 'chargeId' })],
  Payments: [
    step('receivePayment', { keep: { endToEndId: 'endToEndId' } }),
    step('listUnmatchedPayments'),
    step('suggestCharges', { path: 'endToEndId' }),
    // The money is kept, because no charge is left to settle.
    step('acceptPayment', {
      path: 'endToEndId',
      body: { chargeId: undefined, difference: undefined },
    }),
    step('returnPayment', { path: 'endToEndId' }),
    step('receivePayment', {
      name: 'Receive another payment, to return it',
      keep: { endToEndId: 'endToEndId' },
    }),
    step('refundPayment', { path: 'endToEndId' }),
  ],
  Disputes: [
    step('receivePayment', {
      name: 'Receive a payment, to dispute it',
      keep: { endToEndId: 'endToEndId' },
    }),
    step('openDispute', { path: 'endToEndId', keep: { disputeId: 'id' } }),
    step('listDisputes'),
    step('getDispute', { path: 'disputeId' }),
    step('defendDispute', { path: 'disputeId' }),
    step('decideDispute', { path: 'disputeId' }),
    step('openDispute', {
      name: 'Open another dispute, to accept it',
      path: 'endToEndId',
      keep: { disputeId: 'id' },
    }),
    step('acceptDispute', { path: 'disputeId' }),
  ],
  Balance: [
    step('getBalance'),
    step('getStatement'),
    step('listFigures'),
    step('startWithdrawal', { keep: { withdrawalId: 'withdrawId' } }),
    step('listWithdrawals'),
    step('getWithdrawal', { path: 'withdrawalId' }),
    step('resendWithdrawalCode', { path: 'withdrawalId' }),
    step('cancelWithdrawal', { path: 'withdrawalId' }),
    step('startWithdrawal', {
      name: 'Start another withdrawal, to confirm it',
      keep: { withdrawalId: 'withdrawId' },
    }),
    step('makeWithdrawalCode', { path: 'withdrawalId', keep: { otp: 'code' } }),
    step('confirmWithdrawal', { path: 'withdrawalId', body: { otp: '{{otp}}' } }),
  ],
  Sandbox: [
    step('createSandbox', { keep: { sandboxKey: 'apiKey' } }),
    step('deleteSandbox', { key: 'sandboxKey' }),
  ],
  Deleting: [
    step('deleteWebhook', { path: 'webhookId' }),
    step('deleteProduct', { path: 'productId' }),
    step('deleteCustomer', { path: 'customerId' }),
  ],
}

const SCHEMA = 'https://schema.getpostman.com/json/collection/v2.1.0/collection.json'

const text = (key: string, value: string) => ({ key, value, type: 'string' })

export function collection(publicUrl: string): unknown {
  const found = operationsOf(publicUrl)
  const folders = Object.entries(FOLDERS).map(([name, steps]) => ({
    name,
    item: [...steps, ...stepsWithout(name, [...found.values()])].map((one) =>
      itemOf(one, found.get(one.operationId)!),
    ),
  }))
  const kept = Object.values(FOLDERS).flatMap(keptBy)
  return {
    info: {
      name: `Vintém ${LATEST.name}`,
      description: `Every operation, in an order in which each request has what it needs. Set \`key\` to a key of a sandbox company; the other variables are set from the answers.\n\nThe reference is at ${publicUrl}/docs.`,
      schema: SCHEMA,
    },
    auth: authBy('key'),
    variable: [
      text('baseUrl', publicUrl),
      { ...text('key', ''), description: 'A key of a sandbox company, vk_sandbox_…' },
      ...[...new Set(kept)].map((name) => text(name, '')),
    ],
    item: folders,
  }
}

const authBy = (variable: string) => ({
  type: 'apikey',
  apikey: [text('key', 'X-API-KEY'), text('value', `{{${variable}}}`), text('in', 'header')],
})

const LISTED = new Set(
  Object.values(FOLDERS).flatMap((steps) => steps.map((one) => one.operationId)),
)
const keptBy = (steps: Step[]) => steps.flatMap(({ keep = {} }) => Object.keys(keep))

/** Steps for the operations of a tag that no folder lists. */
function stepsWithout(tag: string, found: Found[]): Step[] {
  const path = keptBy(FOLDERS[tag]!)[0]
  return found.flatMap(({ operation: { operationId, tags } }) =>
    tags[0] === tag && !LISTED.has(operationId) ? [{ operationId, path }] : [],
  )
}

function operationsOf(publicUrl: string): Map<string, Found> {
  const { paths } = openApiDocument(publicUrl) as {
    paths: Record<string, Record<string, Operation>>
  }
  return new Map(
    Object.entries(paths).flatMap(([path, methods]) =>
      Object.entries(methods).map(([method, operation]): [string, Found] => [
        operation.operationId,
        { method: method.toUpperCase(), path, operation },
      ]),
    ),
  )
}

function itemOf(one: Step, { method, path, operation }: Found): unknown {
  const parts = path
    .replaceAll(/\{\w+\}/g, `{{${one.path}}}`)
    .slice(1)
    .split('/')
  const example = operation.requestBody?.content['application/json'].example
  const body = example && { ...example, ...one.body }
  const isChange = method !== 'GET'
  const header = [
    { key: 'X-Api-Version', value: LATEST.name },
    ...(isChange ? [{ key: 'Idempotency-Key', value: '{{$guid}}' }] : []),
    ...(body ? [{ key: 'Content-Type', value: 'application/json' }] : []),
  ]
  const query = operation.parameters.flatMap((parameter) =>
    'in' in parameter && parameter.in === 'query' ? [queryOf(parameter)] : [],
  )
  const raw = JSON.stringify(body, null, 2)
  const request = {
    method,
    header,
    url: {
      raw: `{{baseUrl}}/${parts.join('/')}`,
      host: ['{{baseUrl}}'],
      path: parts,
      ...(query.length > 0 && { query }),
    },
    description: operation.description,
    ...(one.key && { auth: authBy(one.key) }),
    ...(body && { body: { mode: 'raw', raw, options: { raw: { language: 'json' } } } }),
  }
  const event = one.keep && [keeping(one.keep)]
  return { name: one.name ?? operation.summary, ...(event && { event }), request, response: [] }
}

/** Filters are off, so that a list has everything. */
const queryOf = ({ name, description = '', schema }: Parameter) => ({
  key: name,
  value: String(schema.enum?.[0] ?? ''),
  description,
  disabled: true,
})

/**
 * Sets variables from the answer. Bruno replaces `pm` by its own functions, except that of
 * variables of a collection; those of Postman are kept after the request only there. In Postman a
 * script may not declare `data`, which is a global there.
 */
function keeping(fields: Record<string, string>): unknown {
  const lines = Object.entries(fields).flatMap(([variable, field]) => {
    return [
      `  pm.variables.set('${variable}', answer.${field});`,
      `  if (typeof pm !== 'undefined') pm.collectionVariables.set('${variable}', answer.${field});`,
    ]
  })
  const exec = ['const answer = pm.response.json().data;', 'if (answer) {', ...lines, '}']
  return { listen: 'test', script: { type: 'text/javascript', exec } }
}
