export { Answer, List, type WithResponse } from './answer.ts'
export type { CallOptions, Method, Parts } from './call.ts'
export { Vintem, type VintemOptions } from './client.ts'
export * from './errors.ts'
export * from './generated/resources.ts'
export {
  isWebhookSecret,
  type RefusalReason,
  type UnwrapOptions,
  unwrapWebhook,
  type WebhookEvent,
  type WebhookHeaders,
  WebhookVerificationError,
} from './webhooks.js'
