import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type Client, startApi } from '../../support/api.ts'
import { approvedSubscription, chargesOf, at as moment, moveTo } from '../../support/billing.ts'
import { startPlaying } from '../../support/clocks.ts'
import { at, linkTo } from '../../support/pages.ts'
import {
  decide,
  makeRecurring,
  makeSubscription,
  makeTemplate,
  readSubscription,
} from '../../support/subscriptions.ts'

const api = await startApi()
startPlaying(api)

/** Approved on Thursday, 20 August: debited on Monday the 24th, then on 23 September. */
const APPROVED_AT = '2026-08-20T15:00:01.000Z'
const ONE_HOUR_LATER = '2026-08-20T16:00:00.000Z'

/** What a page says, without its markup. */
async function said(url: string): Promise<string> {
  const page = await fetch(at(api, url))
  assert.equal(page.status, 200)
  const text = (await page.text()).replace(/<head>.*<\/head>|<[^>]*>/gs, ' ')
  return text.replace(/\s+/g, ' ')
}

async function subscribed(funds = true): Promise<{ client: Client; id: string }> {
  const client = await api.client({ name: 'Padaria São João' })
  await moveTo(client, APPROVED_AT)
  const { id } = await approvedSubscription(api, client, {}, funds)
  return { client, id }
}

const agreementSays = async (client: Client, id: string) =>
  said((await readSubscription(client, id)).paymentLinkUrl)

const chargeSays = async (client: Client, id: string) => {
  const [charge] = await chargesOf(client, id)
  return said((await client.get(`/charge/${charge!.id}`)).body.data.url)
}

test('an active subscription begins with the first debit until that is made', async () => {
  const { client, id } = await subscribed()
  const first = /1ª cobrança 24\/08\/2026 .*2ª cobrança 23\/09\/2026 .*3ª cobrança 23\/10\/2026/
  await moveTo(client, ONE_HOUR_LATER)
  assert.equal((await chargesOf(client, id)).length, 1, 'its charge is there')
  assert.match(await agreementSays(client, id), first)
  await moveTo(client, moment('2026-08-25'))
  const later = await agreementSays(client, id)
  assert.doesNotMatch(later, /1ª cobrança/)
  assert.match(later, /2ª cobrança 23\/09\/2026 .*4ª cobrança/)
})

test('a charge of a subscription shows its due day and its product, scheduled and paid', async () => {
  const { client, id } = await subscribed()
  await moveTo(client, ONE_HOUR_LATER)
  const due = /Pão todo dia .*Vencimento 24\/08\/2026/
  const scheduled = await chargeSays(client, id)
  assert.match(scheduled, /Pagamento agendado no Pix Automático/)
  assert.match(scheduled, due)
  await moveTo(client, moment('2026-08-25'))
  const paid = await chargeSays(client, id)
  assert.match(paid, /Pagamento confirmado/)
  assert.match(paid, due)
})

test('a charge that no bank could debit is not shown as an expired code', async () => {
  const { client, id } = await subscribed(false)
  await moveTo(client, moment('2026-09-02'))
  const failed = await chargeSays(client, id)
  assert.match(failed, /Pagamento não realizado .*Vencimento 24\/08\/2026/)
  assert.doesNotMatch(failed, /código/)
})

test('after a failed debit the pages say when the bank tries again, and not that all is right', async () => {
  const { client, id } = await subscribed(false)
  const pages = async () => [await agreementSays(client, id), await chargeSays(client, id)] as const
  // The bank tries at 8:00. The day of the next try is known at once.
  for (const [now, day] of [
    [moment('2026-08-24', '13:00:00'), '25/08/2026'],
    [moment('2026-08-26', '10:00:00'), '28/08/2026'],
    [moment('2026-08-31', '07:00:00'), '31/08/2026'],
  ]) {
    await moveTo(client, now!)
    const [agreement, charge] = await pages()
    for (const page of [agreement, charge]) {
      assert.match(page, /Pagamento pendente O débito de 24\/08\/2026 não foi feito/, now)
      assert.match(page, new RegExp(`Seu banco tenta novamente em ${day}`), now)
      assert.doesNotMatch(page, /Tudo certo|agendado/, now)
    }
    assert.match(agreement, new RegExp(`1ª cobrança ${day} .*2ª cobrança 23/09/2026`))
    assert.match(agreement, /vencimento é em dia útil.* também em fins de semana e feriados/)
  }
})

test('a subscription whose last charge failed says so until one is paid', async () => {
  const { client, id } = await subscribed(false)
  await moveTo(client, moment('2026-09-02'))
  const failed = await agreementSays(client, id)
  assert.match(
    failed,
    /Pagamento pendente A cobrança de 24\/08\/2026 não foi paga\. Fale com a loja/,
  )
  assert.match(failed, /2ª cobrança 23\/09\/2026/)
  assert.doesNotMatch(failed, /Tudo certo|1ª cobrança/)
  const { emv } = await readSubscription(client, id)
  await decide(api, emv, 'approve', true)
  await moveTo(client, moment('2026-09-24'))
  assert.match(await agreementSays(client, id), /Assinatura ativa Tudo certo!/)
})

test('every page of a subscription names the company, its CNPJ and the product’s description', async () => {
  const client = await api.client({ name: 'Padaria São João', taxId: '11222333000181' })
  const description = 'Um pão francês\nquentinho & crocante'
  const shown = 'Um pão francês quentinho &amp; crocante'
  const productId = await makeRecurring(client, { description })
  const { url } = await makeTemplate(client, { productId })
  const link = await linkTo(api, client, { items: [{ productId, quantity: 1 }] })
  const waiting = await makeSubscription(client, { description })
  const approved = await approvedSubscription(api, client, { description })
  const urls = [waiting, approved].map(async ({ id }) => readSubscription(client, id))
  const agreements = (await Promise.all(urls)).map(({ paymentLinkUrl }) => paymentLinkUrl)
  for (const page of [url, link, ...agreements]) {
    const text = await said(page)
    assert.ok(text.includes(shown), text)
    assert.match(text, /Recebedor Padaria São João 11\.222\.333\/0001-81/)
  }
  const rejected = await makeSubscription(client, {})
  await decide(api, rejected.emv, 'reject')
  assert.match(await agreementSays(client, rejected.id), /Recebedor Padaria São João 11\.222/)
})

test('a person who sells shows a CPF in part only', async () => {
  const client = await api.client({ taxId: '52998224725' })
  const text = await said((await makeTemplate(client)).url)
  assert.match(text, /Recebedor .*\*\*\*\.\*\*\*\.247-25/)
  assert.doesNotMatch(text, /529\.982/)
})

test('a subscription link with another total shows how it comes about', async () => {
  const client = await api.client()
  const productId = await makeRecurring(client, { price: 4990 })
  const items = [{ productId, quantity: 1 }]
  const text = await said(await linkTo(api, client, { items, total: 3990 }))
  assert.match(text, /R\$ 39,90 por mês/)
  assert.match(text, /1 × Pão todo dia R\$ 49,90 Desconto − R\$ 10,00 Total R\$ 39,90/)
  assert.doesNotMatch(await said(await linkTo(api, client, { items })), /Total/)
})
