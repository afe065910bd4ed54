import type {
  IAuthenticate,
  ICredentialTestRequest,
  ICredentialType,
  Icon,
  INodeProperties,
} from 'n8n-workflow'

export class VintemApi implements ICredentialType {
  name = 'vintemApi'

  displayName = 'Vintém API'

  icon: Icon = { light: 'file:../icons/vintem.svg', dark: 'file:../icons/vintem.dark.svg' }

  documentationUrl = 'https://github.com/vintem/vintem/blob/main/docs/guides/n8n.md'

  properties: INodeProperties[] = [
    {
      displayName: 'Base URL',
      name: 'url',
      type: 'string',
      default: '',
      required: true,
      placeholder: 'https://pix.example.com',
      description: 'The address of your Vintém, as the API is reached',
    },
    {
      displayName: 'API Key',
      name: 'apiKey',
      type: 'string',
      typeOptions: { password: true },
      default: '',
      required: true,
      description: 'A key of your company, with the scopes that your workflows need',
    },
  ]

  /** A function, because n8n evaluates no expressions where a trigger reads the feed. */
  authenticate: IAuthenticate = async ({ apiKey }, options) => ({
    ...options,
    headers: { ...options.headers, 'X-API-KEY': String(apiKey) },
  })

  test: ICredentialTestRequest = {
    request: { baseURL: '={{ $credentials.url.replace(/\\/+$/, "") }}', url: '/charge?limit=1' },
  }
}
