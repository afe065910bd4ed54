import type { ConfigModule, MedusaContainer } from '@medusajs/framework/types'
import { ContainerRegistrationKeys, Modules } from '@medusajs/framework/utils'
import type { Options } from '../../../shop/src/charge.ts'
import { pullPayments } from '../pull.ts'

type Provider = { resolve: unknown; id?: string; options: Options }

const PACKAGE = 'medusa-payment-vintem'
const INTERVAL_MS = 30_000

/** Looks for payments of which no webhook told, for each provider of this package. */
// biome-ignore lint/style/noDefaultExport: Medusa loads it
export default async function pullVintemPayments(container: MedusaContainer): Promise<void> {
  const { modules }: ConfigModule = container.resolve(ContainerRegistrationKeys.CONFIG_MODULE)
  const payment = modules?.[Modules.PAYMENT] as { options?: { providers?: Provider[] } } | undefined
  for (const { resolve, id, options } of payment?.options?.providers ?? []) {
    if (!String(resolve).includes(PACKAGE)) continue
    await pullPayments(container, id ? `pp_vintem_${id}` : 'pp_vintem', options)
  }
}

export const config = { name: 'pull-vintem-payments', schedule: { interval: INTERVAL_MS } }
