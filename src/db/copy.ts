import type { Socket } from 'node:net'
import type pg from 'pg'

/**
 * COPY moves whole tables as streams, as PostgreSQL writes them and any other PostgreSQL reads
 * them. node-postgres passes the messages of the protocol on to whatever was submitted to it. A
 * connection of a pool, which sends statements before others are answered, cannot be used for it.
 */

/** What is read from the connection before its reader has taken what is there. */
const MOST_BYTES = 1024 * 1024

/** The part of a connection's protocol that COPY needs. */
type Wire = {
  stream: Socket
  query(text: string): void
  sendCopyFromChunk(chunk: Buffer): void
  endCopyFrom(): void
}
type Message = { chunk?: Buffer; text?: string }

/** How a statement ended: with how many rows. */
const countOf = ({ text = '' }: Message): number => Number(/ (\d+)$/.exec(text)?.[1] ?? 0)

/**
 * Rows of a query as lines of text, several at a time, each as `COPY … TO STDOUT` writes it. The
 * server waits while nobody takes them.
 */
export async function* copyOut(client: pg.ClientBase, query: string): AsyncGenerator<Buffer> {
  const reading = new CopyOut(`copy (${query}) to stdout`)
  client.query(reading as unknown as pg.Submittable)
  for (;;) {
    const lines = await reading.next()
    if (lines === null) return
    yield lines
  }
}

class CopyOut {
  readonly #text: string
  #wire: Wire | null = null
  #rows: Buffer[] = []
  #bytes = 0
  #isOver = false
  #error: Error | null = null
  #changed = Promise.withResolvers<void>()

  constructor(text: string) {
    this.#text = text
  }

  /** The lines that have come; null at the end. */
  async next(): Promise<Buffer | null> {
    while (this.#bytes === 0 && !this.#isOver) {
      this.#changed = Promise.withResolvers()
      await this.#changed.promise
    }
    if (this.#error) throw this.#error
    if (this.#bytes === 0) return null
    const lines = Buffer.concat(this.#rows, this.#bytes)
    this.#rows = []
    this.#bytes = 0
    this.#wire!.stream.resume()
    return lines
  }

  submit(wire: Wire): void {
    this.#wire = wire
    wire.query(this.#text)
  }
  handleCopyData({ chunk }: Message): void {
    // The driver uses its buffer again.
    this.#rows.push(Buffer.from(chunk!))
    this.#bytes += chunk!.length
    if (this.#bytes > MOST_BYTES) this.#wire!.stream.pause()
    this.#changed.resolve()
  }
  handleCommandComplete(): void {}
  handleReadyForQuery(): void {
    this.#isOver = true
    this.#changed.resolve()
  }
  handleError(error: Error): void {
    this.#error = error
    this.handleReadyForQuery()
  }
}

/** Writes lines that `copyOut` gave into a table. Returns how many rows it took. */
export class CopyIn {
  readonly #text: string
  #wire: Wire | null = null
  #rows = 0
  #error: Error | null = null
  readonly #ready = Promise.withResolvers<void>()
  readonly #ended = Promise.withResolvers<void>()

  /** `target` is a table with its columns in parentheses. */
  constructor(client: pg.ClientBase, target: string) {
    this.#text = `copy ${target} from stdin`
    // Whoever writes or ends gets the error.
    this.#ready.promise.catch(() => {})
    this.#ended.promise.catch(() => {})
    client.query(this as unknown as pg.Submittable)
  }

  async write(lines: Buffer): Promise<void> {
    await this.#ready.promise
    // The server refuses a row when it comes to it, and takes no more after that.
    if (this.#error) throw this.#error
    const { stream } = this.#wire!
    this.#wire!.sendCopyFromChunk(lines)
    if (!stream.writableNeedDrain) return
    const drained = Promise.withResolvers<void>()
    stream.once('drain', drained.resolve)
    await Promise.race([drained.promise, this.#ended.promise])
    stream.off('drain', drained.resolve)
  }

  async end(): Promise<number> {
    await this.#ready.promise
    if (!this.#error) this.#wire!.endCopyFrom()
    await this.#ended.promise
    return this.#rows
  }

  submit(wire: Wire): void {
    this.#wire = wire
    wire.query(this.#text)
  }
  handleCopyInResponse(): void {
    this.#ready.resolve()
  }
  handleCommandComplete(message: Message): void {
    this.#rows = countOf(message)
  }
  handleReadyForQuery(): void {
    this.#ended.resolve()
  }
  handleError(error: Error): void {
    this.#error = error
    this.#ready.reject(error)
    this.#ended.reject(error)
  }
}
