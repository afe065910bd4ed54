export { Answer, List, type WithResponse } from './answer.ts'
export type {
  CallOptions,
  Hooks,
  Method,
  Parts,
  ReceivedResponse,
  SentRequest,
} from './call.ts'
export { Vintem, type VintemOptions } from './client.ts'
export * from './errors.ts'
export * from './generated/resources.ts'
export {
  isWebhookSecret,
  type RefusalReason,
  type SignedWebhook,
  type SignOptions,
  signWebhook,
  type UnwrapOptions,
  unwrapWebhook,
  type WebhookEvent,
  type WebhookHeaders,
  WebhookVerificationError,
} from './webhooks.js'
