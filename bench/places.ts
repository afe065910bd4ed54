import { withSchema } from '../src/db/citus.ts'
import { createPlace } from '../src/db/citus-place.ts'
import { CITUS_BIN, type CitusNode, startCitus } from '../test/support/citus-nodes.ts'
import { createRequests } from './create.ts'
import { measure } from './load.ts'
import {
  benchDatabase,
  besideOf,
  COMPANIES,
  CONNECTIONS,
  makeKeys,
  measureAlternately,
  median,
  medianRatio,
  type Running,
  ratio,
  report,
  runPlaces,
  SECONDS,
} from './setup.ts'

/** Charges a second of the same companies in one place, and divided among two. */
export async function run(): Promise<void> {
  const database = await benchDatabase()
  try {
    const names = ['one', 'first', 'second']
    const [one, first, second] = (await Promise.all(
      names.map((name) => besideOf(database.url, name)),
    )) as [string, string, string]
    const { one: inOne, two: inTwo } = await measurePlaces({ one: [one], two: [first, second] })
    report(`POST /charge/pix of ${COMPANIES} companies in one place`, median(inOne))
    report('the same in two places, on the same machine', median(inTwo))
    ratio('two places ÷ one place', medianRatio(inTwo, inOne), 0.95)
  } finally {
    await database.stop()
  }
  if (CITUS_BIN) await runOnCitus()
  else console.log('Set CITUS_BIN to the programs of a PostgreSQL with Citus to measure it too.')
}

/** The same on the nodes of a cluster, whose servers also have the plain databases. */
async function runOnCitus(): Promise<void> {
  const [coordinator, first, second] = (await startCitus(2, { fsync: 'on' })) as CitusNode[]
  try {
    const held: string[] = []
    for (const schema of ['p1', 'p2', 'p3']) {
      held.push(await createPlace(withSchema(coordinator!.url, schema)))
    }
    const isAt = (node: CitusNode) => (url: string) => new URL(url).port === String(node.port)
    // The first two are on a node each, and the third is beside one of them.
    const [own, other] = [held.find(isAt(first!))!, held.find(isAt(second!))!]
    const alone = held.find((url) => url !== own && url !== other)!
    const one = await besideOf(first!.url, 'one')
    const two = [await besideOf(first!.url, 'two'), await besideOf(second!.url, 'two')]
    const measured = await measurePlaces({
      one: [one],
      two,
      alone: [alone],
      nodes: [own, other],
    })
    report('in one plain database of a server with Citus', median(measured.one))
    report('in two, on two servers', median(measured.two))
    report('in one schema of Citus, by its own node', median(measured.alone))
    report('in two, by their own nodes', median(measured.nodes))
    ratio('one schema ÷ one plain database', medianRatio(measured.alone, measured.one), 0.8)
    ratio('two schemas ÷ two plain databases', medianRatio(measured.nodes, measured.two), 0.8)
  } finally {
    await Promise.all([coordinator, first, second].map((node) => node!.stop()))
  }
}

/** Charges a second of a server for each list of places, measured alternately. */
async function measurePlaces<K extends string>(
  lists: Record<K, string[]>,
): Promise<Record<K, number[]>> {
  const servers: Running[] = []
  const sides: Record<string, () => Promise<number>> = {}
  try {
    for (const [name, urls] of Object.entries<string[]>(lists)) {
      const server = await runPlaces(urls)
      servers.push(server)
      const keys = await Promise.all(urls.map((url) => makeKeys(url, COMPANIES / urls.length)))
      sides[name] = create(server.port, keys.flat())
    }
    return (await measureAlternately(sides)) as Record<K, number[]>
  } finally {
    await Promise.all(servers.map((server) => server.stop()))
  }
}

function create(port: number, keys: string[]): () => Promise<number> {
  const request = createRequests(keys)
  return async () => {
    const measured = await measure({ port, connections: CONNECTIONS, seconds: SECONDS, request })
    return measured.perSecond
  }
}
