import assert from 'node:assert/strict'
import { test } from 'node:test'
import { payOutWithdrawals } from '../../src/worker/due.ts'
import { startApi } from '../support/api.ts'
import { signIn } from '../support/dashboard.ts'
import { lastCode } from '../support/mail.ts'
import { dataOf, makeRecipient, makeSettled, netOf, partsOf } from '../support/splits.ts'

const api = await startApi()
const client = await api.client()
const owner = await signIn(api, client.company)
const PAYER = { name: 'Maria da Silva', taxId: '123.456.789-09', email: 'maria@example.com' }
const idIn = (location: string | null, prefix: string) =>
  new RegExp(`${prefix}_\\w+`).exec(location ?? '')![0]

test('a recipient is created, listed and changed, and its key is kept if the field is empty', async () => {
  const form = { name: 'Padaria da Ana', taxId: '529.982.247-25', pixKey: 'ana@example.com' }
  const wrong = await owner.post('/recipients/new', { ...form, pixKey: 'ana' })
  assert.equal(wrong.status, 400)
  assert.match(wrong.text, /id="pixKey-fault">Informe uma chave Pix/)
  const made = await owner.post('/recipients/new', form)
  assert.equal(made.status, 303, made.text)
  const id = idIn(made.location, 'rcpt')
  const list = await owner.get('/recipients')
  assert.match(list.text, /Padaria da Ana[\s\S]*\*\*\*\.\*\*\*\.247-25[\s\S]*a\*\*\*@example\.com/)
  const saved = await owner.post(`/recipients/${id}/edit`, { name: 'Ana', status: 'INACTIVE' })
  assert.equal(saved.status, 303, saved.text)
  const { name, status, pixKey } = dataOf(await client.get(`/recipient/${id}`))
  assert.deepEqual([name, status, pixKey], ['Ana', 'INACTIVE', 'a***@example.com'])
})

for (const path of ['/new/charge', '/new/link']) {
  test(`${path} splits what is paid, and says at its field what is wrong with a part`, async () => {
    const [one, two] = [await makeRecipient(client), await makeRecipient(client)]
    const form = { ...PAYER, amount: '100,00', total: '100,00', expiresIn: '1800' }
    const split = {
      'split-0-recipient': one,
      'split-0-part': '33,33%',
      'split-2-recipient': two,
      'split-2-part': '10,00',
    }
    const wrong = await owner.post(path, { ...form, ...split, 'split-2-part': 'dez' })
    assert.equal(wrong.status, 400)
    assert.match(wrong.text, /id="split-2-part-fault">Escolha o recebedor/)
    const tooMuch = await owner.post(path, { ...form, ...split, 'split-2-part': '90,00' })
    assert.match(tooMuch.text, /id="split-0-part-fault">Escolha o recebedor/)
    const made = await owner.post(path, { ...form, ...split })
    assert.equal(made.status, 303, made.text)
    const id = idIn(made.location, 'charge')
    assert.deepEqual(await partsOf(client, id), [3333, 1000])
    const page = await owner.get(`/charges/${id}`)
    assert.match(
      page.text,
      /33,33%[\s\S]*R\$ 33,33[\s\S]*R\$ 10,00[\s\S]*Da empresa[\s\S]*R\$ 56,67/,
    )
  })
}

test('the page of a recipient shows balance and statement, and pays it out as a withdrawal', async () => {
  const recipientId = await makeRecipient(client)
  await makeSettled(api, client, 20_000, [{ recipientId, percent: 5000 }])
  const page = await owner.get(`/recipients/${recipientId}`)
  assert.match(page.text, /Disponível para repasse[\s\S]*R\$ 100,00[\s\S]*Parte de uma cobrança/)
  const balance = await owner.get('/balance')
  assert.match(balance.text, /De recebedores[\s\S]*R\$ 100,00/)
  const tooMuch = await owner.post(`/recipients/${recipientId}/payout`, { amount: '100,01' })
  assert.equal(tooMuch.status, 422)
  const nothing = await owner.post(`/recipients/${recipientId}/payout`, { amount: 'x' })
  assert.equal(nothing.status, 400)
  const started = await owner.post(`/recipients/${recipientId}/payout`, { all: '10000' })
  assert.equal(started.status, 303, started.text)
  const wd = idIn(started.location, 'wd')
  const otp = await lastCode(api, client.company.id)
  dataOf(await client.post(`/account-balance/withdraw/${wd}/confirm`, { otp }))
  await payOutWithdrawals.run(api.app)
  assert.deepEqual(await netOf(client, [recipientId]), [0])
  assert.match((await owner.get(`/recipients/${recipientId}`)).text, /Repasse/)
})
