import Type, { type Static, type TSchema } from 'typebox'
import { VERSION_NAMES } from '../../versions/history.ts'
import { Email, HttpUrl, orNull, Phone, ShortText } from '../fields.ts'
import type { OwnField } from './changes.ts'
import { type Company, NEW_CODES } from './rules.ts'

/** A company as each of its charges shows it. */
export const CompanyInCharge = Type.Object({
  taxId: Type.String({ description: 'CNPJ or CPF of the company' }),
  name: Type.String(),
  color: Type.String({ description: 'Color code (hex)' }),
  imageUrl: Type.Optional(Type.String()),
})

const MailsReceipts = Type.Boolean({
  description: 'Whether payers who gave an e-mail address get a receipt when they have paid',
})

const StrictTaxIds = Type.Boolean({
  description:
    'Whether a sandbox company checks the digits of payers’ CPF and CNPJ, as a live one always does',
})

const SettlesExactPayments = Type.Boolean({
  description:
    'Whether a Pix that names no charge settles one by itself: the only charge that its payer (same CPF or CNPJ, whole) could pay with the same amount when it arrived',
})

const shown = (description: string) => ({ description: `${description}, shown to payers` })

const CONTACTS = {
  contactEmail: Type.String(shown('E-mail address')),
  contactPhone: Type.String(shown('Phone, 10 or 11 digits')),
  contactWhatsapp: Type.String(shown('WhatsApp, 10 or 11 digits')),
}

const NewCodesField = Type.Enum([...NEW_CODES], {
  type: 'string',
  description:
    'On the pages of which expired charges payers may ask for a new code: of none, of payment links, or of all without a due date',
})

export const CompanyView = Type.Object({
  id: Type.String({ format: 'uuid' }),
  name: Type.String(),
  taxId: Type.String(),
  email: Type.String(),
  color: Type.String(),
  imageUrl: Type.Optional(Type.String()),
  pixKey: Type.String(),
  city: Type.String(),
  mode: Type.Enum(['sandbox', 'live']),
  apiVersion: Type.Unsafe<string>({
    type: 'string',
    enum: VERSION_NAMES,
    description: 'The version that answers requests without X-Api-Version',
  }),
  language: Type.Enum(['pt', 'en'], { description: 'The language of the mails it gets' }),
  settlementDelay: Type.Integer({ description: 'Seconds from PAID to RECEIVED' }),
  mailsReceipts: MailsReceipts,
  strictTaxIds: Type.Optional(StrictTaxIds),
  settlesExactPayments: Type.Optional(SettlesExactPayments),
  ...Type.Partial(Type.Object(CONTACTS)).properties,
  newCodes: Type.Optional(NewCodesField),
  createdAt: Type.String({ format: 'date-time' }),
})

/** How each field is sent that a company can change of itself. */
const CHANGES = {
  name: ShortText,
  email: Email,
  color: Type.String({
    pattern: '^#[0-9a-fA-F]{6}$',
    description: 'Color code (hex)',
    'x-rule': 'must be a color such as #0f766e',
  }),
  imageUrl: orNull(HttpUrl),
  city: ShortText,
  language: Type.Enum(['pt', 'en']),
  mailsReceipts: MailsReceipts,
  strictTaxIds: StrictTaxIds,
  settlesExactPayments: SettlesExactPayments,
  contactEmail: orNull(Email),
  contactPhone: orNull(Phone),
  contactWhatsapp: orNull(Phone),
  newCodes: NewCodesField,
} satisfies Record<OwnField, TSchema>

export const CompanyChange = Type.Partial(Type.Object(CHANGES))

/** A change as it is stored: colors are in small letters. */
export const readChange = ({ color, ...fields }: Static<typeof CompanyChange>) => ({
  ...fields,
  ...(color === undefined ? {} : { color: color.toLowerCase() }),
})

export function showCompanyInCharge(company: Company): Static<typeof CompanyInCharge> {
  return {
    taxId: company.taxId,
    name: company.name,
    color: company.color,
    ...(company.imageUrl === null ? {} : { imageUrl: company.imageUrl }),
  }
}

export function showCompany(company: Company): Static<typeof CompanyView> {
  return {
    id: company.id,
    ...showCompanyInCharge(company),
    email: company.email,
    pixKey: company.pixKey,
    city: company.city,
    mode: company.mode,
    apiVersion: company.apiVersion,
    language: company.language,
    settlementDelay: company.releaseDelay_s,
    mailsReceipts: company.mailsReceipts,
    ...(company.strictTaxIds ? { strictTaxIds: true } : {}),
    ...(company.settlesExactPayments ? { settlesExactPayments: true } : {}),
    ...(company.contactEmail === null ? {} : { contactEmail: company.contactEmail }),
    ...(company.contactPhone === null ? {} : { contactPhone: company.contactPhone }),
    ...(company.contactWhatsapp === null ? {} : { contactWhatsapp: company.contactWhatsapp }),
    ...(company.newCodes === 'LINKS' ? {} : { newCodes: company.newCodes }),
    createdAt: company.createdAt.toISOString(),
  }
}
