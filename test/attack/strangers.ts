import { connect } from 'node:net'
import { request } from 'undici'
import { newId, packPair } from '../../src/lib/ids.ts'
import { type Attack, ask, type Context, networkOf, type Outside, scaled, some } from './attack.ts'
import { call, makeCharges } from './shops.ts'

/** Whoever has no key, or one of their own and half a request. */

const NOTHING: Context = { keys: [], paths: [] }

/** Each address guesses as often as it may. */
const wrongKeys: Attack = {
  title: 'wrong API keys from 1,000 IPv6 networks',
  perSecond: 500,
  concurrency: 200,
  statuses: [401, 429],
  few: 60,
  open: async () => NOTHING,
  send: (outside, _context, n) =>
    ask(outside, {
      path: '/charge?limit=1',
      key: `vk_sandbox_${newId().replaceAll('-', '')}`,
      from: networkOf(n % 1000),
    }),
}

const wrongTokens: Attack = {
  title: 'bank callbacks with wrong tokens from 1,000 IPv6 networks',
  perSecond: 500,
  concurrency: 200,
  statuses: [404, 429],
  few: 60,
  open: async () => NOTHING,
  send: (outside, _context, n) =>
    ask(outside, {
      path: `/bank/callbacks/${packPair(newId(), newId())}/pix`,
      from: networkOf(n % 1000),
      body: JSON.stringify({ pix: [{ endToEndId: 'E', txid: 'x'.repeat(60_000) }] }),
    }),
}

const DOCS = ['/docs/', '/openapi.json', '/docs/js/scalar.js']

const docs: Attack = {
  title: '/docs, its scripts and /openapi.json from 20 addresses',
  perSecond: 100,
  concurrency: 50,
  statuses: [200, 429],
  few: 30,
  open: async () => ({ ...NOTHING, paths: DOCS }),
  send: (outside, { paths }, n) =>
    ask(outside, {
      path: some(paths, n),
      from: networkOf(n % 20),
      headers: n % 2 === 0 ? { 'Accept-Encoding': 'gzip' } : {},
    }),
}

const health: Attack = {
  title: '/health and /ready',
  perSecond: 500,
  concurrency: 200,
  statuses: [200],
  few: 60,
  open: async () => NOTHING,
  send: (outside, _context, n) => ask(outside, { path: n % 2 === 0 ? '/health' : '/ready' }),
}

const pages: Attack = {
  title: 'pages of payers, their status and their pictures',
  perSecond: 200,
  concurrency: 100,
  statuses: [200],
  few: 40,
  async open(scene) {
    const shop = await scene.company()
    const charges = await makeCharges(scene, shop, scaled(scene, 100))
    const tokens = charges.map(({ token }) => `/pay/${token}`)
    const [first] = charges
    const { src } = await call(scene, shop, `/charge/${first!.id}/element`)
    const own = [new URL(src).pathname, '/element.js']
    return { keys: [], paths: [...own, ...tokens.flatMap((path) => [path, `${path}/status`])] }
  },
  send: (outside, { paths }, n) => ask(outside, { path: some(paths, n), from: networkOf(n % 100) }),
}

/** Holds a stream open until the attack ends. */
async function holdStream(outside: Outside, path: string, from: string): Promise<number> {
  const { signal } = outside
  const answer = await request(outside.url + path, {
    dispatcher: outside.agent,
    signal,
    headers: { 'X-Forwarded-For': from },
    bodyTimeout: 0,
  })
  await answer.body.dump({ limit: Number.POSITIVE_INFINITY }).catch(() => {})
  return answer.statusCode
}

const streams: Attack = {
  title: '1,000 open pages (SSE) of as many charges, 100 from each address',
  perSecond: 250,
  concurrency: 1000,
  statuses: [0, 200, 429],
  refusal: 429,
  few: 150,
  holds: true,
  async open(scene) {
    const shop = await scene.company()
    const charges = await makeCharges(scene, shop, scaled(scene, 1000))
    return { keys: [], paths: charges.map(({ token }) => `/pay/${token}/events`) }
  },
  send: (outside, { paths }, n) =>
    holdStream(outside, some(paths, n), networkOf(Math.floor(n / 110) % 10)),
}

/** Sends the first half of something and nothing more. */
function sendHalf(outside: Outside, text: string): Promise<number> {
  const { port, hostname } = new URL(outside.url)
  return new Promise((resolve) => {
    let status = 0
    const socket = connect(Number(port), hostname, () => socket.write(text))
    socket.on('data', (answer) => {
      status = Number(answer.toString('latin1', 9, 12))
    })
    socket.on('error', () => {})
    socket.on('close', () => resolve(status))
    outside.signal.addEventListener('abort', () => socket.destroy(), { once: true })
  })
}

const halves: Attack = {
  title: '900 connections with half a head or half a body',
  perSecond: 900,
  concurrency: 900,
  statuses: [0, 408, 429],
  few: 90,
  holds: true,
  async open(scene) {
    const { key } = await scene.company()
    const post = (path: string) => `POST ${path} HTTP/1.1\r\nHost: a\r\n`
    const half = 'Content-Type: application/json\r\nContent-Length: 60000\r\n\r\n{"amount":'
    return {
      keys: [],
      paths: [
        post('/charge/pix'),
        `${post('/charge/pix')}X-API-KEY: ${key}\r\n${half}`,
        `${post('/bank/pix')}${half}`,
      ],
    }
  },
  send: (outside, { paths }, n) => sendHalf(outside, some(paths, n)),
}

/** Ids as a real bank gives them, and those of the simulated one. */
const forgedId = (n: number): string => {
  const unique = String(n).padStart(11, 'a')
  return `E${n % 2 === 0 ? '60701190' : '99999999'}202611010000${unique}`
}

const forged: Attack = {
  title: 'POST /bank/pix with ids of one’s own for a dev-mode code, from 10 addresses',
  perSecond: 500,
  concurrency: 100,
  statuses: [201, 400, 409, 422, 429],
  few: 40,
  async open(scene) {
    const shop = await scene.company()
    const charges = await makeCharges(scene, shop, 20, { devMode: true })
    return { keys: [], paths: charges.map(({ brCode }) => brCode) }
  },
  send: (outside, { paths }, n) =>
    ask(outside, {
      path: '/bank/pix',
      from: networkOf(n % 10),
      body: JSON.stringify({ brCode: some(paths, n), endToEndId: forgedId(n) }),
    }),
}

export const STRANGERS = {
  wrongKeys,
  wrongTokens,
  docs,
  health,
  pages,
  streams,
  halves,
  forged,
} satisfies Record<string, Attack>
