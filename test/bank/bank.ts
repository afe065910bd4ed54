import type { Clock } from '../../src/lib/clock.ts'
import { newId } from '../../src/lib/ids.ts'
import type { LocalDate } from '../../src/pix/local-time.ts'
import type { Account, Connection } from '../../src/provider/bacen/connection.ts'
import type { Profile } from '../../src/provider/bacen/profile.ts'
import { findProfile } from '../../src/provider/bacen/profiles.ts'
import type { Books, Course, Infraction, Refund } from './books.ts'
import { type Identity, toPfx, trust } from './certificates.ts'
import { type Collected, collect } from './collections.ts'
import { decideDispute, dispute, returnDisputed } from './disputes.ts'
import { createFaultSchedule, type Faults } from './faults.ts'
import { type Client, createTokenIssuer, type Token, type TokenIssuer } from './oauth.ts'
import { type Payer, payer } from './payer.ts'
import { type Claim, finishRefunds, returnByItself } from './pix.ts'
import { createRequestHandler, type HandledRequest } from './request-handler.ts'
import { unique } from './scheme.ts'
import { finishSends } from './sends.ts'
import { type Connected, openServer } from './server.ts'
import { movedTo, PLAIN, profileOf, type Style, styleOf } from './style.ts'
import { type CallbackSender, createCallbackSender, type SentCallback } from './webhooks.ts'

export type Credentials = Client &
  Identity & { pfx: string; passphrase: string; account: Account; expired: Identity }

/** `token` may be given in part. */
export type StyleOptions = Partial<Omit<Style, 'token'>> & { token?: Partial<Style['token']> }

export type Bank = {
  url: string
  tokenUrl: string
  ca: string
  credentials: Credentials
  /**
   * A profile that points at this bank. Without a name it says what the bank's style is; with one
   * the bank becomes the one that the profile is of, and only the profile's hosts are replaced.
   */
  profile(named?: Profile | string): Profile
  /** All that is needed to speak to it. */
  connection(fields?: Partial<Connection>): Connection
  style(changes: StyleOptions): void
  faults: Faults
  payer: Payer
  collect(on: LocalDate, outcome?: (txid: string) => Collected): void
  /** How refunds, and money that is sent, end from now on. */
  course(changes: { refunds?: Course; sends?: Course }): void
  finishRefunds(isDone?: boolean): void
  finishSends(isDone?: boolean): void
  /** Returns a payment that nobody has ordered to return, as after a claim of fraud. */
  returnByItself(endToEndId: string, claim?: Claim): Refund
  /** A payer disputes a payment, the bank decides, and returns what it has accepted. */
  dispute(endToEndId: string, amount?: number): Infraction
  decideDispute(id: string, status: 'ACEITA' | 'REJEITADA' | 'CANCELADA_EFI'): void
  returnDisputed(id: string): void
  grant: TokenIssuer['grant']
  /** Tokens that were given out are good no more. */
  revokeTokens(): void
  callbacks: Pick<CallbackSender, 'forge' | 'releaseHeld'>
  /** All that the bank knows, to look at and, where a test must, to change. */
  state(): State
  /** How often an operation was called, as `PUT /cob/{txid}`; `POST token` for tokens. */
  seen(operation: string): number
  /** What did not agree with the document; empty at the end of every test. */
  violations(): string[]
  /** Closes all connections, as a bank does that is restarted. */
  closeConnections(): void
  /** Closes all connections, and the next ones before they can be used. */
  refuseConnections(times: number): void
  /** Over when all callbacks have arrived. */
  callbacksSent(): Promise<void>
  close(): Promise<void>
}

export type State = Omit<Books, 'notify' | 'nextId'> & {
  requests: HandledRequest[]
  tokens: Token[]
  callbacks: SentCallback[]
  connections: Connected[]
}

const PASSPHRASE = 'padaria'
const ACCOUNT: Account = { branch: '0001', number: '123456', type: 'CORRENTE' }
const RECEIVER = { cnpj: '11222333000181', name: 'Padaria Sao Joao', city: 'SAO PAULO' }

function newBooks(clock: Clock, style: Style): Books {
  let last = 100
  return {
    clock,
    style,
    receiver: RECEIVER,
    account: ACCOUNT,
    refunds: [],
    charges: new Map(),
    pix: new Map(),
    locations: new Map(),
    recs: new Map(),
    cobrs: new Map(),
    sends: new Map(),
    infractions: new Map(),
    foreignKeys: new Set(),
    webhooks: { pix: new Map(), rec: null, cobr: null },
    refunding: 'at once',
    sending: 'at once',
    notify: () => {},
    nextId: () => ++last,
  }
}

const styled = (style: Style, { token, ...changes }: StyleOptions): Style => ({
  ...style,
  ...changes,
  token: { ...style.token, ...token },
})

/** A bank on this machine that speaks API Pix as the Central Bank's document describes it. */
export async function startBank(options: { clock: Clock; style?: StyleOptions }): Promise<Bank> {
  const trusted = await trust()
  const client = { clientId: `id-${unique(12)}`, clientSecret: unique(24), appKey: unique(16) }
  const books = newBooks(options.clock, styled(PLAIN, options.style ?? {}))
  const tokenIssuer = createTokenIssuer(client, books.clock)
  const faultSchedule = createFaultSchedule()
  const violations: string[] = []
  const callbackSender = createCallbackSender(books, faultSchedule, trusted.server, violations)
  books.notify = callbackSender.notify
  const handler = createRequestHandler({
    books,
    tokenIssuer,
    faultSchedule,
    client,
    violations,
    callbackSender,
  })
  const server = await openServer(trusted, () => books.style, handler.serve)
  const { url } = server
  const credentials = credentialsOf(client, trusted, options.clock)
  const profile = (named?: Profile | string): Profile => {
    const found = typeof named === 'string' ? findProfile(named) : named
    if (!found) return profileOf(books.style, url)
    books.style = styleOf(found)
    return movedTo(url, found)
  }
  return {
    url,
    ca: trusted.ca,
    credentials,
    profile,
    grant: tokenIssuer.grant,
    faults: faultSchedule,
    payer: payer(books),
    callbacks: callbackSender,
    get tokenUrl() {
      return url + books.style.token.path
    },
    connection: (fields = {}) => connectionOf(credentials, trusted.ca, { profile, fields }),
    style: (changes) => {
      books.style = styled(books.style, changes)
    },
    collect: (on, outcome) => collect(books, on, outcome),
    course: ({ refunds = books.refunding, sends = books.sending }) => {
      books.refunding = refunds
      books.sending = sends
    },
    finishRefunds: (isDone) => finishRefunds(books, isDone),
    finishSends: (isDone) => finishSends(books, isDone),
    returnByItself: (id, claim) => returnByItself(books, id, claim),
    dispute: (endToEndId, amount) => dispute(books, endToEndId, amount),
    decideDispute: (id, status) => decideDispute(books, id, status),
    returnDisputed: (id) => returnDisputed(books, id),
    revokeTokens: tokenIssuer.revoke,
    state: () => ({
      ...books,
      requests: handler.seen,
      tokens: tokenIssuer.tokens,
      callbacks: callbackSender.sent,
      connections: server.connections,
    }),
    closeConnections: server.closeConnections,
    refuseConnections: server.refuseConnections,
    seen: (operation) => handler.seen.filter((one) => one.operation === operation).length,
    violations: () => violations,
    callbacksSent: callbackSender.callbacksSent,
    async close() {
      faultSchedule.clear()
      await callbackSender.close()
      await server.close()
    },
  }
}

type Trusted = Awaited<ReturnType<typeof trust>>

/** What takes long to make is made when it is asked for. */
function credentialsOf(client: Client, { client: own, issue }: Trusted, clock: Clock): Credentials {
  let pfx: string | undefined
  let expired: Identity | undefined
  return {
    ...client,
    ...own,
    passphrase: PASSPHRASE,
    account: ACCOUNT,
    get pfx() {
      pfx ??= toPfx(own, PASSPHRASE)
      return pfx
    },
    get expired() {
      expired ??= issue('Padaria Sao Joao', new Date(clock.now().getTime() - 60_000))
      return expired
    },
  }
}

function connectionOf(
  credentials: Credentials,
  ca: string,
  { profile, fields }: { profile(): Profile; fields: Partial<Connection> },
): Connection {
  const { clientId, clientSecret, appKey, certificate, key, account } = credentials
  const own = fields.profile ?? profile()
  return {
    id: newId(),
    profile: own,
    clientId,
    appKey,
    ca,
    account,
    clientSecret: own.token.client === 'id only' ? null : clientSecret,
    certificate: { kind: 'pem', certificate, key, passphrase: null },
    ...fields,
  }
}
