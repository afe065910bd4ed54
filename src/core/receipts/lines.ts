import { toPublic } from '../../lib/ids.ts'
import type { Language } from '../../lib/language.ts'
import { formatReais } from '../../lib/money.ts'
import { formatSecond } from '../../pix/local-time.ts'
import { maskTaxId, receiverTaxId } from '../../pix/tax-id.ts'
import type { App } from '../app.ts'
import { type Charge, incomeOf, isPlayMoney, receivedOf } from '../charges/rules.ts'
import type { Company } from '../companies/rules.ts'
import { openPerson } from '../customers/sealing.ts'
import { find as findRecurrence } from '../recurrences/store.ts'
import { RECEIPT_LABELS, type ReceiptLine } from './texts.ts'

/** A receipt names at most this many products. */
const MAX_ITEMS = 20

/** What was paid for: as the charge describes it, then its items, or a subscription's product. */
export async function findPurchase({ db }: Pick<App, 'db'>, charge: Charge): Promise<string[]> {
  if (charge.recurrenceId === null) {
    const { description, link } = charge
    const items = link?.items.map(({ quantity, product }) => `${quantity} × ${product.name}`) ?? []
    return description === null ? items : [description, ...items]
  }
  const recurrence = await findRecurrence(db, charge.companyId, charge.recurrenceId)
  return recurrence ? [recurrence.productName] : []
}

/** What a Brazilian receipt of a Pix says. The payer is masked as in every view of a charge. */
export function receiptLines(
  { vault }: Pick<App, 'vault'>,
  company: Company,
  charge: Charge,
  purchase: string[],
  language: Language,
): ReceiptLine[] {
  const labels = RECEIPT_LABELS[language]
  const { payer, amount, refunded, paymentDate, endToEndId, recurrenceId, id } = charge
  const paid = charge.due?.paid
  // If less has arrived than was asked, a fine may be unpaid.
  const { fine, interest } = incomeOf(charge)
  const takenOff = paid ? paid.discount + paid.rebate : 0
  const value = formatReais(receivedOf(charge))
  const taxId = payer && openPerson(vault, company.id, payer).taxId
  const lines: Record<ReceiptLine['kind'], string[]> = {
    amount: [isPlayMoney(company, charge) ? labels.notReal(value) : value],
    charged: value === formatReais(amount) ? [] : [formatReais(amount)],
    added: fine + interest > 0 ? [formatReais(fine + interest)] : [],
    takenOff: takenOff > 0 ? [`− ${formatReais(takenOff)}`] : [],
    refunded: refunded > 0 ? [formatReais(refunded)] : [],
    paidAt: [labels.moment(...formatSecond(paymentDate!)), labels.zone],
    receiver: [company.name, receiverTaxId(company.taxId)],
    payer: payer && taxId ? [payer.name, maskTaxId(taxId)] : [],
    purchase: shortened(purchase, labels.andMore),
    method: [recurrenceId === null ? 'Pix' : 'Pix Automático'],
    endToEndId: [endToEndId!],
    chargeId: [toPublic('charge', id)],
  }
  const kinds = Object.keys(lines) as ReceiptLine['kind'][]
  return kinds
    .map((kind) => ({ kind, label: labels.lines[kind], values: lines[kind] }))
    .filter(({ values }) => values.length > 0)
}

function shortened(purchase: string[], andMore: (count: number) => string): string[] {
  if (purchase.length <= MAX_ITEMS) return purchase
  return [...purchase.slice(0, MAX_ITEMS), andMore(purchase.length - MAX_ITEMS)]
}
