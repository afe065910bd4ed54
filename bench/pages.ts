import { gzipSync } from 'node:zlib'
import { startSession } from '../src/core/people/sessions.ts'
import { insertPerson, setMembership } from '../src/core/people/store.ts'
import { systemClock } from '../src/lib/clock.ts'
import { newId, suffixOf } from '../src/lib/ids.ts'
import { ROUTES } from '../src/web/dashboard/routes.ts'
import { compareSizes, type Measurement, openSize, type Size } from './history.ts'
import { benchDatabase, verdictOf } from './setup.ts'

const SMALL = Number(process.env.BENCH_SMALL ?? 10_000)
const LARGE = Number(process.env.BENCH_LARGE ?? 1_000_000)
/** So much more may it cost to have a long past. */
const BAR = 1.5
/** What a browser loads for the first page, compressed. */
const MAX_BYTES = 80 * 1024

/** What the pages of the dashboard cost with a short and with a long past. */
export async function run(): Promise<void> {
  const database = await benchDatabase()
  const sizes: Size[] = []
  try {
    sizes.push(await openSize(database.url, SMALL), await openSize(database.url, LARGE))
    for (const size of sizes) cookies.set(size, await signIn(size))
    console.log(`One at a time, with ${SMALL} and with ${LARGE} charges of the company:`)
    await compareSizes(sizes as [Size, Size], PAGES, BAR)
    await weighFirstPage(sizes[0]!)
  } finally {
    for (const size of sizes) await size.stop()
    await database.stop()
  }
}

const cookies = new Map<Size, string>()

async function signIn({ app, company }: Size): Promise<string> {
  const now = systemClock.now()
  const person = {
    id: newId(),
    email: 'owner@example.com',
    name: 'Ana Souza',
    password: null,
    language: 'pt',
    isOperator: false,
    totpSecret: null,
    totpConfirmedAt: null,
    totpLastPeriod: null,
    factorCountsAt: null,
    createdAt: now,
    updatedAt: now,
  } as const
  await insertPerson(app.db.control, person)
  await setMembership(app.db.control, company.id, person.id, 'owner', now)
  const origin = { address: '127.0.0.1', device: 'bench' }
  const proof = { isConfirmed: true, hasSecondFactor: true, byLink: false }
  const { token } = await startSession(app.db.control, app.vault, person.id, origin, proof, now)
  return `vintem=${token}`
}

async function open(size: Size, path: string) {
  const url = `/dashboard/${suffixOf(size.company.id)}${path}`
  const headers = { cookie: cookies.get(size)!, accept: 'text/html' }
  const reply = await size.service.server.inject({ method: 'GET', url, headers })
  if (reply.statusCode >= 300) throw new Error(`${url}: ${reply.statusCode}`)
  return reply
}

const page = (path: string): Measurement => ({ name: path || '/', act: (size) => open(size, path) })

/** What people type into the search of the header. */
const SOUGHT = ['Maria', 'ilv', '4725', '97777', '@example', 'ORDER-10', '19,90', 'senha', 'nobody']

/** Every page that needs no record and no bank, and searches of charges as people type them. */
const PAGES: Measurement[] = [
  ...ROUTES.filter(
    ({ method, path }) =>
      method === 'GET' && !/:|\.(csv|ofx)$|\/picked\/|^\/settings\/bank\/./.test(path),
  ).map(({ path }) => page(path)),
  ...['order-1000', '19,90', 'maria@example.com', '529.982.247-25', 'Maria', 'nobody'].map((text) =>
    page(`/charges?${new URLSearchParams({ q: text })}`),
  ),
  // Both pasts have charges in these periods. In the month before the short one has none.
  ...['status=OPEN', 'status=PAID&period=month', 'period=7d&by=paid', 'min=10&max=20'].map(
    (query) => page(`/charges?${query}`),
  ),
  page('/subscriptions?state=overdue'),
  ...SOUGHT.map((text) => page(`/search?${new URLSearchParams({ q: text })}`)),
]

/** The bytes of Today and of all that it loads. */
async function weighFirstPage(size: Size): Promise<void> {
  const { payload } = await open(size, '')
  const files = [...payload.matchAll(/(?:href|src)="(\/assets\/[^"]+)"/g)].map(([, url]) => url!)
  const bytes = [gzipSync(payload).length]
  for (const url of new Set(files)) {
    const headers = { 'accept-encoding': 'gzip' }
    const { rawPayload } = await size.service.server.inject({ url, headers })
    bytes.push(rawPayload.length)
  }
  const sum = bytes.reduce((all, one) => all + one, 0)
  const verdict = verdictOf(sum <= MAX_BYTES)
  console.log(`first page with ${files.length} files: ${sum} bytes, bar ≤ ${MAX_BYTES}: ${verdict}`)
}
