import type { Uuid } from '../../lib/ids.ts'
import type { Vault } from '../../lib/vault.ts'
import type { PixPayer } from '../../provider/port.ts'

type Named = { companyId: Uuid; endToEndId: string }

const contextOf = ({ companyId, endToEndId }: Named) => `${companyId}:payment:${endToEndId}`

export const sealPayer = (vault: Vault, payment: Named, payer: PixPayer): Buffer =>
  vault.seal(JSON.stringify(payer), contextOf(payment))

export const openPayer = (vault: Vault, payment: Named, sealed: Buffer): PixPayer =>
  JSON.parse(vault.open(sealed, contextOf(payment)))
