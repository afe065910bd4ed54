import { CLOCK } from '../support/clocks.ts'
import { makePaid, returnOf, SANDBOX_PAYMENT } from '../support/payments.ts'
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
]
