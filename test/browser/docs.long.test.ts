import { test } from 'node:test'
import { startApi } from '../support/api.ts'
import { browsing } from './support.ts'

const api = await startApi()
const { open } = browsing()

// A page that its Content-Security-Policy keeps from anything complains, and the test fails.
test('the docs show every operation under their Content-Security-Policy', async () => {
  const page = await open(`${api.url}/docs`)
  await page.getByRole('heading', { name: 'Vintém' }).first().waitFor()
  await page.getByText('/charge/pix').first().waitFor()
})
