import type { Column } from '../../lib/csv.ts'
import { toPublic } from '../../lib/ids.ts'
import type { Vault } from '../../lib/vault.ts'
import { maskEmail } from '../../pix/masks.ts'
import { maskTaxId, punctuateTaxId } from '../../pix/tax-id.ts'
import { openPerson } from '../customers/sealing.ts'
import type { Charge, ChargeKind, ChargeStatus, PaymentStatus } from './rules.ts'

const KIND_WORDS: Record<ChargeKind, string> = {
  PIX: 'Pix',
  LINK: 'Link de pagamento',
  STATIC: 'QR Code fixo',
  RECURRING: 'Assinatura',
}

const STATUS_WORDS: Record<ChargeStatus, string> = {
  OPEN: 'Em aberto',
  COMPLETED: 'Paga',
  EXPIRED: 'Expirada',
  CANCELED: 'Cancelada',
}

const PAYMENT_STATUS_WORDS: Record<PaymentStatus, string> = {
  PENDING: 'Pendente',
  PROCESSING: 'Aguardando pagamento',
  PAID: 'Pago',
  RECEIVED: 'Disponível para saque',
  EXPIRED: 'Expirado',
  REFUNDED: 'Devolvido',
}

const termIn = <Code extends string>(words: Record<Code, string>, code: Code) => ({
  code,
  word: words[code],
})

/** The columns of a file of charges. */
export const CSV_COLUMNS: Column<Charge>[] = [
  { name: 'id', title: 'Cobrança', of: ({ id }) => toPublic('charge', id) },
  { name: 'external_id', title: 'Sua referência', of: ({ externalId }) => externalId },
  { name: 'kind', title: 'Tipo', of: ({ kind }) => termIn(KIND_WORDS, kind) },
  { name: 'status', title: 'Situação', of: ({ status }) => termIn(STATUS_WORDS, status) },
  {
    name: 'payment_status',
    title: 'Pagamento',
    of: ({ paymentStatus }) => termIn(PAYMENT_STATUS_WORDS, paymentStatus),
  },
  { name: 'amount_cents', title: 'Valor', of: ({ amount }) => ({ cents: amount }) },
  {
    name: 'refunded_cents',
    title: 'Devolvido',
    of: ({ refunded }) => ({ cents: refunded, signed: 0 - refunded }),
  },
  { name: 'created_at', title: 'Criada em', of: ({ createdAt }) => createdAt },
  { name: 'expires_at', title: 'Expira em', of: ({ expiresAt }) => expiresAt },
  { name: 'paid_at', title: 'Paga em', of: ({ paymentDate }) => paymentDate },
  { name: 'end_to_end_id', title: 'ID da transação (E2E)', of: ({ endToEndId }) => endToEndId },
  { name: 'dev_mode', title: 'Teste', of: ({ devMode }) => devMode },
  { name: 'payer_name', title: 'Pagador', of: ({ payer }) => payer?.name ?? null },
]

/** More columns for a file that people read. `isWhole`: they may see the tax ids of payers. */
export const csvColumnsForPeople = (vault: Vault, isWhole = false): Column<Charge>[] => [
  ...CSV_COLUMNS,
  {
    name: 'payer_tax_id',
    title: 'CPF/CNPJ do pagador',
    of: (charge) => taxIdOf(vault, charge, isWhole),
  },
  { name: 'items', title: 'Itens', of: itemsOf },
  { name: 'withdrawable_at', title: 'Disponível para saque em', of: ({ releaseAt }) => releaseAt },
  { name: 'description', title: 'Descrição', of: ({ description }) => description },
]

function taxIdOf(vault: Vault, { companyId, payer }: Charge, isWhole: boolean): string | null {
  const taxId = payer && openPerson(vault, companyId, payer).taxId
  return taxId && (isWhole ? punctuateTaxId(taxId) : maskTaxId(taxId))
}

/** The e-mail address of the payer, as the page of the charge shows it. */
export const emailColumn = (vault: Vault, isWhole: boolean): Column<Charge> => ({
  name: 'payer_email',
  title: 'E-mail do pagador',
  of: ({ companyId, payer }) => {
    const email = payer && openPerson(vault, companyId, payer).email
    return email ? (isWhole ? email : maskEmail(email)) : null
  },
})

function itemsOf({ link }: Charge): string | null {
  const items = link?.items ?? []
  return items.map(({ quantity, product }) => `${quantity} x ${product.name}`).join('; ') || null
}
