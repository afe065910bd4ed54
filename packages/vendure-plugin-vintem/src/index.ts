export { vintemPaymentHandler } from './handler.ts'
export { VintemPlugin } from './plugin.ts'
