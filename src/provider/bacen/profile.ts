/** The resources of API Pix. A bank may have each in another version and at another address. */
export const RESOURCES = [
  'cob',
  'cobv',
  'pix',
  'webhook',
  'locrec',
  'rec',
  'cobr',
  'webhookrec',
  'webhookcobr',
] as const
export type Resource = (typeof RESOURCES)[number]

/** How a bank gives tokens. */
export type TokenRules = {
  url: string
  /** More addresses, which are tried in this order if the first one gives no token. */
  otherUrls: string[]
  /** Where client id and secret are sent. Some banks need only the id and the certificate. */
  client: 'basic' | 'body' | 'id only'
  body: 'form' | 'json'
  /** Where `grant_type` is sent. */
  grant: 'body' | 'query'
  /** Whether scopes are requested. Otherwise the bank grants those of the contract. */
  asksScopes: boolean
  headers: Record<string, string>
}

/**
 * How a bank differs from the Central Bank's document, as data. In `headers`, `query` and `webhook`
 * a value may contain `{clientId}`, `{appKey}`, `{account}` (its number) or `{uuid}` (a new one
 * each time). If the connection has no such value, the entry is left out.
 */
export type Profile = {
  /** As an operator types it. */
  name: string
  /** As people write it. */
  title: string
  baseUrl: string
  token: TokenRules
  /** The names of scopes, if they differ from the document's: `locr` for `locr.read`. */
  scopes: Partial<Record<Resource, string>>
  /** The token and the headers of Pix Automático, if the bank has others for it. */
  agreements: (Pick<TokenRules, 'grant' | 'headers'> & { tokenUrl: string }) | null
  /**
   * The path between the base URL and the resource, such as `/v2`; a whole URL when the bank has
   * the resource elsewhere; null when it has none.
   */
  paths: Record<Resource, string | null>
  headers: Record<string, string>
  query: Record<string, string>
  /** Whether the bank takes moments with milliseconds. */
  dates: 'milliseconds' | 'seconds'
  /** The offset of the moments that the bank is asked with: UTC, or the time of Brasília. */
  offset: 'Z' | '-03:00'
  /** Whether the bank answers with the time of Brasília and marks it as UTC, with a Z. */
  marksLocalAsUtc: boolean
  /** The fields that may have the copy-and-paste text, in this order; then `location`. */
  codeFields: string[]
  /** The headers of requests that register callbacks. */
  webhook: { headers: Record<string, string> }
  /** Whether withdrawals can be sent through the bank. */
  payouts: 'efi' | 'inter' | 'sicoob' | null
  /** How the bank tells of disputes; null if it only returns the money. */
  disputes: 'efi' | null
}

/** The resources of charges. The others are those of Pix Automático. */
export const CHARGES: readonly Resource[] = ['cob', 'cobv', 'pix', 'webhook']

/** The URL before the name of a resource; null when the bank does not offer it. */
export function addressOf({ baseUrl, paths }: Profile, resource: Resource): string | null {
  const path = paths[resource]
  if (path === null) return null
  return path.startsWith('https://') ? path : `${baseUrl}${path}`
}
