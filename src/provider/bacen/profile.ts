/** The parts of API Pix that banks version, and place, one by one. */
export const RESOURCES = [
  'cob',
  'pix',
  'webhook',
  'locrec',
  'rec',
  'cobr',
  'webhookrec',
  'webhookcobr',
] as const
export type Resource = (typeof RESOURCES)[number]

/**
 * How a bank differs from the Central Bank's document, as data. In `headers`, `query` and `webhook`
 * a value may hold `{clientId}`, `{appKey}`, `{account}` (its number) or `{uuid}` (a new one each
 * time); what holds a value that the connection lacks is left out.
 */
export type Profile = {
  /** As an operator types it. */
  name: string
  /** As people write it. */
  title: string
  baseUrl: string
  token: {
    url: string
    /** Where client id and secret stand; a bank that knows us by certificate wants no secret. */
    client: 'basic' | 'body' | 'id only'
    body: 'form' | 'json'
    /** Where `grant_type` stands. */
    grant: 'body' | 'query'
    /** Whether scopes are asked for; otherwise the bank grants what was agreed with it. */
    asksScopes: boolean
    headers: Record<string, string>
  }
  /**
   * What stands between the base URL and the resource, such as `/v2`; a whole address where the
   * bank has the resource elsewhere; null where it has none.
   */
  paths: Record<Resource, string | null>
  headers: Record<string, string>
  query: Record<string, string>
  /** Whether dates have milliseconds. */
  dates: 'milliseconds' | 'seconds'
  /** Fields that may hold the copy-and-paste text, first come first served; then `location`. */
  codeFields: string[]
  /** Headers with which callbacks are registered. */
  webhook: { headers: Record<string, string> }
  /** Whether withdrawals can be sent through the bank. */
  payouts: 'efi' | null
}

/** Where a bank has a resource, to be followed by its name; null where it has none. */
export function addressOf({ baseUrl, paths }: Profile, resource: Resource): string | null {
  const path = paths[resource]
  if (path === null) return null
  return path.startsWith('https://') ? path : `${baseUrl}${path}`
}
