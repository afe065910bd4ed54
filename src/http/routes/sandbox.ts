import { createHash } from 'node:crypto'
import { moveClock, oneMoveAtATime, readClock, untilAdvanced } from '../../core/clocks/commands.ts'
import { moveFaults } from '../../core/clocks/rules.ts'
import { ClockMove, ClockView, showClock } from '../../core/clocks/view.ts'
import { waitUntilApplied } from '../../core/companies/announce.ts'
import { DisputeDecision, DisputeView, NewDispute } from '../../core/disputes/view.ts'
import { recordUnnamed, sendUnnamed } from '../../core/payments/commands.ts'
import { showUnmatched, UnmatchedPayment } from '../../core/payments/view.ts'
import { noPayment, recordOwnReturn, returnAtSimulator } from '../../core/refunds/bank-returns.ts'
import { NewBankReturn, RefundView, showRefund } from '../../core/refunds/view.ts'
import { expireSandbox, makeSandbox, requireRare } from '../../core/sandbox-companies.ts'
import { NewSandbox, SandboxView } from '../../core/sandboxes/view.ts'
import {
  decideAtSimulator,
  openAtSimulator,
  recordOwnDispute,
} from '../../core/simulated-bank/disputes.ts'
import { KeyPayment } from '../../core/simulated-bank/view.ts'
import { showNewCode } from '../../core/withdrawals/commands.ts'
import { WithdrawalCode } from '../../core/withdrawals/view.ts'
import { newId } from '../../lib/ids.ts'
import { type Call, Deleted, route } from '../route.ts'
import {
  deleted,
  disputed,
  itself,
  madeSandbox,
  newCode,
  read,
  returned,
  unmatched,
} from '../samples.ts'
import { disputeIdOf, shown } from './disputes.ts'
import { endToEndIdOf } from './payments.ts'
import { withdrawalIdOf } from './withdrawals.ts'

const make = route({
  method: 'POST',
  path: '/sandbox',
  operationId: 'createSandbox',
  client: ['sandbox', 'create'],
  changes: { record: 'company', pt: 'Empresa de testes criada', en: 'Sandbox created' },
  sample: madeSandbox,
  tag: 'Sandbox',
  summary: 'Create a sandbox company',
  description:
    'A company with the settings of yours, a key, a clock and R$ 1.000,00 of its own, so that tests that run at the same time do not move the time of each other. The key may do what the key of the request may. It is removed with all its data when its time is over, or by DELETE /sandbox. A company has at most 20 until they are removed. With a key of a sandbox company only, and of none that was made this way.',
  scope: 'company:write',
  body: NewSandbox,
  example: { expiresIn: 3600 },
  data: SandboxView,
  status: 201,
  message: 'Sandbox created.',
  problems: ['sandbox_only'],
  async handle(call) {
    const { app, company, author, scopes, body } = call
    await requireRare(app, company, author)
    return call.commit(async (tx) => {
      const made = await makeSandbox(tx, app, company, { ...body, author, scopes })
      const { companyId, apiKey, expiresAt } = made
      return { data: { id: companyId, apiKey, expiresAt: expiresAt.toISOString() } }
    })
  },
})

const remove = route({
  method: 'DELETE',
  path: '/sandbox',
  operationId: 'deleteSandbox',
  client: ['sandbox', 'delete'],
  changes: { record: 'company', pt: 'Empresa de testes excluída', en: 'Sandbox deleted' },
  sample: deleted,
  tag: 'Sandbox',
  summary: 'Delete a sandbox company',
  description:
    'The company of the key, which POST /sandbox has made. Its webhooks get nothing more and its clock stops at once; within some minutes its keys end, and then all its data is removed. The same request again changes nothing.',
  scope: 'company:write',
  unknownFields: 'refused',
  data: Deleted,
  status: 200,
  message: 'Sandbox deleted.',
  problems: ['sandbox_only'],
  handle: ({ app, company, commit }) =>
    commit(async (tx) => ({
      changed: await expireSandbox(tx, app, company),
      data: { id: company.id },
    })),
})

const get = route({
  method: 'GET',
  path: '/sandbox/clock',
  operationId: 'getClock',
  client: ['sandbox', 'clock'],
  sample: itself,
  tag: 'Sandbox',
  summary: 'Get the time of a sandbox company',
  description:
    'A sandbox company has the real time until it moves its clock. During a move, `running` names the work at the moment that the clock has reached.',
  scope: 'company:read',
  data: ClockView,
  status: 200,
  message: 'Clock found.',
  problems: ['clock_not_found'],
  handle: async ({ app, company }) => ({
    data: showClock(await readClock(app.db, app, company)),
  }),
})

const move = route({
  method: 'POST',
  path: '/sandbox/clock',
  operationId: 'moveClock',
  client: ['sandbox', 'moveClock'],
  changes: { record: 'clock', pt: 'Relógio de testes adiantado', en: 'Test clock moved' },
  sample: read('getClock'),
  tag: 'Sandbox',
  summary: 'Move the time of a sandbox company forward',
  description:
    'By `advance` seconds or to `now`. All work that falls due is done at its own moment and in order: subscriptions are charged, charges expire, money becomes available, one-time codes expire, failed webhooks are tried again. Answers when that is done, or after some seconds with status ADVANCING and what is still running; the move continues, and GET shows its progress. Time never goes back.',
  scope: 'company:write',
  body: ClockMove,
  example: { advance: 86_400 },
  check: moveFaults,
  data: ClockView,
  status: 200,
  message: 'Clock moved.',
  problems: ['clock_not_found', 'clock_advancing'],
  async handle(call) {
    const { app, company, body } = call
    const moved = await oneMoveAtATime(app, company.id, () =>
      call.commit(async (tx) => {
        await moveClock(tx, app, company, body)
        return { data: showClock(await readClock(tx, app, company)) }
      }),
    )
    const isAdvancing = moved.data.status === 'ADVANCING'
    if (isAdvancing) await untilAdvanced(app, company.id, app.config.clockWaitSeconds * 1000)
    // After the answer every server must use the new time.
    await oneMoveAtATime(app, company.id, () => waitUntilApplied(app.db))
    return isAdvancing ? { data: showClock(await readClock(app.db, app, company)) } : moved
  },
})

/** Names an order to the simulated bank. If a request is repeated by its key, so is the name. */
function orderOf({ app, guard }: Pick<Call, 'app' | 'guard'>): string {
  if (!guard) return `api_${newId()}`
  const hash = createHash('sha256').update(app.vault.firstFormOf(guard.fingerprint))
  return `api_${hash.update(guard.key).digest('hex')}`
}

const receive = route({
  method: 'POST',
  path: '/sandbox/payment',
  operationId: 'receivePayment',
  client: ['sandbox', 'receivePayment'],
  changes: {
    record: 'payment',
    pt: 'Pix de teste sem cobrança recebido',
    en: 'Test Pix for no charge received',
  },
  sample: unmatched,
  tag: 'Sandbox',
  summary: 'Receive a Pix that names no charge',
  description:
    'As if somebody typed the Pix key of the company instead of paying a code. It is an unmatched payment with the reason UNKNOWN, which can be accepted or refunded; with `settlesExactPayments` of the company it may settle a charge at once. For a sandbox company only.',
  scope: 'payments:write',
  body: KeyPayment,
  example: { amount: 1990, payer: { name: 'Maria da Silva', taxId: '12345678909' } },
  data: UnmatchedPayment,
  status: 201,
  message: 'Payment received.',
  problems: ['sandbox_only', 'sandbox_limit_exceeded'],
  async handle(call) {
    const { app, company, body } = call
    const pix = await sendUnnamed(app, company, body, orderOf(call))
    return call.commit(async (tx) => ({
      data: showUnmatched(app.vault, await recordUnnamed(tx, app, company, pix)),
    }))
  },
})

const returnOne = route({
  method: 'POST',
  path: '/sandbox/payment/{endToEndId}/return',
  operationId: 'returnPayment',
  client: ['sandbox', 'returnPayment'],
  changes: {
    record: 'payment',
    pt: 'Pix devolvido pelo banco simulado',
    en: 'Pix returned by the simulated bank',
  },
  sample: returned,
  tag: 'Sandbox',
  summary: 'Let the bank return a payment by itself',
  description:
    'As banks do after a claim of fraud (MED), without an order of yours: `payment.returned` follows, and `charge.refunded` if the payment had paid a charge. The balance may become negative. For a sandbox company only.',
  scope: 'payments:write',
  unknownFields: 'refused',
  body: NewBankReturn,
  example: { reason: 'FRAUD' },
  data: RefundView,
  status: 201,
  message: 'Payment returned.',
  problems: ['sandbox_only', 'payment_not_found', 'refund_not_possible'],
  async handle(call) {
    const { app, company, body } = call
    const id = endToEndIdOf(call, noPayment)
    const returned = await returnAtSimulator(app, company, id, body, orderOf(call))
    return call.commit(async (tx) => ({
      data: showRefund(await recordOwnReturn(tx, app, company, returned)),
    }))
  },
})

const dispute = route({
  method: 'POST',
  path: '/sandbox/payment/{endToEndId}/dispute',
  operationId: 'openDispute',
  client: ['sandbox', 'openDispute'],
  changes: {
    record: 'payment',
    pt: 'Pix contestado no banco simulado',
    en: 'Pix disputed at the simulated bank',
  },
  sample: disputed,
  tag: 'Sandbox',
  summary: 'Let the payer dispute a payment',
  description:
    'As a payer does who asks their bank for the money back (MED): the amount is held, and `dispute.opened` follows. The balance may become negative. For a sandbox company only.',
  scope: 'payments:write',
  unknownFields: 'refused',
  body: NewDispute,
  example: { reason: 'FRAUD', hours: 72 },
  data: DisputeView,
  status: 201,
  message: 'Dispute opened.',
  problems: ['sandbox_only', 'payment_not_found', 'dispute_not_open'],
  async handle(call) {
    const { app, company, body } = call
    const id = endToEndIdOf(call, noPayment)
    const told = await openAtSimulator(app, company, id, body, orderOf(call))
    return call.commit(async (tx) => ({
      data: await shown(tx, app.vault, await recordOwnDispute(tx, app, company, { told })),
    }))
  },
})

const decide = route({
  method: 'POST',
  path: '/sandbox/dispute/{id}/decide',
  operationId: 'decideDispute',
  client: ['sandbox', 'decideDispute'],
  changes: {
    record: 'dispute',
    pt: 'Disputa decidida no banco simulado',
    en: 'Dispute decided at the simulated bank',
  },
  sample: disputed,
  tag: 'Sandbox',
  summary: 'Let the bank decide a dispute',
  description:
    '`won` gives the held money back to you, `lost` returns it to the payer, `canceled` is a claim that is withdrawn. The same decision again changes nothing. For a sandbox company only.',
  scope: 'payments:write',
  unknownFields: 'refused',
  body: DisputeDecision,
  example: { decision: 'won' },
  data: DisputeView,
  status: 200,
  message: 'Dispute decided.',
  problems: ['sandbox_only', 'dispute_not_found', 'dispute_not_open'],
  async handle(call) {
    const { app, company, body } = call
    const decided = await decideAtSimulator(app, company, disputeIdOf(call), body.decision)
    return call.commit(async (tx) => ({
      data: await shown(tx, app.vault, await recordOwnDispute(tx, app, company, decided)),
    }))
  },
})

const code = route({
  method: 'POST',
  path: '/sandbox/withdraw/{id}/code',
  operationId: 'makeWithdrawalCode',
  client: ['sandbox', 'withdrawalCode'],
  changes: {
    record: 'withdrawal',
    pt: 'Código de teste do saque gerado',
    en: 'Test code of a withdrawal made',
  },
  sample: newCode,
  tag: 'Sandbox',
  summary: 'Get a new one-time code of a withdrawal',
  description:
    'In place of the code that was mailed, so that a program can confirm a withdrawal of play money. It can be asked for as often as needed. For a sandbox company only: nobody but the mailbox gets the code of a live one.',
  scope: 'balance:write',
  data: WithdrawalCode,
  status: 201,
  message: 'Code made.',
  problems: ['sandbox_only', 'withdrawal_not_found', 'otp_expired', 'withdrawal_not_confirmable'],
  async handle(call) {
    const { app, company } = call
    const id = withdrawalIdOf(call)
    return call.commit(async (tx) => {
      const { withdrawal, code } = await showNewCode(tx, app, company, id)
      return { data: { code, expiresAt: withdrawal.otpExpiresAt.toISOString() } }
    })
  },
})

export const sandboxRoutes = [make, remove, get, move, receive, returnOne, dispute, decide, code]
