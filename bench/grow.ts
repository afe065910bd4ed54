import { TASKS } from '../src/worker/worker.ts'
import { compareSizes, type Measurement, openSize, type Size } from './history.ts'
import { benchDatabase } from './setup.ts'

/** No fewer, because a summary is of the last 31 days and has to count as many in both. */
const SMALL = Number(process.env.BENCH_SMALL ?? 50_000)
const LARGE = Number(process.env.BENCH_LARGE ?? 300_000)
/** So much more may it cost to have a long past. */
const BAR = 1.15

/** What each operation and each task costs with a short and with a long past. */
export async function run(): Promise<void> {
  const database = await benchDatabase()
  const sizes: Size[] = []
  try {
    sizes.push(await openSize(database.url, SMALL), await openSize(database.url, LARGE))
    console.log(`One at a time, with ${SMALL} and with ${LARGE} charges of the company:`)
    await compareSizes(sizes as [Size, Size], [...REQUESTS, ...SWEEPS], BAR)
  } finally {
    for (const size of sizes) await size.stop()
    await database.stop()
  }
}

const ask = async ({ service, apiKey }: Size, method: 'GET' | 'POST', url: string, body = '') => {
  const headers = { 'x-api-key': apiKey, ...(body && { 'content-type': 'application/json' }) }
  const reply = await service.server.inject({ method, url, headers, payload: body })
  if (reply.statusCode >= 300) throw new Error(`${url}: ${reply.payload}`)
  return reply
}

const BODY = JSON.stringify({
  amount: 1990,
  customer: { name: 'Maria da Silva', taxId: '52998224725', email: 'maria@example.com' },
})

/** The charge in the middle of the past, which nobody has read for long. */
const middleOf = async (size: Size): Promise<string> => {
  const { charges } = size
  const found = await ask(size, 'GET', `/charge?externalId=order-${charges >> 1}`)
  return found.json().data[0].id
}
const middles = new Map<Size, Promise<string>>()
const middle = (size: Size): Promise<string> => {
  const known = middles.get(size) ?? middleOf(size)
  middles.set(size, known)
  return known
}

const get = (name: string, url: string): Measurement => ({
  name,
  act: (size) => ask(size, 'GET', url),
})

const REQUESTS: Measurement[] = [
  { name: 'POST /charge/pix', act: (size) => ask(size, 'POST', '/charge/pix', BODY) },
  {
    name: 'GET /charge/{id}',
    act: async (size) => ask(size, 'GET', `/charge/${await middle(size)}`),
  },
  get('GET /charge', '/charge?limit=50'),
  get('GET /charge of a state', '/charge?limit=50&status=COMPLETED'),
  get('GET /charge of an amount', '/charge?limit=50&amount=1990'),
  get('GET /charge of an e-mail address', '/charge?limit=50&email=maria@example.com'),
  get('GET /charge of a reference', '/charge?externalId=order-1000'),
  get('GET /charge of a reference that nobody has', '/charge?externalId=none'),
  get('GET /account-balance/statement', '/account-balance/statement?limit=50'),
  get('GET /charge/summary', '/charge/summary'),
  get('GET /event', '/event?limit=50'),
]

/** Every task, with nothing that is due. */
const SWEEPS: Measurement[] = TASKS.flatMap((task) =>
  'run' in task
    ? [
        {
          name: `task: ${task.name}`,
          act: ({ app }: Size) =>
            task.run({ ...app, db: app.db.tasks }, new AbortController().signal),
        },
      ]
    : [],
)
