import { openPerson } from '../../core/customers/sealing.ts'
import type { Recurrence } from '../../core/recurrences/rules.ts'
import { subscriptionWord } from '../../core/recurrences/words.ts'
import { type Column, csvWriter } from '../../lib/csv.ts'
import { toPublic } from '../../lib/ids.ts'
import type { Vault } from '../../lib/vault.ts'
import { BRAZILIAN } from '../../pix/brazilian-csv.ts'
import { maskEmail } from '../../pix/masks.ts'
import { maskTaxId, punctuateTaxId } from '../../pix/tax-id.ts'
import { SUBSCRIPTION } from '../subscription-texts.ts'
import { SUBSCRIPTION_WORDS } from './states.ts'

const personOf = (vault: Vault, { companyId, payer }: Recurrence) =>
  payer && openPerson(vault, companyId, payer)

/** New columns are added at the end. `isWhole`: the person may see tax ids and e-mail addresses. */
const columnsOf = (vault: Vault, isWhole: boolean): Column<Recurrence>[] => [
  { name: 'id', title: 'Assinatura', of: ({ id }) => toPublic('rec', id) },
  { name: 'payer_name', title: 'Cliente', of: ({ payer }) => payer?.name ?? null },
  {
    name: 'payer_tax_id',
    title: 'CPF/CNPJ',
    of: (one) => {
      const taxId = personOf(vault, one)?.taxId
      return taxId ? (isWhole ? punctuateTaxId(taxId) : maskTaxId(taxId)) : null
    },
  },
  {
    name: 'payer_email',
    title: 'E-mail',
    of: (one) => {
      const email = personOf(vault, one)?.email
      return email ? (isWhole ? email : maskEmail(email)) : null
    },
  },
  { name: 'product', title: 'Produto', of: ({ productName }) => productName },
  {
    name: 'state',
    title: 'Situação',
    of: (one) => {
      const code = subscriptionWord(one)
      return { code, word: SUBSCRIPTION_WORDS.pt[code] }
    },
  },
  { name: 'value_cents', title: 'Valor', of: ({ value }) => ({ cents: value }) },
  {
    name: 'frequency',
    title: 'Frequência',
    of: ({ frequency }) => ({ code: frequency, word: SUBSCRIPTION.pt.each[frequency] }),
  },
  { name: 'created_at', title: 'Criada em', of: ({ createdAt }) => createdAt },
  { name: 'decided_at', title: 'Respondida em', of: ({ decidedAt }) => decidedAt },
  { name: 'cycles', title: 'Cobranças geradas', of: ({ cycles }) => cycles },
  { name: 'recurrence_id', title: 'ID da recorrência', of: ({ externalId }) => externalId },
]

/** The writer of a file of subscriptions for spreadsheets in Brazil. */
export const subscriptionWriter = (vault: Vault, isWhole: boolean) =>
  csvWriter(columnsOf(vault, isWhole), BRAZILIAN)
