import { loadConfig } from '../config.ts'
import { requireSameSecret } from '../core/installation.ts'
import { countCompanies, listMoving } from '../core/places/store.ts'
import { isAddress, nameOf, splitHosts } from '../db/address.ts'
import { createPlace, distributePlace } from '../db/citus-place.ts'
import { type Database, openDatabase } from '../db/database.ts'
import { createVault } from '../lib/vault.ts'
import { type Command, columns, Refusal } from './command.ts'
import { moveCommands } from './place-move.ts'
import { withDatabase } from './session.ts'

const list: Command = {
  name: 'place list',
  summary: 'List the places among which companies are divided.',
  example: 'vintem place list',
  operands: [],
  options: {},
  async run() {
    const places = await withDatabase(({ databases, urls }) =>
      Promise.all(databases.map((db, i) => describe(db, urls[i]!, i + 1))),
    )
    const rows = places.map(({ place, companies, moving, bytes, database }) =>
      [place, companies, moving, `${Math.ceil(bytes / 2 ** 20)} MiB`, database].map(String),
    )
    const heading = ['PLACE', 'COMPANIES', 'MOVING', 'SIZE', 'DATABASE']
    return { json: places, text: columns([heading, ...rows]) }
  },
}

async function describe(db: Database, url: string, place: number) {
  const [companies, moves, [size]] = await Promise.all([
    countCompanies(db),
    listMoving(db),
    db.query<{ bytes: number }>({ text: 'select pg_database_size(current_database()) as bytes' }),
  ])
  const servers = splitHosts(url)
  const database = `${servers.map(nameOf).join()}${new URL(servers[0]!).pathname}`
  return { place, companies, moving: moves.length, bytes: size!.bytes, database }
}

const add: Command = {
  name: 'place add',
  summary: 'Prepare an empty database as a new place, and say how to use it.',
  example: 'vintem place add postgres://vintem@second:5432/vintem',
  operands: ['url'],
  options: {},
  async run({ operands: [url] }) {
    const config = loadConfig()
    if (config.local) {
      throw new Refusal(
        'Local mode has one place, which it starts itself. Set PLACES to databases of your own.',
      )
    }
    if (config.secretKeyNext) {
      throw new Refusal('A secret is being replaced. Add the place when SECRET_KEY_NEXT is gone.')
    }
    const known = [config.databaseUrl!, ...config.otherPlaces]
    const place = known.includes(url!) ? known.indexOf(url!) + 1 : known.length + 1
    if (place <= known.length) throw new Refusal(`It is place ${place} already.`)
    if (!isAddress(url!)) {
      throw new Refusal('The address must start with postgres:// or postgresql://.')
    }
    const address = await prepareNew(url!, config.secretKey)
    return {
      json: { place, isPrepared: true, node: nameOf(splitHosts(address)[0]!) },
      text:
        `The database is ready to be place ${place}.\n\n` +
        (address === url ? '' : atOtherNode(address)) +
        'Places are a setting, so that every server knows the same ones. On each server append the\n' +
        'address to PLACES, after those that are there and DATABASE_URL, and start it again:\n\n' +
        `  PLACES="${known.map((_, i) => `<address of place ${i + 1}>`).join(' ')} <this address>"\n\n` +
        'No company is there until you create one with "vintem company create" or move one with\n' +
        '"vintem place move <company-id> <place>", and that only when all servers know the place.\n',
    }
  },
}

const atOtherNode = (address: string): string =>
  `Citus keeps its tables on ${nameOf(address)}: use that host and port in the address.\n\n`

/** Returns the address that servers are to use: Citus chooses the node of a new place. */
async function prepareNew(url: string, secretKey: Buffer): Promise<string> {
  const address = await createPlace(url)
  const db = openDatabase(address, 2)
  try {
    await requireSameSecret(db, createVault(secretKey))
    const [row] = await db.query<{ isUsed: boolean }>({
      text: `select exists (select from companies) or exists (select from people)
               or exists (select from installation where place is not null) as "isUsed"`,
    })
    if (row!.isUsed) throw new Refusal('The database is in use. A new place must be empty.')
    return address
  } finally {
    await db.end()
  }
}

const distribute: Command = {
  name: 'place distribute',
  summary: 'Let Citus hold the tables of a place, while no server runs. Repeat it to go on.',
  example: 'vintem place distribute 1 p1',
  operands: ['place', 'schema'],
  options: {},
  async run({ operands: [place, schema] }) {
    const config = loadConfig()
    const url = [config.databaseUrl, ...config.otherPlaces][Number(place) - 1]
    if (!url) throw new Refusal('There is no such place. See "vintem place list".')
    if (!/^[a-z]\w{0,40}$/.test(schema!) || schema === 'public') {
      throw new Refusal('The schema must be a short name in small letters, such as p1.')
    }
    const { url: address, left } = await distributePlace(url, schema!)
    return {
      json: { place: Number(place), schema, node: nameOf(address), left },
      text:
        `Citus holds place ${place} in the schema ${schema} on ${nameOf(address)}. On every server\n` +
        'use that host and port in the address of the place, name the schema, and start it again:\n\n' +
        `  ${shownAddress(address)}\n` +
        (left.length === 0 ? '' : `\n${LEFT}  ${left.join(', ')}\n`),
    }
  },
}

const LEFT =
  'The former rows of these tables are still on the disk of the coordinator, because this user is\n' +
  'no superuser. Nobody sees them. To remove them, repeat the command as one:\n'

/** Without the password. */
function shownAddress(address: string): string {
  const shown = new URL(address)
  if (shown.password) shown.password = '…'
  return decodeURIComponent(shown.href.replaceAll('+', '%20')).replaceAll(' ', '%20')
}

export const placeCommands = [list, add, ...moveCommands, distribute]
