import assert from 'node:assert/strict'
import { type Client, payer, type Reply, type TestApi } from './api.ts'

/** An order to the simulated bank as a payer gives it: without an API key. */
export const order = (api: TestApi, json: unknown): Promise<Reply> =>
  api.call('POST', '/bank/pix', { json })

/** What only a sandbox company has. */
export const SANDBOX_PAYMENT = '/sandbox/payment'
export const returnOf = (endToEndId: string) => `${SANDBOX_PAYMENT}/${endToEndId}/return`
export const disputeOf = (endToEndId: string) => `${SANDBOX_PAYMENT}/${endToEndId}/dispute`
export const decisionOf = (dispute: string) => `/sandbox/dispute/${dispute}/decide`
export const codeOf = (withdrawal: string) => `/sandbox/withdraw/${withdrawal}/code`

/** Pays a code at the simulated bank and gives the scheme's id of the payment. */
export async function pay(
  api: TestApi,
  brCode: string,
  fields: { amount?: number; endToEndId?: string } = {},
): Promise<string> {
  const { status, body, text } = await order(api, { brCode, ...fields })
  assert.equal(status, 201, text)
  return body.data.endToEndId
}

export type Code = { id: string; brCode: string }

const made = ({ status, body, text }: Reply) => {
  assert.equal(status, 201, text)
  return body.data ?? body
}

/** A charge with a code that can be paid. */
export async function makeCharge(
  client: Client,
  amount: number,
  fields: Record<string, unknown> = {},
): Promise<Code> {
  const charge = { amount, customer: payer(), ...fields }
  const { id, brCode } = made(await client.post('/charge/pix', charge))
  return { id, brCode }
}

/** A static code for the counter. */
export async function makeCode(client: Client, amount: number, devMode = false): Promise<Code> {
  const code = made(await client.post('/charge/pix/static', { amount, devMode }))
  return { id: code.correlationID, brCode: code.brCode }
}

/** A charge that was paid just now, and the scheme's id of its payment. */
export async function makePaid(
  api: TestApi,
  client: Client,
  amount: number,
): Promise<Code & { endToEndId: string }> {
  const charge = await makeCharge(client, amount)
  return { ...charge, endToEndId: await pay(api, charge.brCode) }
}

/** Money that paid no charge, since its charge was paid before; gives its endToEndId. */
export async function makeUnmatched(api: TestApi, client: Client, amount: number): Promise<string> {
  const { brCode } = await makePaid(api, client, 500)
  return pay(api, brCode, { amount })
}

export const stateOf = async (client: Client, id: string) => {
  const { body } = await client.get(`/charge/${id}/status`)
  const { status, paymentStatus } = body.data
  return [status, paymentStatus]
}

export type Balances = Record<'available' | 'pending' | 'held' | 'unmatched', number> & {
  /** Left out if nothing is. */
  disputed?: number
}

/** The balance row, which must be what the company is shown. */
export async function balancesOf(api: TestApi, client: Client): Promise<Balances> {
  const [row] = await api.rows<Balances>(
    'select available, pending, held, unmatched, disputed from balances where company_id = $1',
    [client.company.id],
  )
  if (row!.disputed === 0) delete row!.disputed
  assert.deepEqual((await client.get('/account-balance')).body.data, row)
  return row!
}

/** The postings beside the opening one: kind, reference, accounts and amount. */
export async function movementsOf(api: TestApi, { company }: Client): Promise<unknown[][]> {
  const rows = await api.rows<Record<string, unknown>>(
    `select kind, ref, debit || '>' || credit as accounts, amount from postings
     where company_id = $1 and kind <> 'OPENING' order by entry`,
    [company.id],
  )
  return rows.map(({ kind, ref, accounts, amount }) => [kind, ref, accounts, amount])
}

/** What the simulated bank has moved for a company, by its own books. */
export async function transfersOf(api: TestApi, { company }: Client): Promise<unknown[][]> {
  const rows = await api.rows<Record<string, unknown>>(
    `select direction, end_to_end_id, amount from simulated_transfers
     where account_id = $1 order by at, direction, end_to_end_id`,
    [company.id],
  )
  return rows.map(({ direction, end_to_end_id: id, amount }) => [direction, id, amount])
}

/** Bodies that name nothing, and so are not stored. */
export const NONSENSE: unknown[] = [
  null,
  undefined,
  42,
  'pix',
  [],
  {},
  { pix: null },
  { pix: 'E1' },
  { pix: {} },
  { pix: [] },
  { pix: [null, 1, 'E1', [], {}, { endToEndId: null }, { endToEndId: 7 }, { endToEndId: '' }] },
  { pix: [{ endToEndId: "E1'; drop table payments; --" }, { endToEndId: 'E'.repeat(65) }] },
]
