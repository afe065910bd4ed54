import Type, { type Static } from 'typebox'
import { toPublic } from '../../lib/ids.ts'
import { maskEmail, maskPhone } from '../../pix/masks.ts'
import { maskTaxId, punctuateTaxId } from '../../pix/tax-id.ts'
import {
  Email,
  OptionalText,
  orNull,
  Phone,
  PostalCode,
  ShortText,
  TaxId,
  Timestamp,
} from '../fields.ts'
import type { Customer, Person } from './rules.ts'

const Status = Type.Enum(['ACTIVE', 'INACTIVE'])

const ADDRESS = {
  postalCode: Type.Optional(PostalCode),
  address: Type.Optional(Type.String({ maxLength: 255, description: 'Street name' })),
  district: Type.Optional(Type.String({ maxLength: 255, description: 'Neighborhood' })),
  number: Type.Optional(Type.String({ maxLength: 255, description: 'Street number' })),
  line1: Type.Optional(Type.String({ maxLength: 255, description: 'Complement' })),
}

/** A payer who is sent with a charge or a link. Only name and tax id are required. */
export const PayerBody = Type.Object({
  name: ShortText,
  taxId: TaxId,
  email: Type.Optional(Email),
  phone: Type.Optional(Phone),
  ...ADDRESS,
})

export const NewCustomer = Type.Object({
  name: ShortText,
  status: Status,
  taxId: TaxId,
  email: Email,
  phone: Phone,
  ...ADDRESS,
})

export const CustomerChange = Type.Object({
  id: Type.String({ maxLength: 255, description: 'The customer to change' }),
  name: Type.Optional(ShortText),
  status: Type.Optional(Status),
  taxId: Type.Optional(TaxId),
  email: Type.Optional(Email),
  phone: Type.Optional(Phone),
  postalCode: Type.Optional(orNull(PostalCode)),
  address: Type.Optional(orNull(OptionalText)),
  district: Type.Optional(orNull(OptionalText)),
  number: Type.Optional(orNull(OptionalText)),
  line1: Type.Optional(orNull(OptionalText)),
})

export const CustomerView = Type.Object({
  id: Type.String(),
  companyId: Type.String({ format: 'uuid' }),
  name: Type.String(),
  status: Status,
  taxId: Type.String({ description: 'CPF or CNPJ, punctuated' }),
  email: Type.Optional(Type.String()),
  phone: Type.Optional(Type.String()),
  postalCode: Type.Optional(Type.String()),
  address: Type.Optional(Type.String()),
  district: Type.Optional(Type.String()),
  number: Type.Optional(Type.String()),
  line1: Type.Optional(Type.String()),
  createdAt: Timestamp,
  updatedAt: Timestamp,
})

/** What a charge shows of its payer: masked, but enough to recognise them. */
export const CustomerInCharge = Type.Object({
  name: Type.String(),
  taxId: Type.Optional(Type.String({ description: 'Masked' })),
  email: Type.Optional(Type.String({ description: 'Masked' })),
  phone: Type.Optional(Type.String({ description: 'Masked' })),
})

export function showCustomer(customer: Customer): Static<typeof CustomerView> {
  return {
    ...customer,
    id: toPublic('clnt', customer.id),
    taxId: punctuateTaxId(customer.taxId),
    createdAt: customer.createdAt.toISOString(),
    updatedAt: customer.updatedAt.toISOString(),
  }
}

export function showCustomerInCharge(person: Person): Static<typeof CustomerInCharge> {
  return {
    name: person.name,
    taxId: maskTaxId(person.taxId),
    ...(person.email === undefined ? {} : { email: maskEmail(person.email) }),
    ...(person.phone === undefined ? {} : { phone: maskPhone(person.phone) }),
  }
}
