import type { FastifyReply } from 'fastify'
import { type Column, csvWriter } from '../../lib/csv.ts'
import { BRAZILIAN } from '../../pix/brazilian-csv.ts'
import { localDateOf } from '../../pix/local-time.ts'
import { plainTaxId } from '../../pix/tax-id.ts'
import { recordFile, sendCsv } from './csv.ts'
import { type ShownCustomer, searchCustomers } from './customers.ts'
import { CUSTOMERS } from './customers-texts.ts'
import { givenOf } from './finance-parts.ts'
import { wholeEmail, wholePhone, wholeTaxId } from './parts.ts'
import type { DashboardRoute, Visit } from './visit.ts'

/** So many lines of a file are written before other requests are served. */
const SLICE = 100

/** New columns are added at the end. What the person's role may not see is masked or left out. */
const columnsOf = (visit: Visit, isWhole: boolean): Column<ShownCustomer>[] => [
  { name: 'id', title: 'Cliente', of: ({ id }) => id },
  { name: 'name', title: 'Nome', of: ({ name }) => name },
  {
    name: 'tax_id',
    title: 'CPF/CNPJ',
    of: ({ taxId }) => wholeTaxId(visit, plainTaxId(taxId)),
  },
  { name: 'email', title: 'E-mail', of: ({ email }) => (email ? wholeEmail(visit, email) : null) },
  {
    name: 'phone',
    title: 'Telefone',
    of: ({ phone }) => (phone ? wholePhone(visit, phone) : null),
  },
  {
    name: 'status',
    title: 'Situação',
    of: ({ status }) => ({ code: status, word: CUSTOMERS.pt.statuses[status] }),
  },
  { name: 'created_at', title: 'Cliente desde', of: ({ createdAt }) => new Date(createdAt) },
  {
    name: 'postal_code',
    title: 'CEP',
    // With its dash a spreadsheet does not take it for a number, whose first zeros it would drop.
    of: ({ postalCode }) => (isWhole && postalCode?.replace(/^(\d{5})(\d{3})$/, '$1-$2')) || null,
  },
  { name: 'address', title: 'Endereço', of: ({ address }) => (isWhole && address) || null },
  { name: 'number', title: 'Número', of: ({ number }) => (isWhole && number) || null },
  { name: 'line1', title: 'Complemento', of: ({ line1 }) => (isWhole && line1) || null },
  { name: 'district', title: 'Bairro', of: ({ district }) => (isWhole && district) || null },
]

/** The customers that the list shows, on all of its pages. */
async function* fileOf(visit: Visit): AsyncGenerator<string> {
  const { heading, line } = csvWriter(columnsOf(visit, visit.can('payments:write')), BRAZILIAN)
  const text = visit.query.q?.trim() ?? ''
  yield heading
  for (let after: string | null = null; ; ) {
    const part = { limit: SLICE, ...(after === null ? {} : { after }) }
    const { data, next } = await searchCustomers(visit, text, part)
    yield data.map(line).join('')
    if (next === null) return
    after = next
  }
}

/** Of a search that finds too many there is no file, because it would look like all of them. */
async function send(visit: Visit): Promise<FastifyReply> {
  const given = givenOf(visit, ['q'])
  const found = given.q?.trim() ? await searchCustomers(visit, given.q, { limit: SLICE }) : null
  if (found?.isCut) return visit.redirect(`/customers?${new URLSearchParams(given)}`)
  await recordFile(visit, 'customers', given)
  return sendCsv(visit, `clientes-${localDateOf(visit.app.clock.now())}.csv`, fileOf(visit))
}

export const customerFileRoutes: DashboardRoute[] = [
  { method: 'GET', path: '/customers.csv', needs: 'catalog:read', handle: send },
]
