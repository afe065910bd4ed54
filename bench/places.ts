import { createRequests } from './create.ts'
import { measure } from './load.ts'
import {
  benchDatabase,
  besideOf,
  CONNECTIONS,
  makeKeys,
  measureAlternately,
  median,
  medianRatio,
  ratio,
  report,
  runPlaces,
  SECONDS,
} from './setup.ts'

const COMPANIES = 16

/** Charges a second of the same companies in one place, and divided among two. */
export async function run(): Promise<void> {
  const database = await benchDatabase()
  try {
    const names = ['one', 'first', 'second']
    const [one, first, second] = (await Promise.all(
      names.map((name) => besideOf(database.url, name)),
    )) as [string, string, string]
    const [alone, divided] = [await runPlaces([one]), await runPlaces([first, second])]
    const aloneKeys = await makeKeys(one, COMPANIES)
    const dividedKeys = [
      ...(await makeKeys(first, COMPANIES / 2)),
      ...(await makeKeys(second, COMPANIES / 2)),
    ]
    const measured = await measureAlternately({
      one: create(alone.port, aloneKeys),
      two: create(divided.port, dividedKeys),
    })
    await Promise.all([alone.stop(), divided.stop()])
    const { one: inOne = [], two: inTwo = [] } = measured
    report('POST /charge/pix of 16 companies in one place', median(inOne))
    report('the same in two places, on the same machine', median(inTwo))
    ratio('two places ÷ one place', medianRatio(inTwo, inOne), 0.95)
  } finally {
    await database.stop()
  }
}

function create(port: number, keys: string[]): () => Promise<number> {
  const requests = keys.map((key) => createRequests({ 'X-API-KEY': key }))
  const request = (n: number) => {
    const own = requests[n % requests.length]!
    return own[Math.floor(n / requests.length) % own.length]!
  }
  return async () => {
    const measured = await measure({ port, connections: CONNECTIONS, seconds: SECONDS, request })
    return measured.perSecond
  }
}
