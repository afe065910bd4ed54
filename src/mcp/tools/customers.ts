import Type, { type Static } from 'typebox'
import { CustomerInCharge, CustomerView, showCustomerInCharge } from '../../core/customers/view.ts'
import { TaxId } from '../../core/fields.ts'
import { toPlain } from '../../pix/written.ts'
import { count, Next, PAGE, pick, queryOf, type Tool, tool } from '../tool.ts'

type Customer = Static<typeof CustomerView>

const SHOWN = ['id', 'status', 'createdAt'] as const

/** Masked as the payer of a charge is. */
const AgentCustomer = Type.Object({
  ...pick(CustomerView.properties, SHOWN),
  ...CustomerInCharge.properties,
})

const showToAgent = (customer: Customer): Static<typeof AgentCustomer> => ({
  ...pick(customer, SHOWN),
  ...showCustomerInCharge({ ...customer, taxId: toPlain('tax-id', customer.taxId) }),
})

const listTool = tool({
  name: 'list_customers',
  title: 'List customers',
  description:
    'Saved customers, newest first, or the one with a CPF or CNPJ. find_charges finds what they have paid.',
  scope: 'catalog:read',
  input: Type.Object({ taxId: Type.Optional(TaxId), ...PAGE }),
  output: Type.Object({ customers: Type.Array(AgentCustomer), next: Next }),
  async run({ operate }, args) {
    const asked = { query: queryOf(args) }
    const { data, next } = await operate<Customer[]>('listCustomers', asked)
    const text = `${count(data.length, 'customer')}.`
    return { text, data: { customers: data.map(showToAgent), next } }
  },
})

export const customerTools: Tool[] = [listTool]
