import type { Payee } from '../port.ts'
import type { Reply } from './answers.ts'
import { type Bank, type Call, type Client, NO_BANK } from './client.ts'
import { textOf } from './text.ts'

/** The callback URL of one kind at the bank; null when there is none, or on a fault. */
export type CallbackState = {
  kind: 'pix' | 'rec' | 'cobr'
  url: string | null
  fault: string | null
}

export type Callbacks = {
  /** Each kind is registered separately, because a bank that refuses one may accept the others. */
  registerCallbacks(payee: Payee, url: string): Promise<CallbackState[]>
  findCallbacks(payee: Payee): Promise<CallbackState[]>
  removeCallbacks(payee: Payee): Promise<CallbackState[]>
}

const KINDS = [
  { kind: 'pix', resource: 'webhook' },
  { kind: 'rec', resource: 'webhookrec' },
  { kind: 'cobr', resource: 'webhookcobr' },
] as const

type Asked = { method: 'PUT' | 'GET' | 'DELETE'; url: string | null }

export function callbacks({ open }: Client): Callbacks {
  async function each(payee: Payee, asked: Asked): Promise<CallbackState[]> {
    const bank = await open(payee)
    if (!bank) return [{ kind: 'pix', url: null, fault: NO_BANK }]
    const offered = KINDS.filter(({ resource }) => bank.connection.profile.paths[resource] !== null)
    return Promise.all(
      offered.map(async ({ kind, resource }) => ({
        kind,
        ...stateOf(asked, await bank.ask(callOf(bank, payee, resource, asked))),
      })),
    )
  }
  return {
    registerCallbacks: (payee, url) => each(payee, { method: 'PUT', url }),
    findCallbacks: (payee) => each(payee, { method: 'GET', url: null }),
    removeCallbacks: (payee) => each(payee, { method: 'DELETE', url: null }),
  }
}

function callOf(
  { connection }: Bank,
  { pixKey }: Payee,
  resource: (typeof KINDS)[number]['resource'],
  { method, url }: Asked,
): Call {
  return {
    method,
    resource,
    // The callback of payments is registered by key, the others by company.
    path: resource === 'webhook' ? `/${encodeURIComponent(pixKey)}` : '',
    headers: connection.profile.webhook.headers,
    ...(url === null ? {} : { body: { webhookUrl: url } }),
  }
}

function stateOf({ method, url }: Asked, reply: Reply): Omit<CallbackState, 'kind'> {
  const isNone = reply.kind === 'missing' && method !== 'PUT'
  if (isNone) return { url: null, fault: null }
  if (reply.kind !== 'done') return { url: null, fault: reply.reason }
  return { url: method === 'GET' ? textOf(reply.body.webhookUrl) : url, fault: null }
}
