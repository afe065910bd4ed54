import Type from 'typebox'
import { checkDigitsFault } from '../../core/customers/rules.ts'
import { changeRecipient, createRecipient, findRecipient } from '../../core/recipients/commands.ts'
import { keyFault } from '../../core/recipients/rules.ts'
import { list } from '../../core/recipients/store.ts'
import {
  NewPayout,
  NewRecipient,
  RecipientBalance,
  RecipientChange,
  RecipientEntryView,
  RecipientQuery,
  RecipientStatementQuery,
  RecipientView,
  showBalance,
  showEntry,
  showRecipient,
} from '../../core/recipients/view.ts'
import { startPayout } from '../../core/withdrawals/commands.ts'
import { findPending } from '../../core/withdrawals/store.ts'
import { StartedWithdrawal } from '../../core/withdrawals/view.ts'
import { listEntries, readAccounts } from '../../ledger/recipients.ts'
import { fromPublic, toPublic, type Uuid } from '../../lib/ids.ts'
import { toCents } from '../../lib/money.ts'
import { problem } from '../../lib/problems.ts'
import { readPage } from '../lists.ts'
import { numberedPage, type Part, page } from '../page.ts'
import { route } from '../route.ts'
import { changed, listed, newest } from '../samples.ts'

function recipientIdOf(call: { params: Record<string, string> }): Uuid {
  const id = fromPublic('rcpt', call.params.id ?? '')
  if (id === null) throw problem('recipient_not_found')
  return id
}

const create = route({
  method: 'POST',
  path: '/recipient',
  operationId: 'createRecipient',
  client: ['recipients', 'create'],
  changes: { record: 'recipient', pt: 'Recebedor criado', en: 'Recipient created' },
  sample: changed('getRecipient'),
  tag: 'Recipients',
  summary: 'Create a recipient',
  description:
    'Who gets parts of what you are paid: name it in the `split` of charges, links and subscriptions. Its parts are kept apart from your money, and paid to its Pix key when you say so.',
  scope: 'balance:write',
  body: NewRecipient,
  example: { name: 'Padaria da Ana', taxId: '11222333000181', pixKey: 'ana@example.com' },
  check: (body, { company }) => [
    checkDigitsFault(company, body.taxId, 'taxId'),
    keyFault(company, body.pixKey, body.taxId),
  ],
  data: RecipientView,
  status: 201,
  message: 'Recipient created.',
  problems: [],
  handle: (call) =>
    call.commit(async (tx) => ({
      data: showRecipient(await createRecipient(tx, call.app, call.company, call.body)),
    })),
})

const listAll = route({
  method: 'GET',
  path: '/recipient',
  operationId: 'listRecipients',
  client: ['recipients', 'list'],
  sample: listed,
  tag: 'Recipients',
  summary: 'List recipients, newest first',
  scope: 'balance:read',
  query: RecipientQuery,
  data: Type.Array(RecipientView),
  status: 200,
  message: 'Recipients listed.',
  problems: [],
  async handle(call) {
    const { app, company, query } = call
    const wanted = { status: query.status ?? null, taxId: query.taxId ?? null }
    return readPage(
      page(call, 'rcpt'),
      (part) => list(app.db, app.vault, company.id, { ...part, ...wanted }),
      showRecipient,
    )
  },
})

const get = route({
  method: 'GET',
  path: '/recipient/{id}',
  operationId: 'getRecipient',
  client: ['recipients', 'get'],
  sample: newest('listRecipients'),
  tag: 'Recipients',
  summary: 'Get a recipient',
  scope: 'balance:read',
  data: RecipientView,
  status: 200,
  message: 'Recipient found.',
  problems: ['recipient_not_found'],
  async handle(call) {
    const { app, company } = call
    return {
      data: showRecipient(await findRecipient(app.db, app, company.id, recipientIdOf(call))),
    }
  },
})

const changeOne = route({
  method: 'PUT',
  path: '/recipient/{id}',
  operationId: 'changeRecipient',
  client: ['recipients', 'update'],
  changes: { record: 'recipient', pt: 'Recebedor alterado', en: 'Recipient changed' },
  sample: changed('getRecipient'),
  tag: 'Recipients',
  summary: 'Change a recipient',
  description:
    'Only the fields sent are changed. If the Pix key changes, you get an e-mail, and payouts to it wait for a day (not in the sandbox). A recipient that is INACTIVE can be named in no new split; it keeps what it has, and the parts of charges that name it.',
  scope: 'balance:write',
  body: RecipientChange,
  example: { name: 'Padaria da Ana Maria' },
  check: (body, { company }) => [keyFault(company, body.pixKey, undefined)],
  data: RecipientView,
  status: 200,
  message: 'Recipient changed.',
  problems: ['recipient_not_found'],
  handle(call) {
    const { app, company, body } = call
    const id = recipientIdOf(call)
    return call.commit(async (tx) => ({
      data: showRecipient(await changeRecipient(tx, app, company, id, body)),
    }))
  },
})

const balance = route({
  method: 'GET',
  path: '/recipient/{id}/balance',
  operationId: 'getRecipientBalance',
  client: ['recipients', 'balance'],
  sample: newest('listRecipients'),
  tag: 'Recipients',
  summary: 'Get the balance of a recipient',
  description: 'Of charges whose money is settled. It is no part of your own available balance.',
  scope: 'balance:read',
  data: RecipientBalance,
  status: 200,
  message: 'Balance found.',
  problems: ['recipient_not_found'],
  async handle(call) {
    const { db } = call.app
    const { id: companyId } = call.company
    const { id } = await findRecipient(db, call.app, companyId, recipientIdOf(call))
    const [accounts, pending] = await Promise.all([
      readAccounts(db, companyId, [id]),
      findPending(db, companyId),
    ])
    const held = pending?.recipientId === id ? pending.value : 0
    return { data: showBalance(accounts.get(id)?.balance ?? 0, held) }
  },
})

const statement = route({
  method: 'GET',
  path: '/recipient/{id}/statement',
  operationId: 'getRecipientStatement',
  client: ['recipients', 'statement'],
  sample: newest('listRecipients'),
  tag: 'Recipients',
  summary: 'List what a recipient has got and what was taken from it, newest first',
  scope: 'balance:read',
  query: RecipientStatementQuery,
  data: Type.Array(RecipientEntryView),
  status: 200,
  message: 'Entries listed.',
  problems: ['recipient_not_found'],
  async handle(call) {
    const { app, company } = call
    const { id } = await findRecipient(app.db, app, company.id, recipientIdOf(call))
    const read = (part: Part<number>) => listEntries(app.db, company.id, id, part)
    return readPage(numberedPage(call), read, showEntry)
  },
})

const payOut = route({
  method: 'POST',
  path: '/recipient/{id}/payout',
  operationId: 'startPayout',
  client: ['recipients', 'payOut'],
  changes: { record: 'withdrawal', pt: 'Repasse solicitado', en: 'Payout started' },
  sample: async ({ first }) => {
    const withdrawal = await first('listWithdrawals')
    return withdrawal && { withdrawId: withdrawal.id }
  },
  tag: 'Recipients',
  summary: 'Start a payout to a recipient',
  description:
    'A withdrawal of the money of a recipient to its own Pix key, with the same code by e-mail, approvals and events: confirm it with the operations of withdrawals. Without a value all that the recipient has is paid. A company has one withdrawal or payout at a time.',
  scope: 'balance:write',
  unknownFields: 'refused',
  body: NewPayout,
  example: { value: 5000 },
  data: StartedWithdrawal,
  status: 201,
  message: 'Payout started. Confirm it with the code sent by e-mail.',
  problems: [
    'recipient_not_found',
    'withdrawal_pending',
    'recipient_key_changed',
    'insufficient_balance',
  ],
  async handle(call) {
    const { app, company, body, author } = call
    const requestedBy = author.kind === 'person' ? author.id : null
    const value = body.value === undefined ? undefined : toCents(body.value)
    const order = { recipientId: recipientIdOf(call), value }
    return call.commit(async (tx) => {
      const { id } = await startPayout(tx, app, company, order, requestedBy)
      return { data: { withdrawId: toPublic('wd', id) } }
    })
  },
})

export const recipientRoutes = [create, listAll, get, changeOne, balance, statement, payOut]
