import type { Letter } from '../../lib/mailer.ts'
import { formatReais } from '../../lib/money.ts'
import type { App } from '../app.ts'
import { findPurchase, isPlayMoney, type ReceiptLine, receiptLines } from '../charges/receipt.ts'
import type { Charge } from '../charges/rules.ts'
import { checkoutUrl } from '../charges/view.ts'
import type { Company } from '../companies/rules.ts'
import { findCompany } from '../companies/store.ts'
import { openPerson } from '../customers/sealing.ts'
import type { Block } from './layout.ts'
import { compose, paragraph } from './letters.ts'
import { RECEIPT_LETTERS } from './receipt-texts.ts'
import { openReceipt, type SealedMail } from './sealing.ts'

export type ReceiptLetter = {
  to: string
  payerName: string
  charge: Pick<Charge, 'amount' | 'refunded' | 'devMode'>
  lines: ReceiptLine[]
  url: string
}

/** A payer's receipt: the same lines as on its page, and the way there. */
export function composeReceipt(company: Company, receipt: ReceiptLetter): Letter {
  const { to, payerName, charge, lines, url } = receipt
  const texts = RECEIPT_LETTERS[company.language]
  const isTest = isPlayMoney(company, charge)
  const subject = texts.subject(company.name, formatReais(charge.amount))
  const facts = lines.map(({ label, values }): [string, string] => [label, values.join(' · ')])
  const blocks: Block[] = [
    paragraph(texts.greeting(payerName)),
    paragraph(texts.intro(company.name)),
    ...(charge.refunded > 0 ? [paragraph(texts.refunded)] : []),
    { kind: 'facts', facts },
    { kind: 'button', label: texts.open, url },
    paragraph(texts.unknown),
  ]
  const marked = isTest ? `${texts.test} ${subject}` : subject
  return compose(company, {
    ...{ to, subject: marked, blocks, isTest, toPayer: true },
    title: isTest ? texts.testTitle : texts.title,
  })
}

/** The letter of a queued receipt, of what is known now; null if there is nobody to send it to. */
export async function findReceiptLetter(app: App, mail: SealedMail): Promise<Letter | null> {
  const { companyId } = mail
  const company = await findCompany(app.db, companyId)
  const charge = await app.charges.find({ companyId, id: openReceipt(app.vault, mail).chargeId })
  if (!company || !charge?.payer) return null
  const { email: to } = openPerson(app.vault, companyId, charge.payer)
  if (!to) return null
  const purchase = await findPurchase(app, charge)
  return composeReceipt(company, {
    ...{ to, payerName: charge.payer.name, charge, url: checkoutUrl(app.publicUrl, charge) },
    lines: receiptLines(app, company, charge, purchase, company.language),
  })
}
