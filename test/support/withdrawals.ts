import assert from 'node:assert/strict'
import { post } from '../../src/ledger/post.ts'
import { opening } from '../../src/ledger/recipes.ts'
import { fromPublic } from '../../src/lib/ids.ts'
import { toCents } from '../../src/lib/money.ts'
import type { Client, Reply, TestApi } from './api.ts'
import { lastCode } from './mail.ts'

export const PATH = '/account-balance/withdraw'
/** What a sandbox company has before it withdraws anything. */
export const OPENING = { available: 100_000, held: 0 }

export const answer = ({ status, body }: Reply) => [status, body.errors[0]?.code]
export const line = ({ body }: Reply): string => body.errors[0].description

/** Starts a withdrawal and gives its id. */
export async function start(client: Client, value: number): Promise<string> {
  const { status, body, text } = await client.post(PATH, { value })
  assert.equal(status, 201, text)
  return body.data.withdrawId
}

/** A live company that has what a sandbox begins with. Its codes are limited. */
export async function liveWithMoney(api: TestApi): Promise<Client> {
  const client = await api.client({ mode: 'live', pixKey: 'dona@example.com' })
  const { id } = client.company
  await api.app.db.transaction((tx) =>
    post(tx, id, [opening(toCents(OPENING.available))], api.clock.now()),
  )
  return client
}

/** A new company with a withdrawal that waits for its code. */
export async function waiting(
  api: TestApi,
  value = 5000,
  open: (api: TestApi) => Promise<Client> = () => api.client(),
) {
  const client = await open(api)
  const id = await start(client, value)
  return { client, id, code: await lastCode(api, client.company.id) }
}

export const confirm = (client: Client, id: string, otp: unknown, key?: string): Promise<Reply> =>
  client.post(
    `${PATH}/${id}/confirm`,
    { otp },
    key === undefined ? {} : { headers: { 'Idempotency-Key': key } },
  )
export const cancel = (client: Client, id: string) => client.post(`${PATH}/${id}/cancel`)
export const resend = (client: Client, id: string) => client.post(`${PATH}/${id}/resend`)

/** Starts a withdrawal and confirms it with the code from the mail. */
export async function confirmed(api: TestApi, client: Client, value: number): Promise<string> {
  const id = await start(client, value)
  const { status, text } = await confirm(client, id, await lastCode(api, client.company.id))
  assert.equal(status, 200, text)
  return id
}

/** Another code than this one. */
export const wrong = (code: string): string => (code === '000000' ? '000001' : '000000')

export async function rowOf(api: TestApi, id: string): Promise<Record<string, unknown>> {
  const [row] = await api.rows('select * from withdrawals where id = $1', [fromPublic('wd', id)])
  assert.ok(row, id)
  return row
}

/** What is left of the opening balance, and what is held of it. */
export async function balanceOf(api: TestApi, { company }: Client) {
  const [row] = await api.rows<{ available: number; held: number }>(
    'select available, held from balances where company_id = $1',
    [company.id],
  )
  return row!
}

/** The postings after the opening one: kind, reference and amount. */
export async function postingsOf(api: TestApi, { company }: Client): Promise<unknown[][]> {
  const rows = await api.rows<Record<string, unknown>>(
    'select kind, ref, amount from postings where company_id = $1 and entry > 1 order by entry',
    [company.id],
  )
  return rows.map(({ kind, ref, amount }) => [kind, ref, amount])
}

export type BankTransfer = { order_id: string; end_to_end_id: string; amount: number }

/** What the simulated bank has sent for a company, by its own books. */
export const sentOf = (api: TestApi, { company }: Client): Promise<BankTransfer[]> =>
  api.rows<BankTransfer>(
    `select order_id, end_to_end_id, amount from simulated_transfers
     where account_id = $1 and direction = 'sent' order by order_id`,
    [company.id],
  )
