import { maskTaxId, punctuateTaxId } from '../../pix/tax-id.ts'
import type { Visit } from './visit.ts'

/** A payer's tax id in a list, where everybody sees it masked. */
export const listedTaxId = maskTaxId

/** A payer's tax id on a page of its own: whole for whoever may act on payments. */
export const wholeTaxId = ({ can }: Pick<Visit, 'can'>, taxId: string): string =>
  can('payments:write') ? punctuateTaxId(taxId) : maskTaxId(taxId)
