import assert from 'node:assert/strict'
import { after } from 'node:test'
import { callbackUrl, connectBank } from '../../src/core/banks/commands.ts'
import type { BankRecord } from '../../src/core/banks/store.ts'
import { findCompany } from '../../src/core/companies/store.ts'
import type { Connection } from '../../src/provider/bacen/connection.ts'
import { type Bank, type StyleOptions, startBank } from '../bank/bank.ts'
import { type Client, type ClientOptions, payer, type TestApi } from './api.ts'

/** A live company that is connected to a bank, and the bank. */
export type Banked = Client & {
  bank: Bank
  /** Where the bank sends its callbacks. */
  callback: string
  /** What it knows of itself, as it is in the database. */
  fresh(): Promise<Client['company']>
}

const FAR = new Date('2036-01-01T00:00:00Z')

type Options = ClientOptions & {
  style?: StyleOptions
  payouts?: BankRecord['payouts']
  connection?: Partial<Connection>
  /** Whether the bank is asked to call back. */
  callbacks?: boolean
}

let companies = 0

/** Opens a live company at a bank of its own; at the end the bank must have seen nothing wrong. */
export async function openBanked(api: TestApi, options: Options = {}): Promise<Banked> {
  const { style, payouts = 'manual', connection = {}, callbacks = true, ...rest } = options
  const bank = await startBank({ clock: api.clock, ...(style ? { style } : {}) })
  after(async () => {
    await bank.close()
    assert.deepEqual(bank.violations(), [])
  })
  const pixKey = `loja${++companies}@example.com`
  const client = await api.client({ mode: 'live', pixKey }, rest)
  const { app } = api
  const record = await app.db.transaction((tx) => {
    const { id: _, ...given } = bank.connection(connection)
    const fields = { ...given, payouts, certificateEndsAt: FAR }
    return connectBank(tx, app.vault, client.company.id, fields, api.clock.now())
  })
  const fresh = async () => (await findCompany(app.db, client.company.id))!
  const callback = callbackUrl(api.url, record)
  if (callbacks) {
    const states = await app.providers.bacen.registerCallbacks(await fresh(), callback)
    assert.deepEqual(
      states.map(({ fault }) => fault),
      [null, null, null],
    )
  }
  return { ...client, bank, callback, fresh }
}

export const pixBody = (fields: object = {}) => ({
  amount: 1990,
  customer: payer(),
  expiresIn: 600,
  ...fields,
})

/** A charge that the bank has issued. */
// biome-ignore lint/suspicious/noExplicitAny: a test asserts what it expects of a body
export async function charged(client: Client, fields: object = {}): Promise<any> {
  const reply = await client.post('/charge/pix', pixBody(fields))
  assert.equal(reply.status, 201, reply.text)
  return reply.body.data
}

// biome-ignore lint/suspicious/noExplicitAny: a test asserts what it expects of a body
export async function read(client: Client, id: string): Promise<any> {
  const reply = await client.get(`/charge/${id}`)
  assert.equal(reply.status, 200, reply.text)
  return reply.body.data
}
