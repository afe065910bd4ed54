/** An answer with what came around it. */
export type WithResponse<T> = {
  data: T
  status: number
  headers: Headers
  /** Finds the request in the log of the server. */
  requestId: string | null
  /** The fields of the body that the server does not know and has left out, such as `customer.nmae`. */
  ignoredFields: string[]
}

/** Like that of a promise, so that a handler may name the type it expects. */
// biome-ignore lint/suspicious/noExplicitAny: promises reject with anything
type OnError<B> = ((error: any) => B | PromiseLike<B>) | null

/** The promise of an answer: await it, or ask it for the headers too. */
export class Answer<T> implements Promise<T> {
  readonly [Symbol.toStringTag] = 'Answer'
  readonly #whole: Promise<WithResponse<T>>

  constructor(whole: Promise<WithResponse<T>>) {
    this.#whole = whole
  }

  /** The answer with its status, its headers and the id of the request. */
  withResponse(): Promise<WithResponse<T>> {
    return this.#whole
  }

  // biome-ignore lint/suspicious/noThenProperty: it is a promise
  then<A = T, B = never>(
    onData?: ((data: T) => A | PromiseLike<A>) | null,
    onError?: OnError<B>,
  ): Promise<A | B> {
    return this.#whole.then(({ data }) => data).then(onData, onError)
  }

  catch<B = never>(onError?: OnError<B>): Promise<T | B> {
    return this.then(null, onError)
  }

  finally(onEnd?: (() => void) | null): Promise<T> {
    return this.then().finally(onEnd)
  }
}

/** A list: awaited it is its first page, and `for await` goes through all pages. */
export class List<T> extends Answer<T[]> implements AsyncIterable<T> {
  readonly #readAfter: (after: string) => Promise<WithResponse<T[]>>

  constructor(
    first: Promise<WithResponse<T[]>>,
    readAfter: (after: string) => Promise<WithResponse<T[]>>,
  ) {
    super(first)
    this.#readAfter = readAfter
  }

  /** Page by page, each as an array. */
  async *pages(): AsyncGenerator<T[], void, undefined> {
    let page = await this.withResponse()
    let after: string | null = null
    for (;;) {
      yield page.data
      const next = nextCursor(page.headers)
      if (next === null || next === after) return
      after = next
      page = await this.#readAfter(next)
    }
  }

  /** The first records, read page after page, as one array. */
  async autoPagingToArray({ limit }: { limit: number }): Promise<T[]> {
    if (!(limit >= 1)) throw new TypeError('limit: must be at least 1')
    const records: T[] = []
    for await (const record of this) {
      records.push(record)
      if (records.length >= limit) break
    }
    return records
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<T, void, undefined> {
    for await (const page of this.pages()) yield* page
  }
}

/** Where the next page starts. The link has the public address of the server, which is not used. */
export function nextCursor(headers: Headers): string | null {
  const [, search] = /<[^>?]*\?([^>]*)>; *rel="next"/.exec(headers.get('link') ?? '') ?? []
  return search === undefined ? null : new URLSearchParams(search).get('after')
}
