import assert from 'node:assert/strict'
import { type Client, payer, type TestApi } from './api.ts'

/** Where the test's own server shows the page that the service says it is at. */
export const at = (api: TestApi, url: string): string => url.replace('http://vintem.test', api.url)

export const linkTo = async (api: TestApi, client: Client, fields: object): Promise<string> => {
  const made = await client.post('/charge/payment-link', { customer: payer(), ...fields })
  assert.equal(made.status, 201, made.text)
  return at(api, made.body.data.url)
}

export const productOf = async (client: Client, fields: object): Promise<string> => {
  const made = await client.post('/product', { description: '', price: 1990, ...fields })
  assert.equal(made.status, 201, made.text)
  return made.body.data.id
}

export const ADDRESS = {
  postalCode: '01310-100',
  address: 'Avenida Paulista',
  number: '1000',
  line1: 'Apto 12',
  district: 'Bela Vista',
  city: 'São Paulo',
  state: 'SP',
}
