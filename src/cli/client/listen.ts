import { spawn } from 'node:child_process'
import { createHash } from 'node:crypto'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import {
  BadRequestError,
  type Event,
  Vintem,
  VintemError,
} from '../../../packages/client/src/index.ts'
import { isWebhookSecret } from '../../../packages/client/src/webhooks.js'
import { EVENT_TYPES, TEST_EVENT } from '../../core/events.ts'
import { makeSecret } from '../../core/webhooks/rules.ts'
import { fromPublic, timeOf } from '../../lib/ids.ts'
import { type Args, ClientFault, type Command, type Print } from '../command.ts'
import { connectionOptions, readPiped, targetOf } from './connection.ts'
import { readEnvironment } from './environment.ts'
import { isTemporary } from './faults.ts'
import { given, readList } from './input.ts'
import {
  createForwarder,
  type Forwarder,
  requireListening,
  sendUntilAnswered,
} from './listen-forward.ts'
import {
  type Entry,
  lineView,
  openScreen,
  type Terminal,
  type View,
  type Wishes,
} from './listen-view.ts'
import { requirePrivate, writePrivate } from './private-file.ts'

const TYPES = [...EVENT_TYPES, TEST_EVENT]

export const listen: Command = {
  name: 'listen',
  summary:
    'Follow the events of the company and forward each to an application, as a webhook gets it.',
  example:
    'vintem listen --forward-to http://localhost:4000 --events charge.paid,charge.refunded --route charge.paid=/paid --since 10m',
  operands: [],
  options: {
    ...connectionOptions,
    'forward-to': {
      value: 'URL',
      help: 'your application, such as http://localhost:4000/webhook; without it events are only shown',
    },
    events: {
      value: 'TYPES',
      help: 'only these, with commas between them, such as charge.paid or charge.* (default all)',
    },
    route: {
      value: 'TYPE=PATH',
      many: true,
      help: 'a path of its own for a type, such as charge.paid=/paid',
    },
    since: {
      value: 'EVENT|TIME',
      help: 'send again what came after this event, or from this time on: evt_…, 2026-08-20T15:00:00Z, 10m, 2h, 1d, start or now (default where the last listener for this address, these events and routes ended, at first now)',
    },
    secret: {
      value: 'SECRET',
      help: 'sign with this secret, whsec_…, or - to read it from standard input (default VINTEM_WEBHOOK_SECRET, or one that is made once for this address, and shown); other users of this machine can see a secret that is typed here',
    },
  },
  async run(args, print) {
    const { stdin: input, stdout: output } = process
    const isTerminal = input.isTTY && output.isTTY && !args.switches.has('json')
    await listenWith(args, print, isTerminal ? { input, output } : null)
    return null
  },
}

/** What was typed. */
type Listening = {
  forwardTo: string | null
  routes: Map<string, string>
  types: Set<string>
  since: Since | null
  secret: string | null
  /** What of it makes a position of its own: the events and routes as they were typed. */
  choice: [events: string[] | null, routes: string[]]
}

function readListening({ options, lists }: Args): Listening {
  const { secret, since, events } = options
  const { route: routes = [] } = lists
  const forwardTo = options['forward-to'] ? addressOf(options['forward-to']) : null
  const words = events === undefined ? null : readList(events)
  return {
    forwardTo,
    routes: new Map(routes.flatMap((text) => readRoute(text, forwardTo))),
    types: words === null ? new Set(TYPES) : readTypes('--events', words),
    since: since === undefined ? null : readSince(since),
    secret: readSecret(secret),
    choice: [words?.toSorted() ?? null, routes.toSorted()],
  }
}

function readSecret(typed: string | undefined): string | null {
  const secret =
    typed === '-'
      ? readPiped('--secret -: pipe the secret in, or set VINTEM_WEBHOOK_SECRET.')
      : (typed ?? readEnvironment().webhookSecret)
  if (secret === null || isWebhookSecret(secret)) return secret
  const name = typed === undefined ? 'VINTEM_WEBHOOK_SECRET' : '--secret'
  throw new ClientFault(
    `${name}: must be whsec_ and base64 of 24 to 64 bytes, as a webhook shows it.`,
  )
}

/** `localhost:4000` and `4000` are understood too. */
function addressOf(text: string): string {
  const whole = /^\d+$/.test(text) ? `localhost:${text}` : text
  const url = URL.parse(whole.includes('://') ? whole : `http://${whole}`)
  const isHttp = url !== null && /^https?:$/.test(url.protocol) && !/\s/.test(whole)
  if (isHttp && url.username === '' && url.hash === '') return url.href
  throw new ClientFault('--forward-to: must be an address such as http://localhost:4000.')
}

function readTypes(option: string, words: string[]): Set<string> {
  const types = words.flatMap((word) => {
    const prefix = word.endsWith('.*') ? word.slice(0, -1) : null
    const found = TYPES.filter((type) => (prefix ? type.startsWith(prefix) : type === word))
    if (found.length > 0) return found
    throw new ClientFault(`${option}: there is no event ${word}. There are ${TYPES.join(', ')}.`)
  })
  return new Set(types)
}

function readRoute(text: string, forwardTo: string | null): [type: string, url: string][] {
  const [, word, path] = /^([^=]+)=(\S+)$/.exec(text) ?? []
  const url = path === undefined ? null : URL.parse(path, forwardTo ?? undefined)
  if (!word || !url || !/^https?:$/.test(url.protocol))
    throw new ClientFault(
      '--route: must be a type and a path, such as charge.paid=/paid, with --forward-to.',
    )
  return [...readTypes('--route', [word])].map((type) => [type, url.href])
}

/** Follows the feed until it is stopped. Everything that can be wrong is checked before. */
export async function listenWith(
  args: Args,
  print: Print,
  terminal: Terminal | null,
): Promise<void> {
  const listening = readListening(args)
  const target = targetOf(args)
  const vintem = new Vintem(target)
  const { forwardTo, routes, choice } = listening
  const { folder } = readEnvironment()
  const owner = await ownerOf(vintem, target.key)
  const file = positionFile(folder, [target.url, owner, forwardTo, choice])
  const start = await startOf(vintem, listening.since, file.read())
  for (const url of new Set([forwardTo, ...routes.values()])) if (url) await requireListening(url)
  const secret = listening.secret ?? keptSecret(secretFile(folder, [target.url, forwardTo]))
  file.write({ after: start.after })
  const isSandbox = target.key.startsWith('vk_sandbox_')
  const forwarder = createForwarder({ forwardTo, routes, secret, isSandbox })
  const stopping = new AbortController()
  const stop = () => stopping.abort()
  const view: View = terminal
    ? openScreen(
        terminal,
        wishesOf(vintem, forwarder, stop, () => view),
      )
    : lineView(print, (text) => process.stderr.write(text), args.switches.has('json'))
  process.on('SIGINT', stop).on('SIGTERM', stop)
  try {
    for (const line of greetingOf(target.url, listening, start, secret)) view.note(line)
    await forwardAll({ vintem, forwarder, view, file, stopping }, listening, start)
  } finally {
    process.off('SIGINT', stop).off('SIGTERM', stop)
    view.close()
    await forwarder.close()
  }
}

/** The company, so that another key of it continues, or the key if it may not read its company. */
async function ownerOf(vintem: Vintem, key: string): Promise<string> {
  try {
    return (await vintem.company.get()).id
  } catch (error) {
    if (error instanceof VintemError && error.status === 403) return key
    throw error
  }
}

function keptSecret(file: SecretFile): string {
  const kept = file.read()
  if (kept !== null && isWebhookSecret(kept)) return kept
  const made = makeSecret()
  file.write(made)
  return made
}

/** A stored event that the server does not know is of a sandbox that was reset. */
async function startOf(
  vintem: Vintem,
  since: Since | null,
  stored: Position | null,
): Promise<Start & { isStored: boolean }> {
  const isUsable = async ({ after }: Position) => after === null || isKnown(vintem, after)
  if (since === null && stored !== null && (await isUsable(stored))) {
    return { after: stored.after, isWanted: () => true, isStored: true }
  }
  return { ...(await findStart(vintem, since ?? 'now')), isStored: false }
}

function greetingOf(
  url: string,
  { forwardTo, routes, secret: givenSecret }: Listening,
  { after, isStored }: Start & { isStored: boolean },
  secret: string,
): string[] {
  const lines = [`Events of ${url} ${forwardTo ? `are forwarded to ${forwardTo}` : 'are shown'}.`]
  if (forwardTo || routes.size > 0)
    lines.push(`They are signed with ${givenSecret ? 'the given secret.' : secret}`)
  if (isStored) {
    lines.push(
      `Continues ${after ? `after ${after}` : 'with the first event'}. --since now leaves out what came meanwhile.`,
    )
  }
  return [...lines, 'Ready.']
}

type Parts = {
  vintem: Vintem
  forwarder: Forwarder
  view: View
  file: PositionFile
  stopping: AbortController
}

async function forwardAll(
  { vintem, forwarder, view, file, stopping: { signal } }: Parts,
  { types }: Listening,
  { after, isWanted }: Start,
): Promise<void> {
  const watcher = {
    signal,
    onLost: ({ message }: Error) => view.note(`${message}. Trying again; no event is lost.`),
    onBack: () => view.note('The server answers again.'),
  }
  for await (const event of follow(vintem, after, watcher)) {
    const isShown = types.has(event.type) && isWanted(event)
    const entry: Entry = { event, forwarded: null, attempt: 1 }
    const url = isShown ? forwarder.urlOf(event.type) : null
    const onAway = (error: string) =>
      view.note(`${url} does not answer (${error}). Trying again; no event is left out.`)
    try {
      if (url) Object.assign(entry, await sendUntilAnswered(forwarder, event, url, signal, onAway))
    } catch (error) {
      // Stopped before it was answered: the next listener sends it again.
      if (signal.aborted) return
      throw error
    }
    file.write({ after: cursorOf(event) })
    if (isShown) await view.show(entry)
  }
}

function wishesOf(
  vintem: Vintem,
  forwarder: Forwarder,
  quit: () => void,
  view: () => View,
): Wishes {
  async function retry(entry: Entry): Promise<void> {
    const url = forwarder.urlOf(entry.event.type)
    if (url === null) return view().note('Nothing is forwarded: give --forward-to.')
    entry.isSending = true
    await view().show(entry)
    try {
      entry.forwarded = await forwarder.send(entry.event, url, new AbortController().signal)
      entry.attempt += 1
    } finally {
      entry.isSending = false
    }
    await view().show(entry)
  }
  async function open({ event }: Entry): Promise<void> {
    const id = chargeOf(event)
    if (id === null) return view().note('This event is about no charge.')
    const { url } = await vintem.charges.get(id)
    view().note(url)
    openInBrowser(url)
  }
  const noting = (act: (entry: Entry) => Promise<void>) => (entry: Entry) => {
    act(entry).catch(({ message }: Error) => view().note(message))
  }
  return { retry: noting(retry), open: noting(open), quit }
}

function chargeOf({ data }: Event): string | null {
  const { charge, payment } = data as { charge?: { id?: string }; payment?: { chargeId?: string } }
  return charge?.id ?? payment?.chargeId ?? null
}

const OPENERS: Partial<Record<NodeJS.Platform, [command: string, ...args: string[]]>> = {
  darwin: ['open'],
  win32: ['rundll32', 'url.dll,FileProtocolHandler'],
}

/** If there is no browser, the address has been shown. */
function openInBrowser(url: string): void {
  if (!/^https?:\/\//.test(url)) return
  const [command, ...args] = OPENERS[process.platform] ?? ['xdg-open']
  const child = spawn(command, [...args, url], { detached: true, stdio: 'ignore' })
  child.on('error', () => {})
  child.unref()
}

/** Where a listener begins: after an event, at a time, with what comes next, or with the first. */
type Since = { event: string } | { at: Date; isAgo?: true } | 'now' | 'start'

const AGO = /^(\d{1,6})([smhd])$/
const SECONDS = { s: 1, m: 60, h: 3600, d: 86_400 }
const TIME = /^\d{4}-\d{2}-\d{2}(T[\d:.]+(Z|[+-]\d{2}:?\d{2})?)?$/

function readSince(text: string, now = new Date()): Since {
  if (text === 'now' || text === 'start') return text
  if (/^evt_[0-9a-z]{26}$/.test(text)) return { event: text }
  const [, count, unit] = AGO.exec(text) ?? []
  if (count) {
    const ago_s = Number(count) * SECONDS[unit as keyof typeof SECONDS]
    return { at: new Date(now.getTime() - ago_s * 1000), isAgo: true }
  }
  const at = new Date(text)
  if (TIME.test(text) && !Number.isNaN(at.getTime())) return { at }
  throw new ClientFault(
    '--since: must be an event such as evt_01k4d5cjd4fv8sgzq9bqyr0vzj, a time such as 2026-08-20T15:00:00Z, so long ago such as 10m, 2h or 1d, or the word start or now.',
  )
}

/** Where the feed is read from, and which of the events that follow are wanted. */
type Start = { after: string | null; isWanted(event: Event): boolean }

/** No transaction is open for longer. Events of one may be in the feed before newer ones. */
const MARGIN_MS = 60_000
const PAGE = 100

const all = () => true
const timeOfEvent = ({ id }: Event): number => timeOf(fromPublic('evt', id)!).getTime()

async function findStart(vintem: Vintem, since: Since): Promise<Start> {
  if (since === 'start') return { after: null, isWanted: all }
  if (since === 'now') return startNow(vintem)
  if ('event' in since) {
    await requireEvent(vintem, since.event)
    return { after: since.event, isWanted: all }
  }
  const from_ms = since.at.getTime()
  // The clock of a sandbox may have been moved forward. Ids have the time of the server.
  const timeIn = (event: Event) => (since.isAgo ? timeOfEvent(event) : Date.parse(event.createdAt))
  const isWanted = (event: Event) =>
    (event.redelivery ? Date.parse(event.redelivery.requestedAt) : timeIn(event)) >= from_ms
  for await (const event of vintem.events.list({ order: 'newest', limit: PAGE })) {
    if (timeIn(event) < from_ms - MARGIN_MS) return { after: event.id, isWanted }
  }
  return { after: null, isWanted }
}

/** What is not there yet: after the last entry, redeliveries too. */
async function startNow(vintem: Vintem): Promise<Start> {
  let after = await findRecent(vintem)
  const rest = given({ after: after ?? undefined, limit: PAGE, include: 'redeliveries' as const })
  for await (const entry of vintem.events.list(rest)) after = cursorOf(entry)
  return { after, isWanted: all }
}

/** An event from which the end of the feed is near, or null. */
async function findRecent(vintem: Vintem): Promise<string | null> {
  const [newest] = await vintem.events.list({ order: 'newest', limit: 1 })
  return newest?.id ?? null
}

async function requireEvent(vintem: Vintem, id: string): Promise<void> {
  if (await isKnown(vintem, id)) return
  throw new ClientFault(`--since: the company of this key has no event ${id}.`)
}

/** Whether the feed has this event. The feed of a sandbox that was reset has others. */
async function isKnown(vintem: Vintem, id: string): Promise<boolean> {
  try {
    await vintem.events.list({ after: id, limit: 1 })
    return true
  } catch (error) {
    if (error instanceof BadRequestError) return false
    throw error
  }
}

/** How long one request waits for events, and how long its answer may take. */
const WAIT_S = 30
const TIMEOUT_MS = 45_000
const FIRST_PAUSE_MS = 200
const LONGEST_PAUSE_MS = 5_000
/** A server that answers at once although nothing is there is about to stop. */
const SHORT_MS = 500

const EVERYTHING = { limit: PAGE, wait: WAIT_S, include: 'redeliveries' } as const

/** What continues after an event, or after one that was sent again. */
const cursorOf = ({ id, redelivery }: Event): string => redelivery?.id ?? id

type Watcher = {
  signal: AbortSignal
  /** The server does not answer. It is asked again until it does. */
  onLost(error: Error): void
  onBack(): void
}

/** Every event after a position, in order and once, for as long as the signal lets it. */
async function* follow(
  vintem: Vintem,
  start: string | null,
  { signal, onLost, onBack }: Watcher,
): AsyncGenerator<Event> {
  let after = start
  for (let failures = 0; !signal.aborted; ) {
    const begun_ms = performance.now()
    let events: Event[] = []
    try {
      const query = given({ after: after ?? undefined, ...EVERYTHING })
      events = await vintem.events.list(query, { retries: 0, timeout_ms: TIMEOUT_MS, signal })
      if (failures > 0) onBack()
      failures = 0
    } catch (error) {
      if (signal.aborted) return
      if (!isTemporary(error)) throw error
      if (failures === 0) onLost(error as Error)
      failures += 1
    }
    for (const event of events) {
      yield event
      after = cursorOf(event)
    }
    const isShort = events.length === 0 && performance.now() - begun_ms < SHORT_MS
    if (failures > 0 || isShort) await rest(failures, signal)
  }
}

async function rest(failures: number, signal: AbortSignal): Promise<void> {
  const wait_ms = Math.min(FIRST_PAUSE_MS * 2 ** Math.max(0, failures - 1), LONGEST_PAUSE_MS)
  await pause(wait_ms, undefined, { signal }).catch(() => {})
}

/** Where a listener has come to: after an event, or before the first if that is null. */
type Position = { after: string | null }

type PositionFile = {
  /** Null if no such listener was started before. */
  read(): Position | null
  write(position: Position): void
}

type SecretFile = { read(): string | null; write(secret: string): void }

/** The file with this content, of all listeners for whom these words are the same. */
const pathOf = (folder: string, content: string, words: unknown[]): string => {
  const name = createHash('sha256').update(JSON.stringify(words)).digest('hex').slice(0, 32)
  return join(folder, 'listen', `${name}.${content}.json`)
}

/**
 * Listeners that leave out other events, or send them elsewhere, have a position each: what one
 * has passed, another has not.
 */
function positionFile(folder: string, words: unknown[]): PositionFile {
  const path = pathOf(folder, 'position', words)
  return {
    read() {
      const stored = parse(path)
      return stored && { after: textOf(stored.after) }
    },
    write: (position) => writePrivate(path, `${JSON.stringify(position)}\n`, 'position'),
  }
}

/** The secret for an application is the same whatever is forwarded to it. */
function secretFile(folder: string, words: unknown[]): SecretFile {
  const path = pathOf(folder, 'secret', words)
  return {
    read() {
      if (existsSync(path)) requirePrivate(path, 'secret')
      return textOf(parse(path)?.secret)
    },
    write: (secret) => writePrivate(path, `${JSON.stringify({ secret })}\n`, 'secret'),
  }
}

const textOf = (value: unknown): string | null => (typeof value === 'string' ? value : null)

/** A damaged file counts as missing: the listener begins with what comes next. */
function parse(path: string): Record<string, unknown> | null {
  try {
    const stored = JSON.parse(readFileSync(path, 'utf8'))
    return typeof stored === 'object' ? stored : null
  } catch {
    return null
  }
}
