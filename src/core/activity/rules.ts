import type { Uuid } from '../../lib/ids.ts'

const AUTHOR_KINDS = ['person', 'key', 'command-line', 'service'] as const
export type AuthorKind = (typeof AUTHOR_KINDS)[number]

/** Who changes something, and from where. */
export type Author = {
  kind: AuthorKind
  /** Of the person or of the API key. Null for others. */
  id: Uuid | null
  /** As it is now: the e-mail address, the name of the key, or the user of the machine. */
  name: string
  /** The address that the request comes from. Null: from this machine. */
  address: string | null
}

/** The service itself, such as when it creates the sandbox. */
export const SERVICE: Author = { kind: 'service', id: null, name: 'vintem', address: null }

/** In place of a company: entries about whoever operates or signs in. They are with the people. */
export const INSTALLATION: Uuid = '00000000-0000-0000-0000-000000000000'

/** What the log of the installation has. Some of it is also in the logs of a person's companies. */
export const INSTALLATION_ACTIONS = [
  'backup.create',
  'backup.restore',
  'operator.invite',
  'operator.join',
  'operator.remove',
  'passkey.add',
  'passkey.remove',
  'password.change',
  'password.reset',
  'recovery-codes.create',
  'secret.rotate',
  'session.end',
  'session.start',
  'sign-in-link.create',
  'sign-in.unknown',
  'sign-in.wrong-code',
  'sign-in.wrong-password',
  'two-factor.disable',
  'two-factor.enable',
  'two-factor.reset',
] as const

/**
 * What people change, where no operation of the API does it. A change by an operation has the
 * operationId as its name, except `charge.settle`, which is one of two that `acceptPayment` does.
 * Names are stable: they are stored, and programs read them in the CSV. If you add one, add its
 * words to `src/web/dashboard/action-texts.ts`.
 */
const OWN_ACTIONS = [
  'approval.change-limit',
  'bank.connect',
  'bank.disconnect',
  'bank.reconcile',
  'charge.sell-at-counter',
  'charge.send-mail',
  'charge.settle',
  'charge.settle-by-rule',
  'company.change-message',
  'company.create',
  'company.pin-version',
  'company.resume',
  'company.suspend',
  'company.move',
  'company.update',
  'file.download',
  'invitation.cancel',
  'invitation.resend',
  'key.create',
  'key.revoke',
  'key.rotate',
  'member.change-role',
  'member.invite',
  'member.join',
  'member.remove',
  'note.add',
  'note.delete',
  'payer.erase',
  'payer.export',
  'sandbox.reset',
  'withdrawal.approve',
  'withdrawal.complete',
  'withdrawal.fail',
  'withdrawal.reject',
  ...INSTALLATION_ACTIONS,
] as const
export type OwnAction = (typeof OWN_ACTIONS)[number]

const RECORD_TYPES = [
  'bank',
  'charge',
  'clock',
  'company',
  'customer',
  'delivery',
  'dispute',
  'invitation',
  'key',
  'payment',
  'person',
  'plan',
  'link',
  'product',
  'recipient',
  'refund',
  'static-code',
  'subscription',
  'subscription-link',
  'webhook',
  'withdrawal',
] as const
export type RecordType = (typeof RECORD_TYPES)[number]

/** The record that is changed, by the id that clients and pages show. */
export type Changed = { type: RecordType; id: string }

/** What else is worth knowing: names of fields, amounts in cents, a role. No personal data. */
export type Details = Record<string, string | number | boolean | string[]>

/** A change, before it is known whose it is. */
export type Change = {
  action: OwnAction | (string & {})
  record?: Changed | null
  details?: Details | null
}

/** An entry of the log. */
export type Entry = {
  companyId: Uuid
  /** Newer entries have greater ids. */
  id: Uuid
  at: Date
  author: Author
  action: string
  record: Changed | null
  details: Details | null
}
