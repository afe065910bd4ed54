import type {
  IDataObject,
  IHookFunctions,
  IHttpRequestOptions,
  ITriggerFunctions,
  IWebhookFunctions,
} from 'n8n-workflow'

type Caller = IHookFunctions | ITriggerFunctions | IWebhookFunctions
type Answer = { statusCode: number; body: { data: unknown; message?: string } }

export type VintemEvent = IDataObject & { id: string; type: string }
export type Webhook = { id: string; url: string; status: string; events: string[]; secret: string }

/** An answer that is no success. */
export class Refusal extends Error {
  constructor(
    readonly status: number,
    message: string,
  ) {
    super(message)
  }
}

/** Sends a request with the credentials of the node, and gives the data of the answer. */
export async function ask<Data>(
  caller: Caller,
  options: Omit<IHttpRequestOptions, 'url'> & { path: string },
): Promise<Data> {
  const { path, ...rest } = options
  const { url } = await caller.getCredentials<{ url: string }>('vintemApi')
  const answer: Answer = await caller.helpers.httpRequestWithAuthentication.call(
    caller,
    'vintemApi',
    {
      ...rest,
      url: url.replace(/\/+$/, '') + path,
      headers: { 'X-Api-Version': '2026-08-16' },
      json: true,
      returnFullResponse: true,
      ignoreHttpStatusErrors: true,
    },
  )
  const { statusCode, body } = answer
  if (statusCode < 300) return body.data as Data
  throw new Refusal(statusCode, body?.message ?? `Vintém answered ${statusCode}`)
}

/** Gives null where an answer has this status. */
export const orNull = (status: number) => (fault: unknown) => {
  if (fault instanceof Refusal && fault.status === status) return null
  throw fault
}
