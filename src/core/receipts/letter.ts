import type { Letter } from '../../lib/mailer.ts'
import { formatReais } from '../../lib/money.ts'
import { checkoutUrl } from '../charges/addresses.ts'
import type { AppWithCharges } from '../charges/group.ts'
import { type Charge, isPlayMoney, receivedOf } from '../charges/rules.ts'
import { breakDown } from '../charges/view.ts'
import type { Company } from '../companies/rules.ts'
import { findCompany } from '../companies/store.ts'
import { openPerson } from '../customers/sealing.ts'
import type { Block } from '../mails/layout.ts'
import { compose, composePaymentLink, greetedName, paragraph } from '../mails/letters.ts'
import { RECEIPT_LETTERS } from '../mails/receipt-texts.ts'
import { openMail, type SealedMail } from '../mails/sealing.ts'
import { findPurchase, receiptLines } from './lines.ts'
import type { ReceiptLine } from './texts.ts'

type ReceiptLetter = {
  to: string
  payerName: string
  charge: Pick<Charge, 'amount' | 'shortfall' | 'refunded' | 'devMode'>
  lines: ReceiptLine[]
  url: string
}

/** The mail with a payer's receipt: the same lines as on its page, and a link to the page. */
export function composeReceipt(company: Company, receipt: ReceiptLetter): Letter {
  const { to, payerName, charge, lines, url } = receipt
  const texts = RECEIPT_LETTERS[company.language]
  const isTest = isPlayMoney(company, charge)
  const subject = texts.subject(company.name, formatReais(receivedOf(charge)))
  const facts = lines.map(({ label, values }): [string, string] => [label, values.join(' · ')])
  const blocks: Block[] = [
    paragraph(texts.greeting(greetedName(payerName))),
    paragraph(texts.intro(company.name)),
    ...(charge.refunded > 0 ? [paragraph(texts.refunded)] : []),
    { kind: 'facts', facts },
    { kind: 'button', label: texts.open, url },
    paragraph(texts.unknown),
  ]
  const marked = isTest ? `${texts.test} ${subject}` : subject
  return compose(company, {
    to,
    subject: marked,
    blocks,
    isTest,
    toPayer: true,
    title: isTest ? texts.testTitle : texts.title,
  })
}

/**
 * The contents of a queued mail. If it is to a payer, it is composed from the charge as it is now.
 * Null if there is nothing to send any more.
 */
export async function findLetter(app: AppWithCharges, mail: SealedMail): Promise<Letter | null> {
  const { companyId, kind } = mail
  const contents = openMail(app.vault, mail)
  if (!('chargeId' in contents)) return contents
  const company = await findCompany(app.db, companyId)
  const charge = await app.charges.find({ companyId, id: contents.chargeId })
  if (!company || !charge?.payer) return null
  const { email: to } = openPerson(app.vault, companyId, charge.payer)
  if (!to) return null
  const about = { to, payerName: charge.payer.name, url: checkoutUrl(app, charge) }
  if (kind === 'payment-link') {
    const { amount, expiresAt, devMode, description, link } = charge
    const breakdown = breakDown(amount, link?.items ?? [])
    const payable = { amount, expiresAt, devMode, description, breakdown }
    // Nobody is asked to pay what is paid or canceled already.
    return charge.status === 'OPEN' ? composePaymentLink(company, { ...about, ...payable }) : null
  }
  const purchase = await findPurchase(app, charge)
  const lines = receiptLines(app, company, charge, purchase, company.language)
  return composeReceipt(company, { ...about, charge, lines })
}
