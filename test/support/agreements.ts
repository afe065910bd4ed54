import assert from 'node:assert/strict'
import { newId, type Uuid } from '../../src/lib/ids.ts'
import { toCents } from '../../src/lib/money.ts'
import { addDays, atHour, type LocalDate, localDateOf } from '../../src/pix/local-time.ts'
import type { Agreement, AgreementOrder, Outcome, Payee } from '../../src/provider/port.ts'
import type { TestApi } from './api.ts'

export const VALUE = toCents(1990)

export function given<T>(outcome: Outcome<T>): T {
  assert.equal(outcome.kind, 'accepted', JSON.stringify(outcome))
  return (outcome as { value: T }).value
}

export function reasonOf(outcome: Outcome<unknown>): string {
  assert.equal(outcome.kind, 'rejected', JSON.stringify(outcome))
  return (outcome as { reason: string }).reason
}

export type Scene = ReturnType<typeof openScene>

/** A payee at the simulated bank, with what a test does there in few words. */
export function openScene(api: TestApi, payee: Payee) {
  const { simulator } = api.app.providers
  const now = () => new Date(api.clock.now().getTime() + (payee.clockAhead_ms ?? 0))
  const orderOf = (fields: Partial<AgreementOrder> = {}): AgreementOrder => ({
    id: newId(),
    value: VALUE,
    frequency: 'MONTHLY',
    description: 'Pão todo mês',
    payer: { name: 'Maria da Silva', taxId: '52998224725' },
    startsOn: localDateOf(now()),
    retries: true,
    expiresAt: new Date(now().getTime() + 24 * 3600 * 1000),
    ...fields,
  })
  const decide = (id: Uuid, decision: 'approve' | 'reject' | 'cancel', funds?: boolean) =>
    simulator.decide(payee.id, id, decision, funds ?? null, now())
  const agree = async (fields: Partial<AgreementOrder> = {}) => {
    const order = orderOf(fields)
    return { id: order.id, ...given(await simulator.createAgreement(payee, order)) }
  }
  const approve = async (fields: Partial<AgreementOrder> = {}, funds = true) => {
    const { id } = await agree(fields)
    return { id, ...given(await decide(id, 'approve', funds)).agreement }
  }
  const schedule = (agreement: Agreement & { id: Uuid }, fields: ScheduleFields = {}) => {
    const { id = newId(), amount = VALUE, inDays = 3 } = fields
    const dueOn = fields.dueOn ?? addDays(localDateOf(now()), inDays)
    const order = { id, agreement, amount: toCents(amount), dueOn }
    return simulator.scheduleCollection(payee, order)
  }
  /** What is collected of this payee on a day, at the time when that is done. */
  const collectOn = (day: LocalDate, most = 100) =>
    simulator.collectDue(payee.id, atHour(day, 8), most)
  const received = async () => {
    const period = { from: new Date(0), to: new Date('2100-01-01') }
    return given(await simulator.listReceived(payee, period))
  }
  return { payee, now, orderOf, decide, agree, approve, schedule, collectOn, received }
}

type ScheduleFields = { id?: Uuid; amount?: number; inDays?: number; dueOn?: LocalDate }
