import Type from 'typebox'
import {
  cancelWithdrawal,
  confirmWithdrawal,
  findWithdrawal,
  resendCode,
  startWithdrawal,
  tryCode,
} from '../../core/withdrawals/commands.ts'
import { list } from '../../core/withdrawals/store.ts'
import {
  Confirmation,
  NewWithdrawal,
  StartedWithdrawal,
  showWithdrawal,
  WithdrawalQuery,
  WithdrawalView,
} from '../../core/withdrawals/view.ts'
import { fromPublic, toPublic, type Uuid } from '../../lib/ids.ts'
import { toCents } from '../../lib/money.ts'
import { problem } from '../../lib/problems.ts'
import { readPage } from '../lists.ts'
import { page } from '../page.ts'
import { route } from '../route.ts'
import { changed, listed, newest } from '../samples.ts'

export function withdrawalIdOf(call: { params: Record<string, string> }): Uuid {
  const id = fromPublic('wd', call.params.id ?? '')
  if (id === null) throw problem('withdrawal_not_found')
  return id
}

const start = route({
  method: 'POST',
  path: '/account-balance/withdraw',
  operationId: 'startWithdrawal',
  client: ['withdrawals', 'start'],
  changes: { record: 'withdrawal', pt: 'Saque solicitado', en: 'Withdrawal started' },
  sample: changed('getWithdrawal', ({ id }) => ({ withdrawId: id })),
  tag: 'Balance',
  summary: 'Start a withdrawal',
  description:
    'Holds the money and sends a one-time code by e-mail, which confirms the withdrawal within 10 minutes. A company has one withdrawal at a time. If its value is above the limit that an owner has set in the dashboard, a second person has to approve it there too: until then it stays PENDING_OTP, with `approval` WAITING.',
  scope: 'balance:write',
  unknownFields: 'refused',
  body: NewWithdrawal,
  example: { value: 5000 },
  data: StartedWithdrawal,
  status: 201,
  message: 'Withdrawal started. Confirm it with the code sent by e-mail.',
  problems: ['withdrawal_pending', 'insufficient_balance'],
  async handle(call) {
    const { app, company, body, author } = call
    const requestedBy = author.kind === 'person' ? author.id : null
    return call.commit(async (tx) => {
      const { id } = await startWithdrawal(tx, app, company, toCents(body.value), requestedBy)
      return { data: { withdrawId: toPublic('wd', id) } }
    })
  },
})

const confirm = route({
  method: 'POST',
  path: '/account-balance/withdraw/{id}/confirm',
  operationId: 'confirmWithdrawal',
  client: ['withdrawals', 'confirm'],
  changes: {
    record: 'withdrawal',
    pt: 'Saque confirmado com o código',
    en: 'Withdrawal confirmed by its code',
  },
  sample: changed('getWithdrawal'),
  tag: 'Balance',
  summary: 'Confirm a withdrawal with its one-time code',
  description:
    'There are five tries; after the fifth wrong code the withdrawal is canceled and its money available again. If `approval` is WAITING in the answer, it is paid out once a second person approves it, and expires three days after its confirmation if nobody does.',
  scope: 'balance:write',
  unknownFields: 'refused',
  body: Confirmation,
  example: { otp: '123456' },
  data: WithdrawalView,
  status: 200,
  message: 'Withdrawal confirmed.',
  problems: ['withdrawal_not_found', 'otp_invalid', 'otp_expired', 'withdrawal_not_confirmable'],
  async handle(call) {
    const { app, company, body } = call
    const id = withdrawalIdOf(call)
    const hash = await tryCode(app, company.id, id, body.otp)
    return call.commit(async (tx, control) => {
      const confirmed = await confirmWithdrawal(tx, control, app, company.id, id, hash)
      return { data: showWithdrawal(confirmed, app.clock.now()) }
    })
  },
})

const cancel = route({
  method: 'POST',
  path: '/account-balance/withdraw/{id}/cancel',
  operationId: 'cancelWithdrawal',
  client: ['withdrawals', 'cancel'],
  changes: { record: 'withdrawal', pt: 'Saque cancelado', en: 'Withdrawal canceled' },
  sample: changed('getWithdrawal'),
  tag: 'Balance',
  summary: 'Cancel a withdrawal that waits for its code',
  description: 'If the withdrawal is canceled already, the answer is the same.',
  scope: 'balance:write',
  unknownFields: 'refused',
  data: WithdrawalView,
  status: 200,
  message: 'Withdrawal canceled.',
  problems: ['withdrawal_not_found', 'withdrawal_not_confirmable'],
  handle(call) {
    const { app, company } = call
    const id = withdrawalIdOf(call)
    return call.commit(async (tx) => {
      const { withdrawal, changed } = await cancelWithdrawal(tx, app, company.id, id)
      return { data: showWithdrawal(withdrawal, app.clock.now()), changed }
    })
  },
})

const resend = route({
  method: 'POST',
  path: '/account-balance/withdraw/{id}/resend',
  operationId: 'resendWithdrawalCode',
  client: ['withdrawals', 'resendCode'],
  changes: {
    record: 'withdrawal',
    pt: 'Código do saque reenviado',
    en: 'Code of a withdrawal sent again',
  },
  sample: changed('getWithdrawal'),
  tag: 'Balance',
  summary: 'Send a new one-time code',
  description:
    'The new code is the only one that counts and has 10 minutes of its own, but no further tries. It can be sent again three times.',
  scope: 'balance:write',
  unknownFields: 'refused',
  data: WithdrawalView,
  status: 200,
  message: 'A new code was sent by e-mail.',
  problems: ['withdrawal_not_found', 'otp_expired', 'withdrawal_not_confirmable'],
  async handle(call) {
    const { app, company } = call
    const id = withdrawalIdOf(call)
    return call.commit(async (tx) => ({
      data: showWithdrawal(await resendCode(tx, app, company, id), app.clock.now()),
    }))
  },
})

const listAll = route({
  method: 'GET',
  path: '/account-balance/withdraw',
  operationId: 'listWithdrawals',
  client: ['withdrawals', 'list'],
  sample: listed,
  tag: 'Balance',
  summary: 'List withdrawals, newest first',
  scope: 'balance:read',
  query: WithdrawalQuery,
  data: Type.Array(WithdrawalView),
  status: 200,
  message: 'Withdrawals listed.',
  problems: [],
  async handle(call) {
    const now = call.app.clock.now()
    const status = call.query.status ?? null
    return readPage(
      page(call, 'wd'),
      (part) => list(call.app.db, call.company.id, { ...part, status }, now),
      (withdrawal) => showWithdrawal(withdrawal, now),
    )
  },
})

const get = route({
  method: 'GET',
  path: '/account-balance/withdraw/{id}',
  operationId: 'getWithdrawal',
  client: ['withdrawals', 'get'],
  sample: newest('listWithdrawals'),
  tag: 'Balance',
  summary: 'Get a withdrawal',
  scope: 'balance:read',
  data: WithdrawalView,
  status: 200,
  message: 'Withdrawal found.',
  problems: ['withdrawal_not_found'],
  async handle(call) {
    const { app, company } = call
    const withdrawal = await findWithdrawal(app.db, company.id, withdrawalIdOf(call))
    return { data: showWithdrawal(withdrawal, app.clock.now()) }
  },
})

export const withdrawalRoutes = [start, listAll, get, confirm, cancel, resend]
