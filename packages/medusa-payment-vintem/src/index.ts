import { ModuleProvider, Modules } from '@medusajs/framework/utils'
import { VintemPaymentProvider } from './provider.ts'

// biome-ignore lint/style/noDefaultExport: Medusa loads it
export default ModuleProvider(Modules.PAYMENT, { services: [VintemPaymentProvider] })
