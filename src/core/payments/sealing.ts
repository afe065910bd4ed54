import type { Uuid } from '../../lib/ids.ts'
import type { Vault } from '../../lib/vault.ts'
import type { PixPayer } from '../../provider/port.ts'

type Named = { companyId: Uuid; endToEndId: string }

export const payerContext = ({ companyId, endToEndId }: Named) =>
  `${companyId}:payment:${endToEndId}`

export const sealPayer = (vault: Vault, payment: Named, payer: PixPayer): Buffer =>
  vault.seal(JSON.stringify(payer), payerContext(payment))

export const openPayer = (vault: Vault, payment: Named, sealed: Buffer): PixPayer =>
  JSON.parse(vault.open(sealed, payerContext(payment)))

/** What a stored callback is sealed for. */
export const callbackContext = (companyId: Uuid, id: Uuid): string => `${companyId}:callback:${id}`
