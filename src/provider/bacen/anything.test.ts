import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { startBank } from '../../../test/bank/bank.ts'
import { manualClock } from '../../../test/support/api.ts'
import { newId } from '../../lib/ids.ts'
import { toCents } from '../../lib/money.ts'
import { parse } from '../../pix/brcode.ts'
import type { AgreementOrder } from '../port.ts'
import { agreeing } from './agreements.ts'
import type { Reply } from './answers.ts'
import { charging } from './charges.ts'
import type { AtBank, Bank } from './client.ts'
import { collecting } from './collections.ts'
import { payouts } from './payouts.ts'
import { reading } from './received.ts'
import { refunding } from './refunds.ts'

const clock = manualClock()
const bank = await startBank({ clock })
const connection = bank.connection()
await bank.close()

const payee = { id: newId(), name: 'Padaria', city: 'Recife', pixKey: 'pix@padaria.example' }
const E2E = 'E99999990202608201500abcdefghijk'
const period = { from: new Date('2026-08-20T14:00:00Z'), to: new Date('2026-08-20T16:00:00Z') }
const agreement: AgreementOrder = {
  id: newId(),
  value: toCents(2990),
  frequency: 'WEEKLY',
  description: '',
  retries: false,
  payer: { name: 'Ana', taxId: '52998224725' },
  startsOn: '2026-09-01',
  expiresAt: new Date('2026-09-20T15:00:00Z'),
}

const STATUS = ['ATIVA', 'CONCLUIDA', 'CRIADA', 'APROVADA', 'CANCELADA', 'DEVOLVIDO', 'REALIZADO']
const text = fc.oneof(
  fc.constantFrom('12.34', '29.90', E2E, clock.now().toISOString(), '2026-08-25', 'https://a.b/c'),
  fc.string(),
)
const value = fc.oneof(text, fc.jsonValue())
const status = fc.oneof(fc.constantFrom(...STATUS), value)
const some = fc.record(
  {
    endToEndId: fc.oneof(fc.constant(E2E), value),
    txid: value,
    valor: value,
    horario: value,
    status,
    dataLiquidacao: value,
    idRec: value,
    location: value,
    id: value,
    data: value,
  },
  { requiredKeys: [] },
)
const list = fc.oneof(fc.array(fc.oneof(some, fc.jsonValue()), { maxLength: 3 }), fc.jsonValue())
const body = fc.record(
  {
    status,
    idRec: value,
    endToEndId: fc.constant(E2E),
    rtrId: value,
    e2eId: value,
    id: value,
    valor: fc.oneof(value, fc.record({ original: value })),
    horario: value,
    location: value,
    loc: fc.oneof(some, fc.jsonValue()),
    pixCopiaECola: value,
    parametros: fc.jsonValue(),
    dadosQR: fc.oneof(fc.record({ pixCopiaECola: value }), fc.jsonValue()),
    recs: list,
    calendario: fc.record({ dataDeVencimento: value }),
    tentativas: list,
    pix: list,
    atualizacao: list,
    devolucoes: list,
    motivo: value,
  },
  { requiredKeys: [] },
) as fc.Arbitrary<Record<string, unknown>>
const failure = fc.record({ kind: fc.constantFrom('missing', 'refused', 'unknown'), reason: text })
const reply = fc.oneof(
  body.map((given) => ({ kind: 'done', body: given })),
  failure,
) as fc.Arbitrary<Reply>

/** Whatever a bank answers to whichever question, in whichever order. */
function atBank(replies: Reply[]): AtBank {
  let next = 0
  const ask = async () => replies[next++ % replies.length]!
  const moment = (at: Date) => at.toISOString()
  return (_payee, act) => act({ connection, clock, ask, moment } as unknown as Bank)
}

test('nothing that a bank could answer makes an order fail, or be taken for what it is not', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(reply, { minLength: 1, maxLength: 5 }), async (replies) => {
      const at = () => atBank(replies)
      const id = newId()
      const order = { id, endToEndId: E2E, amount: toCents(1234) }
      const issued = await charging(at()).issueCharge(payee, { ...order, expiresAt: period.to })
      if (issued.kind === 'accepted') assert.equal(parse(issued.value.brCode).kind, 'dynamic')
      const made = await agreeing(at()).createAgreement(payee, agreement)
      if (made.kind === 'accepted') assert.ok(made.value.externalId !== '')
      const found = await reading(at()).findReceived(payee, [E2E])
      if (found.kind === 'accepted')
        for (const pix of found.value) assert.equal(pix.endToEndId, E2E)
      const collection = { id, amount: toCents(2990), dueOn: '2026-08-25' }
      const outcomes = [
        await charging(at()).removeCharge(payee, { id }),
        await charging(at()).findPaid(payee, { id }),
        await reading(at()).listReceived(payee, period),
        await reading(at()).listTransfers(payee, period),
        await refunding(at()).refund(payee, order),
        await refunding(at()).findRefund(payee, order),
        await agreeing(at()).findAgreement(payee, { id }),
        await agreeing(at()).cancelAgreement(payee, { id, externalId: 'RR1' }),
        await collecting(at()).scheduleCollection(payee, {
          ...collection,
          agreement: { id, externalId: 'RR1' },
        }),
        await collecting(at()).findCollection(payee, id),
        await collecting(at()).retryCollection(payee, id, '2026-08-26'),
        await collecting(at()).cancelCollection(payee, id),
        await payouts(at()).findSent(payee, { ...order, pixKey: 'x' }),
      ]
      for (const { kind } of outcomes) assert.match(kind, /^(accepted|rejected|unknown)$/)
    }),
    { numRuns: 300 },
  )
})
