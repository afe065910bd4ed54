import { type Injector, LanguageCode, PaymentMethodHandler } from '@vendure/core'
import { VintemService } from './service.ts'

let service: VintemService

/** Pix through Vintém. Whether something is paid is always asked there. */
export const vintemPaymentHandler = new PaymentMethodHandler({
  code: 'vintem',
  description: [
    { languageCode: LanguageCode.en, value: 'Pix through Vintém' },
    { languageCode: LanguageCode.pt_BR, value: 'Pix pelo Vintém' },
  ],
  args: {},
  init(injector: Injector) {
    service = injector.get(VintemService)
  },
  createPayment: (ctx, order, _amount, _args, metadata) => service.begin(ctx, order, metadata),
  settlePayment: (_ctx, order, payment) => service.settle(order, payment),
  cancelPayment: (_ctx, _order, payment) => service.cancel(payment),
  createRefund: (ctx, _input, amount, order, payment) =>
    service.refund(ctx, amount, order, payment),
})
