import type { Client, TestApi } from '../support/api.ts'
import { CLOCK } from '../support/clocks.ts'
import { openDispute } from '../support/disputes.ts'
import { decisionOf, disputeOf, makePaid, returnOf, SANDBOX_PAYMENT } from '../support/payments.ts'
import { SANDBOX } from '../support/sandboxes.ts'
import type { BodyCase } from './bodies.ts'
import {
  ANY_AMOUNT,
  MOMENT,
  NAME,
  NO_NUMBER,
  NO_OBJECT,
  NO_TEXT,
  optional,
  TAX_ID,
} from './wrong-values.ts'

export const sandboxBodies: BodyCase[] = [
  {
    operationId: 'createSandbox',
    method: 'POST',
    parents: {},
    required: [],
    wrong: { expiresIn: [...NO_NUMBER, 1.5, 59, 0, -1, 86_401, 1e300] },
    prepare: async () => ({ path: SANDBOX, good: { expiresIn: 60 } }),
  },
  {
    operationId: 'moveClock',
    method: 'POST',
    parents: {},
    required: [],
    wrong: { advance: [...NO_NUMBER, 1.5, 0, -1, 157_788_001, 1e300], now: optional(MOMENT) },
    prepare: async () => ({ path: CLOCK, good: { advance: 1 } }),
  },
  {
    operationId: 'receivePayment',
    method: 'POST',
    parents: { payer: true },
    required: ['amount'],
    wrong: {
      amount: ANY_AMOUNT,
      payer: NO_OBJECT,
      'payer.name': optional(NAME),
      'payer.taxId': optional(TAX_ID),
    },
    prepare: async () => ({
      path: SANDBOX_PAYMENT,
      good: { amount: 1, payer: { name: 'Maria', taxId: '52998224725' } },
    }),
  },
  {
    operationId: 'returnPayment',
    method: 'POST',
    parents: {},
    required: [],
    wrong: { value: ANY_AMOUNT, reason: [...NO_TEXT, 'NOPE', 'fraud'] },
    prepare: async (client, api) => ({
      path: returnOf((await makePaid(api, client, 700)).endToEndId),
      good: { value: 1, reason: 'FRAUD' },
    }),
  },
  {
    operationId: 'openDispute',
    method: 'POST',
    parents: {},
    required: [],
    wrong: {
      value: ANY_AMOUNT,
      reason: [...NO_TEXT, 'NOPE', 'fraud'],
      hours: [...NO_NUMBER, 1.5, 0, 721],
    },
    prepare: async (client, api) => ({
      path: disputeOf((await makePaid(api, client, 700)).endToEndId),
      good: { value: 1, reason: 'FRAUD', hours: 1 },
    }),
  },
  {
    operationId: 'decideDispute',
    method: 'POST',
    parents: {},
    required: ['decision'],
    wrong: { decision: [...NO_TEXT, 'WON', 'open', ''] },
    prepare: async (client, api) => ({
      path: decisionOf(await makeDisputed(client, api)),
      good: { decision: 'won' },
    }),
  },
  {
    operationId: 'defendDispute',
    method: 'POST',
    parents: { files: true, 'files[0]': true },
    required: ['text'],
    wrong: {
      text: [...NO_TEXT, '', '   ', 'x'.repeat(4001)],
      files: ['text', 5, true, null, {}],
      'files[0]': NO_OBJECT,
      'files[0].name': NAME,
      'files[0].content': [...NO_TEXT, ''],
    },
    prepare: async (client, api) => ({
      path: `/dispute/${await makeDisputed(client, api)}/defense`,
      good: { text: 'Entregue.', files: [{ name: 'nota.pdf', content: PDF }] },
    }),
  },
]

const PDF = Buffer.from('%PDF-1.7\n%%EOF\n').toString('base64')

async function makeDisputed(client: Client, api: TestApi): Promise<string> {
  return (await openDispute(client, (await makePaid(api, client, 700)).endToEndId)).id
}
