import { type Charge, newCharge } from '../../core/charges/rules.ts'
import { sealPerson } from '../../core/customers/sealing.ts'
import { newId } from '../../lib/ids.ts'
import { chargePage } from '../checkout.ts'
import type { Page } from '../layout.ts'
import { NEW } from './new-texts.ts'
import type { Visit } from './visit.ts'

/** What a charge that is not made would have. */
export type Planned = Pick<Charge, 'kind' | 'amount' | 'description' | 'link' | 'devMode'> & {
  lifetime_s: number
  payer: Record<string, string>
}

/** The page of a charge that is not made: of the same parts, and stored nowhere. */
export function previewCharge({ app, company }: Visit, planned: Planned): Page {
  const { lifetime_s, payer, kind, ...fields } = planned
  const language = company.language
  const createdAt = app.clock.now()
  const person = { name: payer.name ?? '', taxId: payer.taxId ?? '' }
  const charge = newCharge({
    ...fields,
    companyId: company.id,
    id: newId(),
    kind,
    createdAt,
    expiresAt: new Date(createdAt.getTime() + lifetime_s * 1000),
    payer: person.name ? { name: person.name, ...sealPerson(app.vault, company.id, person) } : null,
    brCode: kind === 'PIX' ? NEW[language].sampleCode : null,
  })
  return chargePage({
    app,
    company,
    token: 'preview',
    language,
    chosen: null,
    charge,
    collection: null,
  })
}
