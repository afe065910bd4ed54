import type {
  IPaymentModuleService,
  IStoreModuleService,
  Logger,
  MedusaContainer,
} from '@medusajs/framework/types'
import { ContainerRegistrationKeys, Modules, PaymentActions } from '@medusajs/framework/utils'
import { processPaymentWorkflow } from '@medusajs/medusa/core-flows'
import { signWebhook, Vintem } from '@vintem/client'
import { clientOf, type Options } from '../../shop/src/charge.ts'
import { type Paid, type Progress, pull } from '../../shop/src/pull.ts'

/**
 * Gives the shop all payments of the feed since the last time, as the webhook would have done. What
 * the shop has already done is not done again. The progress is in the metadata of the store.
 */
export async function pullPayments(
  container: MedusaContainer,
  providerId: string,
  options: Options,
): Promise<void> {
  const stores: IStoreModuleService = container.resolve(Modules.STORE)
  const logger: Logger = container.resolve(ContainerRegistrationKeys.LOGGER)
  const [store] = await stores.listStores({}, { take: 1 })
  if (!store) return
  const name = `vintem_${providerId}`
  await pull(new Vintem(clientOf(options)), {
    progress: store.metadata?.[name] as Progress | undefined,
    save: (progress) => stores.updateStores(store.id, { metadata: { [name]: progress } }),
    since_ms: () => firstSession(container, providerId),
    take: (event) => deliver(container, providerId, options, event),
    warn: (message) => logger.error(message),
  })
}

async function firstSession(container: MedusaContainer, providerId: string): Promise<number> {
  const payments: IPaymentModuleService = container.resolve(Modules.PAYMENT)
  const oldest = { order: { created_at: 'ASC' }, take: 1 } as const
  const [first] = await payments.listPaymentSessions({ provider_id: providerId }, oldest)
  return first ? new Date(first.created_at!).getTime() : Date.now()
}

/** The provider takes it as a webhook, so there is one way by which something becomes paid. */
async function deliver(
  container: MedusaContainer,
  provider: string,
  { webhookSecret }: Options,
  { id, data }: Paid,
): Promise<void> {
  const payments: IPaymentModuleService = container.resolve(Modules.PAYMENT)
  const { body, headers } = await signWebhook(data, webhookSecret, { id })
  const payload = { data: { ...data }, rawData: body, headers }
  const input = await payments.getWebhookActionAndData({ provider, payload })
  if (input.action !== PaymentActions.SUCCESSFUL) return
  await processPaymentWorkflow(container).run({ input })
}
