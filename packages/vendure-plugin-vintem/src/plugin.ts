import {
  type OrderProcess,
  PluginCommonModule,
  type RuntimeVendureConfig,
  ScheduledTask,
  SettingsStoreScopes,
  type Type,
  VendurePlugin,
} from '@vendure/core'
import { isWebhookSecret } from '@vintem/client'
import type { Options } from '../../shop/src/charge.ts'
import { PATH, readRawBody, VintemController } from './controller.ts'
import { vintemPaymentHandler } from './handler.ts'
import { NAMESPACE, PROGRESS, VintemReceiver } from './receiver.ts'
import { OPTIONS, VintemService } from './service.ts'
import { paymentProcess } from './state.ts'

const pullTask = new ScheduledTask({
  id: 'pull-vintem-payments',
  description: 'Looks in Vintém for payments of which no webhook told',
  schedule: '*/30 * * * * *',
  execute: ({ injector, scheduledContext }) => injector.get(VintemReceiver).pull(scheduledContext),
})

let service: VintemService

/** An order that changes, ends or is paid in another way keeps no code that could still be paid. */
const orderProcess: OrderProcess<never> = {
  init(injector) {
    service = injector.get(VintemService)
  },
  async onTransitionStart(from, to, { ctx, order }) {
    if (from !== 'ArrangingPayment') return
    if (to === 'AddingItems' || to === 'Cancelled') return service.cancelPending(ctx, order.id)
  },
  async onTransitionEnd(_from, to, { ctx, order }) {
    if (to === 'PaymentAuthorized' || to === 'PaymentSettled') {
      await service.dropPending(ctx, order.id)
    }
  },
}

function configure(config: RuntimeVendureConfig): RuntimeVendureConfig {
  const { apiOptions, orderOptions, paymentOptions, schedulerOptions, settingsStoreFields } = config
  apiOptions.middleware.push({ route: `/${PATH}`, handler: readRawBody, beforeListen: true })
  orderOptions.process.push(orderProcess)
  paymentOptions.paymentMethodHandlers.push(vintemPaymentHandler)
  paymentOptions.process = [...(paymentOptions.process ?? []), paymentProcess]
  schedulerOptions.tasks.push(pullTask)
  const progress = { name: PROGRESS, scope: SettingsStoreScopes.global, readonly: true }
  config.settingsStoreFields = { ...settingsStoreFields, [NAMESPACE]: [progress] }
  return config
}

/** Pix through Vintém. */
@VendurePlugin({
  imports: [PluginCommonModule],
  compatibility: '^3.4.0',
  controllers: [VintemController],
  providers: [
    { provide: OPTIONS, useFactory: () => VintemPlugin.options },
    VintemService,
    VintemReceiver,
  ],
  configuration: configure,
})
// biome-ignore lint/complexity/noStaticOnlyClass: Vendure asks for a class
export class VintemPlugin {
  static options: Options

  static init(options: Options): Type<VintemPlugin> {
    const { url, key, webhookSecret } = options
    if (!url || !key) throw new Error('vendure-plugin-vintem: the options url and key are needed')
    if (![webhookSecret ?? ''].flat().every(isWebhookSecret)) {
      throw new Error('vendure-plugin-vintem: webhookSecret must be that of a webhook, whsec_…')
    }
    VintemPlugin.options = options
    return VintemPlugin
  }
}
