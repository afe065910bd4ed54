import Type, { type Static } from 'typebox'
import { VERSION_NAMES } from '../../versions/history.ts'
import type { Company } from './rules.ts'

/** A company as it stands in each of its charges. */
export const CompanyInCharge = Type.Object({
  taxId: Type.String({ description: 'CNPJ or CPF of the company' }),
  name: Type.String(),
  color: Type.String({ description: 'Color code (hex)' }),
  imageUrl: Type.Optional(Type.String()),
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
  settlementDelay: Type.Integer({ description: 'Seconds from PAID to RECEIVED' }),
  createdAt: Type.String({ format: 'date-time' }),
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
    settlementDelay: company.settlementDelay_s,
    createdAt: company.createdAt.toISOString(),
  }
}
