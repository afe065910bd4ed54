import type { Uuid } from '../../lib/ids.ts'
import type { Profile } from './profile.ts'

/** The company's certificate: a PFX file, or certificate and key as PEM. */
export type Certificate =
  | { kind: 'pfx'; pfx: string; passphrase: string | null }
  | { kind: 'pem'; certificate: string; key: string; passphrase: string | null }

/** The account that collections of agreements are credited to. A bank needs it for each. */
export type Account = {
  branch: string | null
  number: string
  type: 'CORRENTE' | 'POUPANCA' | 'PAGAMENTO'
}

/** All that is needed to call a company's bank. */
export type Connection = {
  /** The id of this connection. A new connection of the company has another id. */
  id: Uuid
  profile: Profile
  clientId: string
  clientSecret: string | null
  /** The application's key, if the bank needs one beside the client's credentials. */
  appKey: string | null
  certificate: Certificate
  /** Certificate authorities to trust beside the usual ones, as PEM. */
  ca: string | null
  account: Account | null
}
