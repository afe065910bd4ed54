import {
  detectResources,
  envDetector,
  type Resource,
  resourceFromAttributes,
} from '@opentelemetry/resources'
import { VERSION } from '../lib/version.ts'

/**
 * Who sends: OTEL_SERVICE_NAME and OTEL_RESOURCE_ATTRIBUTES say more. Nothing is found out about
 * the process, because its command line and its user are nobody's concern.
 */
export const resourceOf = (processName: string): Resource =>
  resourceFromAttributes({
    'service.name': 'vintem',
    'service.version': VERSION,
    'vintem.process': processName,
  }).merge(detectResources({ detectors: [envDetector] }))
