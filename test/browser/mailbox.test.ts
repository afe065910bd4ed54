import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Page } from 'playwright-core'
import { addDays, localDateOf } from '../../src/pix/local-time.ts'
import { payer } from '../support/api.ts'
import { longTest } from '../support/long.ts'
import { ask, type Local, startLocal } from './local.ts'
import { browsing, fitsTheWindow, isAccessible, showsAsText } from './support.ts'

const local = await startLocal()
const browser = browsing()
const mailbox = `${local.url}/mailbox`

/** Mails are sent by the worker, soon after what they are about. */
async function arrives(page: Page, subject: string) {
  const mail = page.getByRole('link', { name: subject })
  while ((await mail.count()) === 0) await page.reload()
  return mail.first()
}

const sendLink = (to: Local, name: string) =>
  to.post('/charge/payment-link', {
    total: 5990,
    notifyCustomer: true,
    customer: payer({ name }),
  })

longTest('nobody was sent anything yet, and the page says what to do', async () => {
  const page = await browser.open(mailbox)
  await page.getByText('Nenhum e-mail ainda').waitFor()
  await isAccessible(page)
})

longTest('the one-time code is one click away, and confirms its withdrawal', async () => {
  const { withdrawId } = await local.post('/account-balance/withdraw', { value: 5000 })
  const page = await browser.open(mailbox, { phone: true })
  await arrives(page, 'Código para confirmar o saque de R$ 50,00')
  await isAccessible(page)
  await fitsTheWindow(page)
  const button = page.getByRole('button', { name: 'Copiar Código mais recente' })
  await button.click()
  await page.getByRole('button', { name: 'Copiado Código mais recente' }).waitFor()
  const otp = await page.evaluate<string>('navigator.clipboard.readText()')
  assert.equal(otp, await page.locator('.otp .digits').innerText())
  const path = `/account-balance/withdraw/${withdrawId}/confirm`
  const { status } = await local.post(path, { otp })
  assert.equal(status, 'PROCESSING')
  await arrives(page, 'Saque de R$ 50,00 concluído')
})

longTest('a reminder of a charge with a due date arrives when its day comes', async () => {
  const rule = { day: -3, enabled: true, channel: 'EMAIL' }
  const json = { rules: [rule] }
  const set = await local.call('PUT', '/reminder', { json, headers: { 'X-API-KEY': local.apiKey } })
  assert.equal(set.status, 200, set.text)
  const { now } = await local.get('/sandbox/clock')
  const dueDate = addDays(localDateOf(new Date(now)), 20)
  await local.post('/charge/pix', { amount: 15_000, customer: payer(), dueDate })
  await local.post('/sandbox/clock', { advance: 21 * 24 * 3600 })
  const page = await browser.open(mailbox, { phone: true })
  await (await arrives(page, 'cobrança de R$ 150,00 vence em')).click()
  const letter = page.frameLocator('iframe')
  await letter.getByText('Não quero mais lembretes').waitFor()
  await fitsTheWindow(page)
})

longTest('mails are listed newest first, and read as in a mail program', async () => {
  await sendLink(local, 'Maria da Silva')
  const page = await browser.open(mailbox)
  const subject = 'Padaria do Vintém: cobrança de R$ 59,90'
  const mail = await arrives(page, subject)
  const subjects = await page.locator('.mail strong').allInnerTexts()
  assert.equal(subjects[0], subject)
  assert.match(subjects.at(-1)!, /^Código para confirmar/)
  await mail.click()
  await page.getByRole('heading', { name: subject }).waitFor()
  const letter = page.frameLocator('iframe')
  await letter.getByText('Olá, Maria da Silva!').waitFor()
  await isAccessible(page)
  const link = letter.getByRole('link', { name: 'Pagar com Pix' })
  assert.match((await link.getAttribute('href'))!, /^http:\/\/vintem\.test\/pay\/[\w-]{63}$/)
  // It opens a tab of its own: the checkout lets nobody show it in a frame.
  assert.equal(await letter.locator('base').getAttribute('target'), '_blank')
})

longTest('without scripts the code and the mail are there to read', async () => {
  const page = await browser.open(mailbox, { javaScript: false })
  assert.match(await page.locator('.otp .digits').innerText(), /^\d{6}$/)
  assert.equal(await page.getByRole('button').count(), 0)
  await page.getByRole('link', { name: 'Código para confirmar' }).click()
  await page.frameLocator('iframe').getByText('Confirme o saque').waitFor()
})

longTest('English is spoken when it is asked for', async () => {
  const page = await browser.open(`${mailbox}?lang=en`)
  await page.getByRole('heading', { name: 'Sent emails' }).waitFor()
  await page.getByRole('link', { name: 'Código para confirmar' }).click()
  await page.getByText('Sent at').waitFor()
  await isAccessible(page)
})

/** Short, and without what looks like an address: other names are not greeted by. */
const MARKUP = '"><script>alert(1)</script><img src=x onerror=alert(1)>'

test('a name that is markup stays text in the list and in the mail', async () => {
  const before = (await (await browser.open(mailbox)).locator('.mail').count()) + 1
  await sendLink(local, MARKUP)
  const page = await browser.open(mailbox)
  while ((await page.locator('.mail').count()) < before) await page.reload()
  await page.locator('.mail a').first().click()
  await page.frameLocator('iframe').getByText(MARKUP).waitFor()
  assert.equal(await page.frameLocator('iframe').locator('img, script').count(), 0)
  await page.getByText('Somente texto').click()
  await showsAsText(page, MARKUP)
})

test('mails are read at home only, under no name of others', async () => {
  const { text } = await ask(local, 'GET', '/mailbox', { host: 'localhost:3000' })
  const id = /\/mailbox\/([0-9a-f-]{36})"/.exec(text)![1]
  for (const path of ['/mailbox', `/mailbox/${id}`, `/mailbox/${id}/content`]) {
    assert.equal((await ask(local, 'GET', path, { host: '[::1]:3000' })).status, 200)
    assert.equal((await ask(local, 'GET', path, { host: 'evil.example' })).status, 404)
  }
  const { headers } = await local.call('GET', `/mailbox/${id}/content`)
  const policy = headers.get('content-security-policy')!.split('; ')
  const sandbox = 'sandbox allow-popups allow-popups-to-escape-sandbox'
  for (const rule of ["default-src 'none'", "frame-ancestors 'self'", sandbox]) {
    assert.ok(policy.includes(rule), `${policy}`)
  }
  assert.equal((await ask(local, 'GET', '/mailbox/..%2F..%2Fsecret.key', {})).status, 404)
})
