import { once } from 'node:events'
import { BlockList, isIP } from 'node:net'
import { connect } from 'node:tls'
import { bareEnvironment, type Config } from '../config.ts'
import { type Arrival, orderArrival } from '../http/arrival.ts'
import { isLoopback } from '../lib/addresses.ts'
import { systemClock } from '../lib/clock.ts'
import { createVault } from '../lib/vault.ts'
import type { Finding } from './finding.ts'

/** How long an address may take to answer. */
const ANSWER_MS = 5_000
const DAY_MS = 86_400_000
/** Programs that renew certificates do it 30 days before their end. */
const RENEW_DAYS = 21

/** An address of nobody (RFC 5737): whoever counts it for the client believes what clients say. */
const NOBODY = '203.0.113.77'

/** Headers that clients send and a proxy must pass on as they are. */
const SENT: Record<string, string> = {
  'x-api-key': 'vintem-doctor',
  authorization: 'Bearer vintem-doctor',
  'idempotency-key': 'vintem-doctor',
  'x-api-version': 'vintem-doctor',
  'x-request-id': 'vintem-doctor',
  traceparent: '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01',
  'x-forwarded-for': NOBODY,
}

/** Sends a request to PUBLIC_URL, through whatever is in front of the server, and looks at it. */
export async function inspectReach(config: Config): Promise<Finding> {
  const { publicUrl } = config
  const arrival = await askArrival(config)
  if (typeof arrival === 'string') {
    if (config.local) return ['ok', 'Local mode: no proxy is in front of it.']
    return [
      'warning',
      `${publicUrl} ${arrival}. Start the server, and check name, firewall and proxy.`,
    ]
  }
  const found = [...faultsOfArrival(config, arrival), ...(await faultsOfOperatorApi(config))]
  if (found.length === 0) return ['ok', `${publicUrl} leads here, and requests arrive unchanged.`]
  return ['warning', found.join(' ')]
}

async function askArrival(config: Config): Promise<Arrival | string> {
  const { publicUrl, callbackClient, secretKey } = config
  const order = orderArrival(createVault(secretKey), systemClock.now().getTime())
  const claimed = callbackClient ? { [callbackClient.header]: callbackClient.value } : {}
  try {
    const reply = await fetch(`${publicUrl}/health?doctor=${order}`, {
      headers: { ...SENT, ...claimed },
      redirect: 'manual',
      signal: AbortSignal.timeout(ANSWER_MS),
    })
    if (!reply.ok) return `answers ${reply.status} instead of this service`
    const { arrival } = (await reply.json()) as { arrival?: Arrival }
    return arrival ?? 'is another server, with another SECRET_KEY, or another version'
  } catch (error) {
    const { name, cause } = error as { name: string; cause?: NodeJS.ErrnoException }
    return name === 'TimeoutError'
      ? 'does not answer'
      : `cannot be reached (${cause?.code ?? name})`
  }
}

/** Whoever has its key can make and suspend companies, so not everybody should reach it. */
async function faultsOfOperatorApi({ publicUrl, operatorKey }: Config): Promise<string[]> {
  if (operatorKey === null) return []
  // Loaded here, because no other command needs it.
  const { OPERATOR_API } = await import('../http/operator-api.ts')
  const url = `${publicUrl}${OPERATOR_API}/companies`
  const init = { redirect: 'manual', signal: AbortSignal.timeout(ANSWER_MS) } as const
  const text = await fetch(url, init).then(
    (reply) => reply.text(),
    () => '',
  )
  if (!text.includes('missing_api_key')) return []
  return [
    `This machine reaches ${OPERATOR_API} through ${publicUrl}: let the proxy pass it only from where it is used.`,
  ]
}

/** What is wrong with how a request has arrived that was sent with the headers above. */
export function faultsOfArrival(
  { publicUrl, trustedProxies, callbackClient }: Config,
  { peer, ip, host, headers }: Arrival,
): string[] {
  const found: string[] = []
  const lost = Object.keys(SENT).filter(
    (name) => name !== 'x-forwarded-for' && headers[name] !== SENT[name],
  )
  if (lost.length > 0) found.push(`A proxy drops or changes ${lost.join(', ')}: let them pass.`)
  const own = new URL(publicUrl).host
  if (host !== own) found.push(`A proxy sends Host: ${host} instead of ${own}: pass it on.`)
  if (callbackClient && headers[callbackClient.header] === callbackClient.value) {
    found.push(
      `Anybody can send ${callbackClient.header}, so anybody can be a bank: let the proxy replace it in every request.`,
    )
  }
  const forwarded = headers['x-forwarded-for']
  // If this machine is trusted itself, the address before it counts, although a proxy has appended
  // it. That of a client would count.
  if (ip === NOBODY && forwarded?.endsWith(NOBODY)) {
    found.push(
      'Limits by address believe what clients send as X-Forwarded-For: let the proxy append the client’s address or replace the header.',
    )
  } else if (forwarded === undefined) {
    found.push(
      'A proxy drops X-Forwarded-For, so all clients have one address: let it append theirs.',
    )
  } else if (forwarded !== NOBODY && ip === peer && !isTrusted(trustedProxies, peer)) {
    found.push(`All clients have the address of the proxy: name ${peer} in TRUSTED_PROXIES.`)
  }
  return found
}

function isTrusted(proxies: string[], address: string): boolean {
  const list = new BlockList()
  for (const proxy of proxies) {
    const [net, bits] = proxy.split('/') as [string, string?]
    const family = isIP(net) === 6 ? 'ipv6' : 'ipv4'
    if (bits === undefined) list.addAddress(net, family)
    else list.addSubnet(net, Number(bits), family)
  }
  return isIP(address) !== 0 && list.check(address, isIP(address) === 6 ? 'ipv6' : 'ipv4')
}

/** Whether the certificate of PUBLIC_URL lasts. */
export async function inspectCertificate({
  publicUrl,
}: Pick<Config, 'publicUrl'>): Promise<Finding> {
  const { protocol, hostname, port } = new URL(publicUrl)
  if (protocol !== 'https:') return ['ok', `${publicUrl} has no certificate.`]
  const host = hostname.replace(/^\[|\]$/g, '')
  const servername = isIP(host) ? '' : host
  const socket = connect({ host, port: Number(port || 443), servername, rejectUnauthorized: false })
  try {
    await once(socket, 'secureConnect', { signal: AbortSignal.timeout(ANSWER_MS) })
    const { valid_to } = socket.getPeerCertificate()
    const fault = socket.authorized ? null : String(socket.authorizationError)
    return judgeCertificate(host, new Date(valid_to), fault, systemClock.now())
  } catch {
    // That it cannot be reached is said by the check before.
    return ['ok', `The certificate of ${host} could not be read.`]
  } finally {
    socket.destroy()
  }
}

export function judgeCertificate(
  host: string,
  endsAt: Date,
  fault: string | null,
  now: Date,
): Finding {
  const days = Math.floor((endsAt.getTime() - now.getTime()) / DAY_MS)
  const detail = `The certificate of ${host} ends on ${endsAt.toISOString().slice(0, 10)}`
  if (days < 0) return ['failed', `${detail}, so nobody connects: renew it now.`]
  if (fault !== null) {
    return [
      'failed',
      `The certificate of ${host} is not trusted (${fault}): clients and banks refuse it.`,
    ]
  }
  if (days >= RENEW_DAYS) return ['ok', `${detail}.`]
  return ['warning', `${detail}, in ${days} days: renew it, and find out why nothing did.`]
}

/** Without it every client has the address of the proxy. */
export function inspectProxies({ local, publicUrl, trustedProxies }: Config): Finding {
  if (trustedProxies.length > 0) return ['ok', `Trusted: ${trustedProxies.join(', ')}.`]
  const { protocol, hostname } = new URL(publicUrl)
  if (local || protocol === 'http:' || isLoopback(hostname)) return ['ok', 'There is no proxy.']
  return [
    'warning',
    'TLS ends at a proxy, and TRUSTED_PROXIES is empty: limits by address count all clients as one. Name the addresses of the proxy.',
  ]
}

/** Whether collectors answer, if traces or metrics are sent to one. */
export async function inspectCollector({ telemetry }: Config): Promise<Finding> {
  const env = bareEnvironment()
  const sent = (['traces', 'metrics'] as const).filter((kind) => telemetry?.[kind] === 'otlp')
  if (sent.length === 0) return ['ok', 'Nothing is sent to a collector.']
  const origins = new Map<string, string[]>()
  for (const kind of sent) {
    const given = env[`OTEL_EXPORTER_OTLP_${kind.toUpperCase()}_ENDPOINT`]
    const url = given || env.OTEL_EXPORTER_OTLP_ENDPOINT || 'http://localhost:4318'
    const { origin } = new URL(url)
    origins.set(origin, [...(origins.get(origin) ?? []), kind])
  }
  const silent: string[] = []
  for (const [origin, kinds] of origins) {
    if (!(await answers(origin))) {
      silent.push(`The collector at ${origin} does not answer, so ${kinds.join(' and ')} are lost`)
    }
  }
  if (silent.length === 0) return ['ok', `${[...origins.keys()].join(' and ')} answers.`]
  return ['warning', `${silent.join('. ')}: start it, or check OTEL_EXPORTER_OTLP_ENDPOINT.`]
}

/** Any answer will do: what a collector takes is between the two. */
const answers = (origin: string): Promise<boolean> =>
  fetch(origin, { redirect: 'manual', signal: AbortSignal.timeout(ANSWER_MS) }).then(
    () => true,
    () => false,
  )
