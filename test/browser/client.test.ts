import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { buildClient } from '../../scripts/client/build.ts'
import { startApi } from '../support/api.ts'
import { temporaryFolder } from '../support/process.ts'
import { browsing } from './support.ts'

const api = await startApi()
const { visitor } = browsing()

test('the client runs in a browser: it makes a charge, pays it, and verifies a webhook', async () => {
  const made = temporaryFolder()
  buildClient(made)
  const { key } = await api.client()
  const { context } = await visitor()
  // The API answers no other origin, so that the page and the client come from the server's own.
  await context.route('**/client-test/**', (route) => {
    const { pathname } = new URL(route.request().url())
    const [, file] = pathname.split('/client-test/')
    if (file === '') return route.fulfill({ contentType: 'text/html', body: '<!doctype html>' })
    const body = readFileSync(join(made, 'dist/esm', file!), 'utf8')
    return route.fulfill({ contentType: 'text/javascript', body })
  })
  const page = await context.newPage()
  await page.goto(`${api.url}/client-test/`)
  const shown = await page.evaluate<unknown>(`(async () => {
    const { unwrapWebhook, Vintem } = await import('/client-test/index.js')
    const vintem = new Vintem({ url: location.origin, key: ${JSON.stringify(key)} })
    const customer = { name: 'Maria da Silva', taxId: '12345678909' }
    const charge = await vintem.charges.createPix({ amount: 1990, customer, devMode: true })
    await vintem.charges.simulatePayment(charge.id)
    const found = []
    for await (const { id, paymentStatus } of vintem.charges.list()) found.push([id, paymentStatus])
    const refused = await unwrapWebhook('{}', {}, 'whsec_' + btoa('k'.repeat(32))).catch((e) => e)
    return [found.length, found[0][0] === charge.id, found[0][1], refused.reason]
  })()`)
  assert.deepEqual(shown, [1, true, 'PAID', 'missing-header'])
})
