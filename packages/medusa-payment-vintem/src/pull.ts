import type {
  IPaymentModuleService,
  IStoreModuleService,
  Logger,
  MedusaContainer,
} from '@medusajs/framework/types'
import { ContainerRegistrationKeys, Modules, PaymentActions } from '@medusajs/framework/utils'
import { processPaymentWorkflow } from '@medusajs/medusa/core-flows'
import { type Event, signWebhook, Vintem } from '@vintem/client'
import type { Options } from './charge.ts'

/** How far the feed is read. What has failed is tried again before it goes on. */
type Progress = { after?: string; failed: Pick<Event, 'id' | 'data'>[] }

const PAGE = 100

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
  const vintem = new Vintem({ url: options.url, key: options.key })
  let progress = (store.metadata?.[name] as Progress | undefined) ?? {
    ...(await startOf(container, providerId, vintem)),
    failed: [],
  }
  const take = async (events: Progress['failed']): Promise<Progress['failed']> => {
    const failed = []
    for (const { id, data } of events) {
      try {
        await deliver(container, providerId, options, { id, data })
      } catch (error) {
        logger.error(`Vintém: ${id} is tried again: ${error}`)
        failed.push({ id, data })
      }
    }
    return failed
  }
  const save = async (next: Progress) => {
    progress = next
    await stores.updateStores(store.id, { metadata: { [name]: progress } })
  }
  if (progress.failed.length > 0) await save({ ...progress, failed: await take(progress.failed) })
  const { after } = progress
  const query = { type: 'charge.paid', limit: PAGE, ...(after !== undefined && { after }) } as const
  for await (const page of vintem.events.list(query).pages()) {
    const last = page.at(-1)
    if (!last) break
    await save({ after: last.id, failed: [...progress.failed, ...(await take(page))] })
  }
}

/** The first time: after the last payment that is older than the shop's first session. */
async function startOf(
  container: MedusaContainer,
  providerId: string,
  vintem: Vintem,
): Promise<{ after?: string }> {
  const payments: IPaymentModuleService = container.resolve(Modules.PAYMENT)
  const oldest = { order: { created_at: 'ASC' }, take: 1 } as const
  const [first] = await payments.listPaymentSessions({ provider_id: providerId }, oldest)
  const since_ms = first ? new Date(first.created_at!).getTime() : Date.now()
  for await (const { id, createdAt } of vintem.events.list({
    type: 'charge.paid',
    order: 'newest',
  })) {
    if (Date.parse(createdAt) < since_ms) return { after: id }
  }
  return {}
}

/** The provider takes it as a webhook, so there is one way by which something becomes paid. */
async function deliver(
  container: MedusaContainer,
  provider: string,
  { webhookSecret }: Options,
  { id, data }: Progress['failed'][number],
): Promise<void> {
  const payments: IPaymentModuleService = container.resolve(Modules.PAYMENT)
  const { body, headers } = await signWebhook(data, webhookSecret, { id })
  const payload = { data: { ...data }, rawData: body, headers }
  const input = await payments.getWebhookActionAndData({ provider, payload })
  if (input.action !== PaymentActions.SUCCESSFUL) return
  await processPaymentWorkflow(container).run({ input })
}
