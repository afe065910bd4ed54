import assert from 'node:assert/strict'
import { receiveCallback } from '../../src/core/payments/callbacks.ts'
import { indexStop } from '../../src/core/reminders/stops.ts'
import { insertStop } from '../../src/core/reminders/store.ts'
import { saveView } from '../../src/core/saved-views.ts'
import { addDays, localDateOf } from '../../src/pix/local-time.ts'
import { sendDefenses } from '../../src/worker/due.ts'
import { connectAgent } from '../support/agents.ts'
import type { Client, Reply, TestApi } from '../support/api.ts'
import { signIn } from '../support/dashboard.ts'
import { decide, openDispute } from '../support/disputes.ts'
import { at } from '../support/pages.ts'
import { order, SANDBOX_PAYMENT } from '../support/payments.ts'
import type { Receiver } from '../support/receiver.ts'
import { decide as decideAgreement, makeRecurring, RECURRENCES } from '../support/subscriptions.ts'
import { runTasks } from '../support/tasks.ts'
import { openDeliveryWorker, register } from '../support/webhooks.ts'

/** A payer with whom nobody else has anything in common. */
export const QUITERIA = {
  name: 'Quitéria Zampronha',
  taxId: '98765432100',
  email: 'quiteria.zampronha@example.com',
  phone: '11912345678',
  address: 'Rua do Canário Escondido',
}

/** Parts of what is known of her, none of which anything else in a database has. */
export const TRACES = [
  'Quitéria',
  'quiteria',
  'Zampronha',
  '98765432100',
  '987.654.321-00',
  '***.***.321-00',
  'q***@example.com',
  '11912345678',
  '912345678',
  '91234-5678',
  'Canário Escondido',
  '04538133',
]

const SHIPPING = {
  postalCode: '04538-133',
  address: QUITERIA.address,
  number: '7',
  line1: 'Fundos',
  district: 'Itaim',
  city: 'São Paulo',
  state: 'SP',
}

const CUSTOMER = { ...QUITERIA, postalCode: '04538133', number: '7' }
const BANK_PAYER = { name: QUITERIA.name, taxId: QUITERIA.taxId }

// biome-ignore lint/suspicious/noExplicitAny: a test asserts what it expects of a body
function made({ status, body, text }: Reply): any {
  assert.ok(status === 200 || status === 201, text)
  return body.data ?? body
}

/** What she did, by which a test asks for it later. */
export type Life = {
  /** A charge that she has paid, with its money. */
  paid: { id: string; endToEndId: string }
  refunded: string
  open: string
  subscription: string
  template: string
  webhook: { id: string }
  receiver: Receiver
}

/** Lets her go through all that a payer can: charges, links, subscriptions, a dispute and mails. */
export async function liveThrough(api: TestApi, client: Client, receiver: Receiver): Promise<Life> {
  let keys = 0
  const send = async (path: string, json: unknown) =>
    made(
      await client.post(path, json, {
        headers: { 'Idempotency-Key': `key ${keys++}`, 'X-Request-Id': `de ${QUITERIA.email}` },
      }),
    )
  // A receiver that knows her answers with what it knows.
  receiver.answer = (response) => response.end(`{"cliente":"${QUITERIA.name}"}`)
  const events = ['charge.paid', 'charge.refunded', 'charge.canceled']
  const webhook = await register(client, receiver.url, events)
  const sale = { amount: 5000, customer: CUSTOMER, description: 'Bolo da Quitéria' }
  const first = await send('/charge/pix', { ...sale, externalId: 'pedido-quiteria-1' })
  const { endToEndId } = made(await order(api, { brCode: first.brCode, payer: BANK_PAYER }))
  await send(`/refund/${first.id}`, { value: 500, comment: 'Troco da Quitéria' })
  await disputeAndNotes(api, client, send)
  await payNothing(api, client, send, first.brCode)
  const subscriptions = await subscribe(api, client, send)
  await ship(api, client, send)
  const plan = {
    total: 90_000,
    count: 3,
    firstDueDate: addDays(localDateOf(api.clock.now()), 30),
    customer: CUSTOMER,
  }
  const { charges } = await send('/charge/plan', { ...plan, externalId: 'carnê da Quitéria' })
  for (const { id } of charges) await send(`/charge/${id}/cancel`, {})
  const agent = await connectAgent(api, client)
  const idempotencyKey = 'agent'
  await agent.data('create_charge', { amount: 700, customer: { ...BANK_PAYER }, idempotencyKey })
  const index = indexStop(api.app.vault, client.company.id, QUITERIA.email)
  await insertStop(api.app.db, client.company.id, index, api.clock.now())
  await runTasks(api)
  await openDeliveryWorker(api).run()
  const { id: open } = await send('/charge/pix', { ...sale, externalId: 'pedido-quiteria-2' })
  // The log of requests is written a moment after the answers.
  await api.app.requestLog.idle()
  const paid = { id: first.id, endToEndId }
  return { paid, refunded: first.id, open, ...subscriptions, webhook, receiver }
}

// biome-ignore lint/suspicious/noExplicitAny: a test asserts what it expects of a body
type Send = (path: string, json: unknown) => Promise<any>

async function disputeAndNotes(api: TestApi, client: Client, send: Send): Promise<void> {
  const { id, brCode } = await send('/charge/pix', { amount: 1990, customer: CUSTOMER })
  const { endToEndId } = made(await order(api, { brCode }))
  const dispute = await openDispute(client, endToEndId)
  const content = Buffer.concat([Buffer.from('%PDF-1.7\n'), Buffer.from(QUITERIA.name)])
  const files = [{ name: `${QUITERIA.name}.pdf`, content: content.toString('base64') }]
  await send(`/dispute/${dispute.id}/defense`, { text: `Entregue a ${QUITERIA.name}`, files })
  await sendDefenses.run(api.app)
  await decide(client, dispute.id, 'won')
  const member = await signIn(api, client.company, { name: 'Bia Lima' })
  const note = `${QUITERIA.name}, CPF ${QUITERIA.taxId}, ligou`
  const [customer] = made(await client.get(`/client?taxId=${QUITERIA.taxId}`))
  const other = await send('/charge/pix', {
    amount: 800,
    customer: { name: 'João Ninguém', taxId: '12345678909' },
  })
  for (const path of [`/charges/${id}`, `/customers/${customer.id}`, `/charges/${other.id}`]) {
    assert.equal((await member.post(`${path}/notes`, { note })).status, 303)
  }
  const owner = { ...api.app, companyId: client.company.id, personId: member.person.id }
  const view = { name: 'Ela', filters: { search: QUITERIA.name } }
  assert.ok(await saveView(owner, 'customers', view, api.clock.now()))
  await member.post('/counter', { amount: '5,00' })
}

/** Money that pays nothing, and a callback that names her. */
async function payNothing(api: TestApi, client: Client, send: Send, brCode: string): Promise<void> {
  const { endToEndId } = made(await order(api, { brCode, payer: BANK_PAYER }))
  await send(SANDBOX_PAYMENT, { amount: 321, payer: BANK_PAYER })
  const body = { pix: [{ endToEndId, pagador: { nome: QUITERIA.name, cpf: QUITERIA.taxId } }] }
  const { processed } = await receiveCallback(api.app, client.company.id, 'simulator', body)
  await processed
}

async function subscribe(api: TestApi, client: Client, send: Send) {
  const { id: customerId } = await send('/client', { ...CUSTOMER, status: 'ACTIVE' })
  const productId = await makeRecurring(client)
  const { id } = await send(RECURRENCES, { productId, customerId })
  const { emv } = made(await client.get(`${RECURRENCES}/${id}`))
  await decideAgreement(api, emv, 'approve')
  const { id: template } = await send(`${RECURRENCES}/template`, { productId, customerId })
  return { subscription: id, template }
}

async function ship(api: TestApi, client: Client, send: Send): Promise<void> {
  const link = { total: 2500, customer: CUSTOMER, needShipping: true, notifyCustomer: true }
  const { id, url } = await send('/charge/payment-link', link)
  const body = new URLSearchParams(SHIPPING)
  const sent = await fetch(at(api, url), { method: 'POST', body, redirect: 'manual' })
  assert.equal(sent.status, 303, await sent.text())
  const { brCode } = made(await client.get(`/charge/${id}`))
  await order(api, { brCode })
}
