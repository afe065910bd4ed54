import type { Uuid } from '../../lib/ids.ts'
import type { Profile } from './profile.ts'

/** What proves who we are: a PFX file, or certificate and key as PEM. */
export type Certificate =
  | { kind: 'pfx'; pfx: string; passphrase: string | null }
  | { kind: 'pem'; certificate: string; key: string; passphrase: string | null }

/** Where collections of agreements are credited; a bank wants it with each of them. */
export type Account = {
  branch: string | null
  number: string
  type: 'CORRENTE' | 'POUPANCA' | 'PAGAMENTO'
}

/** All that is needed to speak to a company's bank. */
export type Connection = {
  /** Of this connection; a company that is connected anew has another. */
  id: Uuid
  profile: Profile
  clientId: string
  clientSecret: string | null
  /** A key of the application, where a bank wants one beside the client's. */
  appKey: string | null
  certificate: Certificate
  /** Authorities to trust besides those that everybody trusts, as PEM. */
  ca: string | null
  account: Account | null
}
