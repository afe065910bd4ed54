import { Agent, request } from 'undici'
import { type Answer, type Handlers, notFound, refuse } from './answers.ts'
import type { Books, Webhook } from './books.ts'
import type { Identity } from './certificates.ts'
import { apiPix, type CallbackKind, type Params } from './document.ts'
import type { FaultSchedule } from './faults.ts'
import { withTxid } from './style.ts'

/** A callback as it went out; no status when nobody has answered. */
export type SentCallback = {
  kind: CallbackKind
  url: string
  body: unknown
  status: number | null
}

export type CallbackSender = {
  sent: SentCallback[]
  /** Sends a callback on its way, if it is not lost on it. */
  notify(kind: CallbackKind, key: string | null, body: unknown): void
  /** Sends any body anywhere, as anybody can. */
  forge(url: string, body: unknown): Promise<number | null>
  post(url: string, body: unknown, withCertificate: boolean): Promise<number | null>
  /** Sends what is held, the last first if that is wanted. */
  releaseHeld(order?: 'as held' | 'reversed'): void
  /** Over when everything that is on its way has arrived. */
  callbacksSent(): Promise<void>
  close(): Promise<void>
}

const TIMEOUT_ms = 10_000

export function createCallbackSender(
  books: Books,
  faultSchedule: FaultSchedule,
  own: Identity,
  violations: string[],
): CallbackSender {
  const secret = { cert: own.certificate, key: own.key }
  const connect = { rejectUnauthorized: false, timeout: TIMEOUT_ms }
  const timeouts = { headersTimeout: TIMEOUT_ms, bodyTimeout: TIMEOUT_ms }
  const known = new Agent({ ...timeouts, connect: { ...connect, ...secret } })
  const nameless = new Agent({ ...timeouts, connect })
  const sent: SentCallback[] = []
  let way: Promise<unknown> = Promise.resolve()
  let held: SentCallback[] = []
  let late: SentCallback[] = []
  const post: CallbackSender['post'] = async (url, body, withCertificate) => {
    try {
      const reply = await request(url, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify(body),
        dispatcher: withCertificate ? known : nameless,
      })
      await reply.body.dump()
      return reply.statusCode
    } catch {
      return null
    }
  }
  const send = (callback: SentCallback) => {
    way = way.then(async () => {
      const copy = { ...callback }
      copy.status = await post(copy.url, copy.body, true)
      sent.push(copy)
    })
  }
  const flush = (callbacks: SentCallback[]) => {
    for (const one of callbacks) send(one)
  }
  return {
    sent,
    post,
    forge: (url, body) => post(url, body, false),
    notify(kind, key, body) {
      violations.push(...apiPix().callbackFaults(kind, body))
      const webhook = kind === 'pix' ? books.webhooks.pix.get(key ?? '') : books.webhooks[kind]
      if (!webhook) return
      const url = books.style.suffix ? withSuffix(webhook.url, kind) : webhook.url
      const callback = {
        kind,
        url,
        body: withTxid(books.style, JSON.parse(JSON.stringify(body))),
        status: null,
      }
      const fault = faultSchedule.ofCallback(kind)
      if (fault === 'lost') return
      if (fault === 'held') return void held.push(callback)
      if (fault === 'reordered') return void late.push(callback)
      flush(fault === 'doubled' ? [callback, callback] : [callback])
      // The delayed one arrives after the one that came first.
      flush(late.splice(0))
    },
    releaseHeld(order = 'as held') {
      flush(order === 'reversed' ? held.toReversed() : held)
      held = []
    },
    async callbacksSent() {
      flush(late)
      late = []
      for (let before: unknown; before !== way; ) {
        before = way
        await way
      }
    },
    close: async () => {
      await Promise.all([known.destroy(), nameless.destroy()])
    },
  }
}

/** Some URLs carry a secret in their query: the suffix belongs to the path. */
function withSuffix(url: string, kind: CallbackKind): string {
  const [path, query] = url.split(/\?(.*)/s)
  return `${path!.replace(/\/$/, '')}/${kind}${query === undefined ? '' : `?${query}`}`
}

export function webhooks(books: Books, callbackSender: () => CallbackSender): Handlers {
  const { webhooks } = books
  const single = (kind: 'rec' | 'cobr', type: string): Handlers => ({
    [`PUT /webhook${kind}`]: async ({ body, headers }) => {
      const refused = await probe(books, callbackSender(), body.webhookUrl, headers)
      if (refused) return refused
      webhooks[kind] = { url: body.webhookUrl, at: books.clock.now(), key: null }
      return { status: 200 }
    },
    [`GET /webhook${kind}`]: () => {
      const found = webhooks[kind]
      return found ? { status: 200, body: shown(found) } : notFound(type)
    },
    [`DELETE /webhook${kind}`]: () => {
      if (!webhooks[kind]) return notFound(type)
      webhooks[kind] = null
      return { status: 204 }
    },
  })
  return {
    'PUT /webhook/{chave}': async ({ params, body, headers }) => {
      const key = params.chave!
      if (books.foreignKeys.has(key))
        return refuse(400, 'WebhookOperacaoInvalida', 'A chave não pertence a este usuário.')
      const refused = await probe(books, callbackSender(), body.webhookUrl, headers)
      if (refused) return refused
      webhooks.pix.set(key, { url: body.webhookUrl, at: books.clock.now(), key })
      return { status: 200 }
    },
    'GET /webhook/{chave}': ({ params }) => {
      const found = webhooks.pix.get(params.chave!)
      return found ? { status: 200, body: shown(found) } : notFound('WebhookNaoEncontrado')
    },
    'DELETE /webhook/{chave}': ({ params }) =>
      webhooks.pix.delete(params.chave!) ? { status: 204 } : notFound('WebhookNaoEncontrado'),
    ...single('rec', 'WebhookRecNaoEncontrado'),
    ...single('cobr', 'WebhookCobRNaoEncontrado'),
  }
}

const shown = ({ url, at, key }: Webhook) => ({
  webhookUrl: url,
  criacao: at.toISOString(),
  ...(key === null ? {} : { chave: key }),
})

/**
 * Efí calls a URL before it takes it: with its certificate, which must be let in, and without it,
 * which must not, unless the receiver says that it knows its callbacks by a secret.
 */
async function probe(
  { style, clock }: Books,
  callbackSender: CallbackSender,
  url: string,
  headers: Params,
): Promise<Answer | null> {
  if (!style.probes) return null
  const body = { evento: 'teste_webhook', data_criacao: clock.now().toISOString() }
  const isGood = (status: number | null) => status !== null && status >= 200 && status < 300
  const refused = (reason: string) => refuse(400, 'WebhookInvalido', reason)
  if (
    headers['x-skip-mtls-checking'] !== 'true' &&
    isGood(await callbackSender.post(url, body, false))
  )
    return refused('A URL informada respondeu sem a autenticação mTLS.')
  return isGood(await callbackSender.post(url, body, true))
    ? null
    : refused('A URL informada não respondeu com sucesso.')
}
