import { test } from 'node:test'
import { suffixOf } from '../../src/lib/ids.ts'
import { OPERATOR_ROUTES } from '../../src/web/operator/routes.ts'
import { pathFor } from '../operator/paths.ts'
import { makeTrouble } from '../operator/trouble.ts'
import { startApi } from '../support/api.ts'
import { signIn, useSessionIn } from '../support/dashboard.ts'
import { longTest } from '../support/long.ts'
import { linkTo } from '../support/pages.ts'
import { makePaid } from '../support/payments.ts'
import { browsing, fitsTheWindow, INJECTION, isAccessible, showsAsText } from './support.ts'

const api = await startApi()
const browser = browsing()
const client = await api.client({ name: INJECTION })
await api.client({ name: 'W'.repeat(255) })
await makePaid(api, client, 1_234_567_89)
await makeTrouble(api, client)

const phone = { phone: true, size: { width: 390, height: 844 } }
const pages = OPERATOR_ROUTES.filter(({ method }) => method === 'GET').map(({ path }) =>
  pathFor(path, client),
)

for (const language of ['pt', 'en'] as const) {
  for (const [where, size] of [
    ['on a phone', phone],
    ['in a wide window', { dark: language === 'en' }],
  ] as const) {
    longTest(
      `the pages of the operator can be used by everybody ${where}, ${language}`,
      async () => {
        const options = { role: null, isOperator: true, hasSecondFactor: true, language }
        const member = await signIn(api, client.company, options)
        const { context, open } = await browser.visitor({ ...size, language })
        await useSessionIn(context, api, member)
        for (const path of pages) {
          const page = await open(`${api.url}/operator${path}`)
          await isAccessible(page)
          await fitsTheWindow(page)
          await page.close()
        }
      },
    )
  }
}

test('an operator suspends and resumes a company without scripts, and its payers see it', async () => {
  const shop = await api.client({ name: 'Loja da Esquina' })
  const payerPage = await linkTo(api, shop, { total: 1990 })
  const member = await signIn(api, shop.company, {
    role: null,
    isOperator: true,
    hasSecondFactor: true,
  })
  const { context, open } = await browser.visitor({ javaScript: false })
  await useSessionIn(context, api, member)
  const page = await open(`${api.url}/operator/companies/${suffixOf(shop.company.id)}`)
  await page.getByRole('link', { name: 'Suspender' }).click()
  await page.getByRole('button', { name: 'Suspender' }).click()
  await page.getByText('A empresa está suspensa.').waitFor()
  for (const [given, words] of [
    [{ ...phone, language: 'pt' }, 'Esta loja não pode receber agora'],
    [{ language: 'en', dark: true }, 'This store cannot receive payments now'],
  ] as const) {
    const seen = await browser.open(payerPage, given)
    await seen.getByRole('heading', { level: 1, name: words }).waitFor()
    await isAccessible(seen)
    await fitsTheWindow(seen)
  }
  await page.getByRole('link', { name: 'Reativar' }).click()
  await page.getByRole('button', { name: 'Reativar' }).click()
  await page.getByText('A empresa está ativa de novo.').waitFor()
})

longTest('an operator finds a company without scripts, and its name is text', async () => {
  const member = await signIn(api, client.company, {
    role: null,
    isOperator: true,
    hasSecondFactor: true,
  })
  const { context, open } = await browser.visitor({ javaScript: false })
  await useSessionIn(context, api, member)
  const page = await open(`${api.url}/operator`)
  await page.getByRole('link', { name: 'Empresas', exact: true }).click()
  await page.getByRole('searchbox').fill('script')
  await page.getByRole('button', { name: 'Buscar' }).click()
  await showsAsText(page, INJECTION)
  await page.locator('td.main a').click()
  await page.getByRole('heading', { level: 1 }).waitFor()
  await showsAsText(page, INJECTION)
})
