import { Answer, List } from './answer.ts'
import type { Caller, CallOptions, Hooks, Method, Parts } from './call.ts'
import {
  type ApiVersion,
  LATEST_VERSION,
  type LatestVersion,
  Resources,
} from './generated/resources.ts'
import { checkKey, type Settings, send } from './send.ts'

export type VintemOptions<V extends ApiVersion = LatestVersion> = Hooks & {
  /** Where the service is, such as https://pay.example.com. */
  url: string
  /** The API key, `vk_…`. It is as good as the money: never give it to a browser of others. */
  key: string
  /**
   * The version of the API, which decides the types of answers; by default the newest that this
   * client knows. It is sent with every request, so that the company's own version does not matter.
   */
  version?: V | undefined
  /** For each attempt: 60,000. */
  timeout_ms?: number | undefined
  /** How often a call is tried again after a fault that may pass: 2. */
  retries?: number | undefined
  /** Instead of the global one. */
  fetch?: typeof fetch | undefined
  /**
   * Whether a call fails with an IgnoredFieldsError if the server has left out fields that it does
   * not know. By default where NODE_ENV is not `production`; never where there is no environment.
   */
  strict?: boolean | undefined
}

/** The client of a company: `new Vintem({ url, key })`. */
export class Vintem<V extends ApiVersion = LatestVersion> extends Resources<V> {
  readonly version: V
  readonly #caller: Caller

  constructor(options: VintemOptions<V>) {
    const settings = settingsOf(options)
    const caller = callerOf(settings)
    super(caller)
    this.#caller = caller
    this.version = settings.version as V
  }

  /**
   * Sends any request, with the same retries and errors. For what has no method, such as the
   * statement as a file: `request('GET', '/account-balance/statement', { query: { format: 'csv' } })`.
   * The simulated bank (`/bank/…`) ignores the Idempotency-Key: give it `{ retries: 0 }`, or an
   * `endToEndId` of your own, because a payment that is tried again could be paid twice.
   */
  request<T = unknown>(
    method: Method,
    path: string,
    parts: Parts = {},
    options: CallOptions = {},
  ): Answer<T> {
    return this.#caller.call(method, path, parts, options)
  }
}

function callerOf(settings: Settings): Caller {
  return {
    call: (method, path, { query = {}, body }, options) =>
      new Answer(send(settings, { method, path, query, body }, options)),
    list<T>(path: string, query: object, options: CallOptions) {
      const read = (more: object) => {
        const request = {
          method: 'GET',
          path,
          query: { ...query, ...more },
          body: undefined,
        } as const
        return send<T[]>(settings, request, options)
      }
      return new List(read({}), (after) => read({ after }))
    },
  }
}

function settingsOf({
  url,
  key,
  version,
  timeout_ms = 60_000,
  retries = 2,
  fetch: own,
  strict,
  onRequest,
  onResponse,
}: VintemOptions<ApiVersion>): Settings {
  // Called through a variable: browsers refuse a fetch that belongs to another object.
  const fetchAny: typeof fetch = own ?? ((input, init) => fetch(input, init))
  return {
    url: checkUrl(url),
    key: checkKey(key),
    version: version ?? LATEST_VERSION,
    timeout_ms,
    retries,
    fetch: fetchAny,
    strict,
    onRequest,
    onResponse,
  }
}

function checkUrl(text: string): string {
  const url = parseUrl(text)
  if (url === null || !/^https?:$/.test(url.protocol) || url.username || url.search || url.hash) {
    throw new TypeError('url: must be the address of the service, such as https://pay.example.com')
  }
  return url.href.replace(/\/+$/, '')
}

function parseUrl(text: string): URL | null {
  try {
    return new URL(text)
  } catch {
    return null
  }
}
