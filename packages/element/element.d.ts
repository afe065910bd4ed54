/** What a charge is in. After `paid`, `refunded`, `canceled` and `missing` it asks no more. */
export type PixState =
  | 'open'
  | 'checking'
  | 'unavailable'
  | 'paid'
  | 'refunded'
  | 'expired'
  | 'canceled'
  | 'missing'

/** The event `state`. What a browser says proves nothing: deliver what your server knows. */
export type PixStateEvent = CustomEvent<{ state: PixState }>

/** `<vintem-pix src="…">`, in Portuguese unless `lang` begins with `en`. */
export class VintemPix extends HTMLElement {
  /** The `src` of `GET /charge/{id}/element`. */
  src: string
  /** Null until the first answer. */
  readonly state: PixState | null

  addEventListener(type: 'state', listener: (event: PixStateEvent) => void, options?: Options): void
  addEventListener<K extends keyof HTMLElementEventMap>(
    type: K,
    listener: (event: HTMLElementEventMap[K]) => void,
    options?: Options,
  ): void
  addEventListener(
    type: string,
    listener: EventListenerOrEventListenerObject,
    options?: Options,
  ): void
}

type Options = boolean | AddEventListenerOptions

declare global {
  interface HTMLElementTagNameMap {
    'vintem-pix': VintemPix
  }
}
