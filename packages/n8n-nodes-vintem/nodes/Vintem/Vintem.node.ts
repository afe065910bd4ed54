import { type INodeType, type INodeTypeDescription, NodeConnectionTypes } from 'n8n-workflow'
import type { Operation } from './operation'
import operations from './operations.json'
import { propertiesOf } from './properties'

export class Vintem implements INodeType {
  description: INodeTypeDescription = {
    displayName: 'Vintém',
    name: 'vintem',
    icon: { light: 'file:../../icons/vintem.svg', dark: 'file:../../icons/vintem.dark.svg' },
    group: ['transform'],
    version: 1,
    subtitle: '={{ $parameter["resource"] + ": " + $parameter["operation"] }}',
    description: 'Pix charges, links, subscriptions, refunds and balance',
    defaults: { name: 'Vintém' },
    usableAsTool: true,
    inputs: [NodeConnectionTypes.Main],
    outputs: [NodeConnectionTypes.Main],
    credentials: [{ name: 'vintemApi', required: true }],
    requestDefaults: {
      baseURL: '={{ $credentials.url.replace(/\\/+$/, "") }}',
      headers: { Accept: 'application/json', 'X-Api-Version': '2026-08-16' },
    },
    properties: propertiesOf(operations as Operation[]),
  }
}
