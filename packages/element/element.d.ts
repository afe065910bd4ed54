/** What a charge is in. After the last five of these nothing changes any more. */
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
}

declare global {
  interface HTMLElementTagNameMap {
    'vintem-pix': VintemPix
  }
}
