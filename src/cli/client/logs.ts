import { setTimeout as pause } from 'node:timers/promises'
import type { LoggedRequest, Vintem } from '../../../packages/client/src/index.ts'
import { CLASS_NAMES } from '../../core/request-log/rules.ts'
import type { Args, Command } from '../command.ts'
import { connect, connectionOptions } from './connection.ts'
import { isTemporary, textOfClientFault } from './faults.ts'
import { given, limitOption, pageOf, readLimit, readWhole, take } from './input.ts'
import { cell, localTime, tableOf } from './output.ts'

const STATUSES = Object.keys(CLASS_NAMES) as (keyof typeof CLASS_NAMES)[]

const FILTERS = {
  status: {
    value: 'STATUS',
    choices: STATUSES,
    help: 'OK (2xx), REFUSED (4xx) or FAILED (5xx)',
  },
  operation: { value: 'NAME', help: 'only this operation, such as createPixCharge' },
}

const filterOf = ({ options: { status, operation } }: Args) =>
  given({ status: status as (typeof STATUSES)[number] | undefined, operation })

const list: Command = {
  name: 'logs list',
  summary: 'List the requests of the last 7 days, newest first.',
  example: 'vintem logs list --status REFUSED',
  operands: [],
  options: { ...connectionOptions, ...FILTERS, ...limitOption('requests') },
  async run(args) {
    const limit = readLimit(args)
    const query = { ...filterOf(args), limit: pageOf(limit) }
    const requests = await take(connect(args).requests.list(query), limit)
    const heading = ['TIME', 'STATUS', 'REQUEST', 'TOOK', 'ERROR', 'REQUEST ID']
    return { json: requests, text: tableOf(heading, requests.map(rowOf), 'No requests.') }
  },
}

const rowOf = (request: LoggedRequest): string[] => [
  localTime(request.requestedAt),
  String(request.status),
  cell(`${request.method} ${request.path}`),
  `${request.latencyMs} ms`,
  cell(request.errorCode),
  request.id,
]

const tail: Command = {
  name: 'logs tail',
  summary: 'Follow the requests of the company as they come, about a second late. Ctrl-C ends it.',
  example: 'vintem logs tail --status REFUSED',
  operands: [],
  options: {
    ...connectionOptions,
    ...FILTERS,
    last: { value: 'NUMBER', help: 'start with so many of the last requests (default 10)' },
  },
  async run(args, print) {
    const vintem = connect(args)
    const json = args.switches.has('json')
    const last = readWhole(args.options, 'last', 0, 1000) ?? 10
    const line = json ? (request: LoggedRequest) => JSON.stringify(request) : lineOf
    for await (const requests of follow(vintem, filterOf(args), last)) {
      await print(requests.map((request) => `${line(request)}\n`).join(''))
    }
    return null
  },
}

/** A line of columns whose widths do not depend on what comes later. */
function lineOf(request: LoggedRequest): string {
  const [time = '', status = '', what = '', took = '', error, id] = rowOf(request)
  const columns = [time, status, what.padEnd(40), took.padStart(8), id]
  return (error === '-' ? columns : [...columns, error]).join('  ')
}

const ASK_EVERY_MS = 1_000
/** So many requests are known from the beginning, and are in a page. */
const BEGIN = 100
/** A request is logged when it has ended, so it can come after others that began later. */
const RECENT_MS = 5_000
/** No request takes longer. */
const LONG_MS = 90_000
/** Every so many times, those that took long are looked for too. */
const LONG_EVERY = 10

/** If the server is away for a while, says so and gives null. Nothing is missed later. */
async function retried<R>(read: () => Promise<R>): Promise<R | null> {
  try {
    return await read()
  } catch (error) {
    if (!isTemporary(error)) throw error
    process.stderr.write(`${textOfClientFault(error)} It is asked again.\n`)
    return null
  }
}

/** The last requests, and then new ones for ever, each once. */
async function* follow(
  vintem: Vintem,
  filter: ReturnType<typeof filterOf>,
  last: number,
): AsyncGenerator<LoggedRequest[]> {
  const count = Math.max(last, BEGIN)
  const begin = await take(vintem.requests.list({ ...filter, limit: pageOf(count) }), count)
  const times = new Map(begin.map(({ id, requestedAt }) => [id, Date.parse(requestedAt)]))
  // What was there before is not new, however many requests there were just now.
  const first = begin.length < count ? '' : begin.at(-1)!.id
  yield begin.slice(0, last).toReversed()
  for (let asked = 1; ; asked += 1) {
    await pause(ASK_EVERY_MS)
    // By the time of the server, because this machine may have another.
    const newest_ms = Math.max(0, ...times.values())
    const back_ms = asked % LONG_EVERY === 0 ? LONG_MS : RECENT_MS
    const from = newest_ms > 0 ? { from: new Date(newest_ms - back_ms).toISOString() } : {}
    const list = vintem.requests.list({ ...filter, ...from, limit: BEGIN })
    const read = await retried(() => take(list, Number.POSITIVE_INFINITY))
    const found = (read ?? []).filter(({ id }) => id > first && !times.has(id))
    for (const { id, requestedAt } of found) times.set(id, Date.parse(requestedAt))
    for (const [id, at_ms] of times) if (at_ms < newest_ms - 2 * LONG_MS) times.delete(id)
    if (found.length > 0) yield found.toReversed()
  }
}

export const logCommands = [list, tail]
