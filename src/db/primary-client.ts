import pg from 'pg'
import { addressOf } from './address.ts'
import { notReplicated, standby } from './away.ts'

/** How long a transaction may be left open by a process that does nothing with it. */
const IDLE_IN_TRANSACTION_MS = 15_000
/** Lets the server notice that our machine has lost power. It would keep our locks for hours. */
const KEEPALIVE = '-c tcp_keepalives_idle=5 -c tcp_keepalives_interval=3 -c tcp_keepalives_count=3'
/** Other systems than Linux lack it, and a server there would log that for each connection. */
const USER_TIMEOUT = process.platform === 'linux' ? ' -c tcp_user_timeout=15000' : ''

/** What PostgreSQL calls the function that waits for the standby. It is in no other language. */
const WAIT_FOR_STANDBY = 'SyncRepWaitForLSN'

/** What the connections of a process have in common. */
export type Connections = {
  /** The address of the server that accepts writes. Null: there is only one, and it is asked. */
  find(): Promise<string | null>
  /** The server could not be connected to, or accepts no writes. */
  failed(url: string): void
  /** A commit was answered, but the standby has not confirmed it. */
  doubt(): void
  /** An open connection was lost. Perhaps the server has ended, and will show other rows. */
  lost(): void
  all: Set<PrimaryClient>
}

/** Settings that DATABASE_URL asks for itself would replace ours, so ours are added to them. */
export function withSettings(url: string, settings: string): string {
  const address = new URL(url)
  const own = address.searchParams.get('options')
  address.searchParams.set('options', own ? `${own} ${settings}` : settings)
  return address.href
}

export type ClientConfig = pg.ClientConfig & {
  connectionString: string
  /** It writes nothing that anybody has to be sure of. */
  isProbe?: boolean
}

/** A connection to the server that accepts writes. It is of no use once that is a standby. */
export class PrimaryClient extends pg.Client {
  readonly #connections: Connections
  #state: 'new' | 'connecting' | 'open' | 'lost' = 'new'
  #isStandby = false
  /** When the connection was begun, by `performance.now()`. */
  begun_ms = Number.POSITIVE_INFINITY

  constructor({ connectionString, isProbe, ...config }: ClientConfig, connections: Connections) {
    super({
      keepAlive: true,
      idle_in_transaction_session_timeout: IDLE_IN_TRANSACTION_MS,
      ...config,
      connectionString: withSettings(connectionString, KEEPALIVE + USER_TIMEOUT),
    })
    this.#connections = connections
    // Whoever waits for an answer gets the error too, and nobody else may end the process by it.
    this.on('error', () => this.#lose())
    // A server that ends connections says so, and whoever has asked may close this one at once.
    this.connection.on('errorMessage', ({ severity }) => {
      if (severity === 'FATAL') this.#lose()
    })
    this.on('end', () => connections.all.delete(this))
    this.on('notice', ({ routine }) => {
      if (routine !== WAIT_FOR_STANDBY) return
      if (!isProbe) connections.doubt()
      this.abandon(notReplicated())
    })
    this.connection.on('parameterStatus', ({ parameterName, parameterValue }) => {
      if (parameterName !== 'in_hot_standby') return
      this.#isStandby = parameterValue === 'on'
      if (this.#isStandby && this.#state === 'open') this.abandon(standby())
    })
  }

  override connect(): Promise<pg.Client>
  override connect(done: ((error: Error) => void) | ((error: null, c: pg.Client) => void)): void
  override connect(done?: (error: never, client: pg.Client) => void): unknown {
    const opening = this.#open()
    if (!done) return opening
    return opening.then(
      () => done(null as never, this),
      (error) => done(error as never, this),
    )
  }

  async #open(): Promise<this> {
    const { all, find, failed } = this.#connections
    this.begun_ms = performance.now()
    all.add(this)
    let url: string | null = null
    try {
      url = await find()
      // Whoever waits for the connection may have given up meanwhile.
      if (this.connection.stream.destroyed) throw new Error('Connection terminated')
      if (url !== null) Object.assign(this, addressOf(url))
      this.#state = 'connecting'
      await super.connect()
      if (this.#isStandby) throw standby()
      this.#state = 'open'
      return this
    } catch (error) {
      all.delete(this)
      if (url !== null) failed(url)
      this.abandon(error as Error)
      throw error
    }
  }

  #lose(): void {
    if (this.#state !== 'open') return
    this.#state = 'lost'
    this.#connections.lost()
  }

  /** Fails what is being asked, and closes the connection without waiting for the server. */
  abandon(error: Error): void {
    if (this.#state !== 'new') this.connection.emit('error', error)
    this.connection.stream.destroy()
  }
}
