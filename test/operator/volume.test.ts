import assert from 'node:assert/strict'
import { test } from 'node:test'
import { readFigures } from '../../src/core/figures/figures.ts'
import { matchPayments } from '../../src/core/payments/match.ts'
import { toCents } from '../../src/lib/money.ts'
import { type Client, startApi } from '../support/api.ts'
import { signIn } from '../support/dashboard.ts'
import { makePaid } from '../support/payments.ts'

const api = await startApi()
const first = await api.client({ name: 'Padaria do Norte' })
const DAY_S = 86_400

/** The overview, to somebody who has just signed in: the clock moves by days. */
async function overview(): Promise<string> {
  const options = { role: null, isOperator: true, hasSecondFactor: true }
  const operator = await signIn(api, first.company, options)
  const { status, text } = await operator.get('//operator')
  assert.equal(status, 200, text)
  return text
}

/** The figures of the overview, by their titles. */
async function figures(): Promise<Record<string, string>> {
  const text = await overview()
  const found = text.matchAll(
    /<h2 class="soft small">(.*?)<\/h2><span><strong>(.*?)<\/strong>(.*?)<\/span><p[^>]*>(.*?)</g,
  )
  return Object.fromEntries(
    [...found].map(([, title, value, change, more]) => [
      title,
      [value, change, more].map((part) => part!.replace(/<[^>]+>/g, '').trim()).join(' '),
    ]),
  )
}

let count = 0

/** Money that a live company receives through its own bank, and the audit that counts it. */
async function receive({ company }: Client, amount: number): Promise<void> {
  const endToEndId = `E00000000202608201500${String(++count).padStart(11, '0')}`
  const now = api.clock.now()
  const pix = { endToEndId, txid: null, amount: toCents(amount), receivedAt: now, payer: {} }
  await api.app.db.transaction((tx) =>
    matchPayments(tx, api.app, company, [pix], { source: 'bank', now }),
  )
  await readFigures(api.app, company, [])
}

const live = (name: string) => api.client({ name, mode: 'live', pixKey: 'pix@example.com' })

test('without a company in production there is no volume, whatever sandboxes have received', async () => {
  await makePaid(api, first, 5000)
  await readFigures(api.app, first.company, [])
  assert.deepEqual(await figures(), {})
  assert.match(await overview(), /Nenhuma empresa em produção ainda/)
})

test('an operator sees what all companies in production receive, and who has stopped', async () => {
  const [north, south] = [await live('Bazar Norte'), await live('Bazar <b>Sul')]
  await live('Bazar Novo')
  await receive(north, 100_000)
  api.clock.advance(8 * DAY_S)
  await receive(south, 2000)
  await receive(south, 3050)
  api.clock.advance(DAY_S)
  await receive(south, 1)
  assert.deepEqual(await figures(), {
    'Recebido hoje': 'R$ 0,01  1 pagamento',
    'Recebido em 7 dias': 'R$ 50,51 Queda de 95% 3 pagamentos',
    'Recebido em 30 dias': 'R$ 1.050,51  4 pagamentos',
    'Empresas ativas': '2  de 3 em produção',
    'Novas em 30 dias': '3  de 3 em produção',
  })
  const text = await overview()
  assert.match(text, /1 empresa em risco.*Bazar Norte.*último recebimento em 20\/08\/2026/s)
  assert.doesNotMatch(text, /Bazar (&lt;b&gt;Sul|Novo)/)
  api.clock.advance(31 * DAY_S)
  const later = await figures()
  assert.equal(later['Recebido em 30 dias'], 'R$ 0,00 Queda de 100% 0 pagamentos')
  assert.equal(later['Recebido hoje'], 'R$ 0,00  0 pagamentos')
  assert.equal(later['Empresas ativas'], '0 Queda de 100% de 3 em produção')
  assert.equal(later['Novas em 30 dias'], '0 Queda de 100% de 3 em produção')
  assert.match(await overview(), /30 dias antes: R\$ 1\.000,00/)
})
