import type { PaymentMethodHandler, Type } from '@vendure/core'

export interface VintemPluginOptions {
  /** Where Vintém is. */
  url: string
  /** The API key. */
  key: string
  /** The secret of the webhook, or both while it is rotated. */
  webhookSecret: string | string[]
  /** Seconds until a code expires. Default: that of Vintém, 1800. */
  expiresIn?: number
  /** Charges that a test pays without money, at a company that has money. */
  devMode?: boolean
}

/** Pix through Vintém. */
// biome-ignore lint/complexity/noStaticOnlyClass: Vendure asks for a class
export declare class VintemPlugin {
  static init(options: VintemPluginOptions): Type<VintemPlugin>
}

export declare const vintemPaymentHandler: PaymentMethodHandler
