import type { FastifyReply } from 'fastify'
import { requireNoDifference } from '../../core/audits/store.ts'
import { askForPage, findConnected, removeCallbacks } from '../../core/banks/check.ts'
import {
  connectBank,
  disconnectBank,
  guardBankChange,
  type NewBank,
} from '../../core/banks/commands.ts'
import {
  type BankFault,
  connectFault,
  type GivenBank,
  needsAppKey,
  needsSecret,
  readGiven,
  withCredentials,
} from '../../core/banks/given.ts'
import { changeCompany } from '../../core/companies/commands.ts'
import type { BankChange } from '../../core/letters/members.ts'
import type { ControlTx, Tx } from '../../db/database.ts'
import { inSlot } from '../../lib/fair-queue.ts'
import type { Uuid } from '../../lib/ids.ts'
import { problem } from '../../lib/problems.ts'
import type { Profile } from '../../provider/bacen/profile.ts'
import { findProfile, PROFILE_NAMES } from '../../provider/bacen/profiles.ts'
import { weighCertificate } from '../../provider/bacen/weigh-certificate.ts'
import { CHECKOUT } from '../checkout-texts.ts'
import { type Field, fieldsOf } from '../forms.ts'
import { type Html, html } from '../html.ts'
import type { Form } from '../site.ts'
import { BANK_CHANGES } from './bank-change-texts.ts'
import { BANK_FORM, type FieldName, type WebRule } from './bank-form-texts.ts'
import { commitOnce } from './commit-once.ts'
import {
  backLink,
  confirmation,
  type FormFault,
  formButtons,
  textOf,
  tryForm,
} from './form-parts.ts'
import { card, notice } from './parts.ts'
import { sendSettings } from './settings.ts'
import { DASHBOARD } from './texts.ts'
import { fileOf } from './uploads.ts'
import type { DashboardRoute, Visit } from './visit.ts'

const BANK = '/settings/bank'
const CONNECT = `${BANK}/connect`
const RENEW = `${BANK}/renew`
const DISCONNECT = `${BANK}/disconnect`

/** A certificate or a key is a few kilobytes. */
const MAX_FILE_BYTES = 64 * 1024
/** A larger form is refused before it is read. */
const MAX_FORM_BYTES = 256 * 1024
const CERTIFICATE_WAIT_MS = 15_000

/** What of a form is shown again. Secrets and files are not. */
const SHOWN = [
  'profile',
  'pixKey',
  'clientId',
  'account',
  'branch',
  'accountType',
  'payouts',
  'payoutKey',
] as const

const typedIn = (form: Form): Form =>
  Object.fromEntries(SHOWN.map((name) => [name, form[name] ?? '']))

const NO_FAULTS: Faults = new Map()

type Shown = { typed: Form; faults: Faults; fault?: FormFault | null }

function showConnect(visit: Visit, { typed, faults, fault = null }: Shown): FastifyReply {
  const texts = BANK_CHANGES[visit.language]
  const form = visit.formOf(
    visit.url(CONNECT),
    html`${connectFields(visit, typed, faults)}${formButtons(texts.connect)}`,
    { kind: 'card-form', hasFile: true },
  )
  return sendForm(visit, texts.connectTitle, texts.connectText, form, faults, fault)
}

function sendForm(
  visit: Visit,
  title: string,
  intro: string,
  form: ReturnType<Visit['formOf']>,
  faults: Faults,
  fault: FormFault | null,
): FastifyReply {
  const texts = BANK_CHANGES[visit.language]
  const wrong =
    faults.size > 0 && notice(`${DASHBOARD[visit.language].check} ${texts.again}`, 'bad')
  const back = backLink(visit, BANK, texts.back)
  const body = html`${faults.size > 0 ? wrong : fault?.notice(visit.language)}
${card(null, html`<p class="soft">${intro}</p>${form}`, 'narrow-card')}`
  const status = faults.size > 0 ? 400 : (fault?.problem.status ?? 200)
  return sendSettings(visit, '/bank', { title, back, body, status })
}

function startConnect(visit: Visit): FastifyReply {
  const { company } = visit
  if (company.mode !== 'live') return visit.redirect(BANK)
  const typed = { pixKey: company.pixKey, accountType: 'corrente', payouts: 'manual' }
  return showConnect(visit, { typed, faults: NO_FAULTS })
}

/** A file of the form, or null if none was chosen. */
function fileIn({ request }: Visit, name: 'certificate' | 'key'): Buffer | null {
  const file = fileOf(request, name)
  return file && file.length > 0 ? file : null
}

/** The secrets and files of a form. A passphrase may have spaces around it. */
const credentialsIn = (visit: Visit) => ({
  clientId: textOf(visit.form, 'clientId') ?? '',
  clientSecret: textOf(visit.form, 'clientSecret') ?? null,
  appKey: textOf(visit.form, 'appKey') ?? null,
  certificate: fileIn(visit, 'certificate'),
  key: fileIn(visit, 'key'),
  passphrase: visit.form.passphrase || null,
})

function givenIn(visit: Visit): GivenBank {
  const { form } = visit
  return {
    ...credentialsIn(visit),
    profile: OFFERED.find(({ name }) => name === form.profile) ?? null,
    ca: null,
    account: textOf(form, 'account') ?? null,
    branch: textOf(form, 'branch') ?? null,
    accountType: form.accountType ?? '',
    payouts: form.payouts ?? '',
    payoutKey: textOf(form, 'payoutKey') ?? null,
  }
}

/** The field where a fault of the certificate is shown. */
const FIELD_OF: Partial<Record<WebRule, FieldName>> = {
  'passphrase-missing': 'passphrase',
  'passphrase-wrong': 'passphrase',
  'other-key': 'key',
  'no-key': 'key',
  'damaged-key': 'key',
}

/** Reads what was given, with the end of its certificate, or all that is wrong with it. */
async function readBank(
  visit: Visit,
  given: GivenBank,
  pixKey: string,
): Promise<{ bank: NewBank; faults: null } | { bank: null; faults: Faults }> {
  const { bank, faults: broken } = readGiven(given)
  const faults = faultsOf(broken)
  if (!given.profile) faults.set('profile', 'profile')
  for (const name of ['certificate', 'key'] as const) {
    if ((given[name]?.length ?? 0) > MAX_FILE_BYTES) faults.set(name, 'file-large')
  }
  if (bank && connectFault({ mode: visit.company.mode, pixKey }, bank)) {
    faults.set('payoutKey', 'payout-key-missing')
  }
  if (!bank || faults.size > 0) return { bank: null, faults }
  const read = await readEnd(visit, bank.certificate)
  if ('endsAt' in read) return { bank: { ...bank, certificateEndsAt: read.endsAt }, faults: null }
  const field = FIELD_OF[read.fault] ?? 'certificate'
  return { bank: null, faults: new Map([[field, read.fault]]) }
}

async function readEnd(
  { app, company }: Visit,
  certificate: NewBank['certificate'],
): Promise<{ endsAt: Date } | { fault: WebRule }> {
  const tooMany = (wait_s: number) =>
    problem('rate_limited', undefined, { 'Retry-After': String(Math.ceil(wait_s)) })
  const { uploads } = app.bankPages
  const wait_s = uploads ? await uploads.take(company.id) : 0
  if (wait_s > 0) throw tooMany(wait_s)
  const late = () => tooMany(10)
  const { certificates } = app.bankPages
  const wait = { most_ms: CERTIFICATE_WAIT_MS, late }
  const read = await inSlot(certificates, company.id, wait, () => weighCertificate(certificate))
  if ('endsAt' in read && read.endsAt <= app.systemClock.now()) {
    return { fault: 'certificate-ended' }
  }
  return read
}

async function connect(visit: Visit): Promise<FastifyReply> {
  const { company, form } = visit
  if (company.mode !== 'live') return visit.redirect(BANK)
  const typed = typedIn(form)
  const pixKey = textOf(form, 'pixKey') ?? ''
  const { fault, done } = await tryForm(() => readBank(visit, givenIn(visit), pixKey))
  if (fault) return showConnect(visit, { typed, faults: NO_FAULTS, fault })
  if (!done.bank) return showConnect(visit, { typed, faults: done.faults })
  const { bank } = done
  const { fault: refused } = await tryForm(() =>
    commitOnce(visit, wantedIn(visit), async (tx, control) => {
      await requireNoDifference(tx, company.id)
      await save(visit, tx, bank)
      if (pixKey !== company.pixKey) await changeKey(visit, tx, pixKey)
      const { payoutKey = null, profile } = bank
      await guardChange(visit, tx, control, { bank: profile.title, keys: { pixKey, payoutKey } })
      return {}
    }),
  )
  if (!refused) return visit.redirect(BANK, 'connected')
  if (!refused.isWrong('pixKey'))
    return showConnect(visit, { typed, faults: NO_FAULTS, fault: refused })
  const rule = refused.problem.message.includes('any more') ? 'pix-key-fixed' : 'pix-key'
  return showConnect(visit, { typed, faults: new Map([['pixKey', rule]]) })
}

/** What a form asks for. If it is sent again with other credentials, it asks for something else. */
function wantedIn(visit: Visit): object {
  const { certificate, key, ...rest } = credentialsIn(visit)
  const files = [certificate, key].map((file) => file?.toString('base64') ?? '')
  const credentials = visit.app.vault.first.fingerprint([...files, JSON.stringify(rest)])
  return { ...typedIn(visit.form), credentials: credentials.toString('base64') }
}

/** Stores a connection, instead of the expected one if that is given. */
async function save(visit: Visit, tx: Tx, bank: NewBank, expected?: Uuid): Promise<void> {
  const { app, company } = visit
  await connectBank(tx, app.vault, company.id, bank, app.systemClock.now(), expected)
  const record = { type: 'bank', id: bank.profile.name } as const
  await visit.record(tx, 'bank.connect', record, { payouts: bank.payouts })
}

/** An owner who has just proved who they are may say where money goes, as an operator may. */
async function changeKey(visit: Visit, tx: Tx, pixKey: string): Promise<void> {
  const { app, company } = visit
  await changeCompany(tx, app.vault, company.id, { pixKey }, 'operator', app.systemClock.now())
  const record = { type: 'company', id: company.id } as const
  await visit.record(tx, 'company.update', record, { fields: ['pixKey'] })
}

function guardChange(
  visit: Visit,
  tx: Tx,
  control: ControlTx,
  change: Omit<BankChange, 'by' | 'waitHours'>,
): Promise<void> {
  const { app, company, person } = visit
  const changed = { ...change, by: person.name, waitHours: app.config.destinationWaitHours }
  const now = app.systemClock.now()
  return guardBankChange(tx, control, app.vault, company, changed, person.id, now)
}

async function renew(visit: Visit, isSent: boolean): Promise<FastifyReply> {
  const { app, company, language, form } = visit
  const found = company.mode === 'live' ? await findConnected(app, company) : null
  if (!found) return visit.redirect(BANK)
  const { bank: record, connection } = found
  const texts = BANK_CHANGES[language]
  const show = (faults: Faults, fault: FormFault | null = null) => {
    const fields = renewFields(visit, typedIn(form), faults, connection.profile)
    const content = html`${fields}${formButtons(texts.renew)}`
    const options = { kind: 'card-form', hasFile: true }
    const shown = visit.formOf(visit.url(RENEW), content, options)
    const intro = texts.renewText(connection.profile.title)
    return sendForm(visit, texts.renewTitle, intro, shown, faults, fault)
  }
  if (!isSent) return show(NO_FAULTS)
  const given = withCredentials(connection, record, credentialsIn(visit))
  const { fault, done } = await tryForm(() => readBank(visit, given, company.pixKey))
  if (fault) return show(NO_FAULTS, fault)
  const { bank, faults } = done
  if (!bank) return show(faults)
  const { fault: refused } = await tryForm(() =>
    commitOnce(visit, wantedIn(visit), async (tx, control) => {
      // Another client id may be that of another account.
      const isOther = bank.clientId !== connection.clientId
      if (isOther) await requireNoDifference(tx, company.id)
      await save(visit, tx, bank, record.id)
      const keys = { pixKey: company.pixKey, payoutKey: record.payoutKey }
      if (isOther) await guardChange(visit, tx, control, { bank: bank.profile.title, keys })
      return {}
    }),
  )
  return refused ? show(NO_FAULTS, refused) : visit.redirect(BANK, 'renewed')
}

async function askToDisconnect(visit: Visit): Promise<FastifyReply> {
  const found = await findConnected(visit.app, visit.company)
  if (!found) return visit.redirect(BANK)
  return sendQuestion(visit, found.connection.profile.title)
}

function sendQuestion(visit: Visit, bank: string, fault: FormFault | null = null): FastifyReply {
  const texts = BANK_CHANGES[visit.language]
  const title = texts.disconnectTitle(bank)
  const question = confirmation(visit, {
    title,
    text: texts.disconnectText,
    action: DISCONNECT,
    button: texts.disconnect,
    back: BANK,
  })
  return sendSettings(visit, '/bank', { title, heading: null, fault, body: question })
}

async function disconnect(visit: Visit): Promise<FastifyReply> {
  const { app, company } = visit
  const found = await findConnected(app, company)
  if (!found) return visit.redirect(BANK)
  const { profile } = found.connection
  // What the bank has of us is removed only if the connection may go.
  const { fault } = await tryForm(() => requireNoDifference(app.db, company.id))
  if (fault) return sendQuestion(visit, profile.title, fault)
  const removed = await askForPage(app, company, () => removeCallbacks(app, company, found.bank))
  if (removed === 'running') return visit.redirect(BANK, 'running')
  const { fault: refused } = await tryForm(() =>
    commitOnce(visit, {}, async (tx, control) => {
      await requireNoDifference(tx, company.id)
      await disconnectBank(tx, company.id, found.bank.id)
      await visit.record(tx, 'bank.disconnect', { type: 'bank', id: profile.name })
      await guardChange(visit, tx, control, { bank: profile.title, keys: null })
      return {}
    }),
  )
  if (refused) return sendQuestion(visit, profile.title, refused)
  const isClean = removed !== 'late' && removed.answer === null
  return visit.redirect(BANK, isClean ? 'disconnected' : 'callbacks-left')
}

/** Whoever decides where the money goes has just proved it, with more than a password. */
const CHANGES = { needs: ['owner'], confirmed: true, movesMoney: true } as const

export const bankConnectRoutes: DashboardRoute[] = [
  { method: 'GET', path: CONNECT, ...CHANGES, handle: startConnect },
  { method: 'POST', path: CONNECT, ...CHANGES, bodyBytes: MAX_FORM_BYTES, handle: connect },
  { method: 'GET', path: RENEW, ...CHANGES, handle: (visit) => renew(visit, false) },
  {
    method: 'POST',
    path: RENEW,
    ...CHANGES,
    bodyBytes: MAX_FORM_BYTES,
    handle: (visit) => renew(visit, true),
  },
  { method: 'GET', path: DISCONNECT, ...CHANGES, handle: askToDisconnect },
  { method: 'POST', path: DISCONNECT, ...CHANGES, handle: disconnect },
]

/** What is wrong with a form, by field. */
type Faults = Map<FieldName, WebRule>

/**
 * The banks that an owner may choose. Test environments move no money, and another address could be
 * anything that this server reaches: both are left to the operator.
 */
const OFFERED: Profile[] = PROFILE_NAMES.filter((name) => !name.endsWith('-sandbox')).map(
  (name) => findProfile(name)!,
)

/** The first fault of each field counts. */
const faultsOf = (faults: BankFault[]): Faults =>
  new Map(faults.toReversed().map(({ field, rule }) => [field as FieldName, rule]))

type Plan = Omit<Field, 'label' | 'value' | 'fault' | 'wrong' | 'hint' | 'optional'> & {
  name: FieldName
  isOptional?: boolean
}

const SECRET = { type: 'password', autocomplete: 'off', maxlength: 4096 } as const
const CERTIFICATE: Plan[] = [
  { name: 'certificate', accept: '.p12,.pfx,.pem,.crt,.cer,.der' },
  { name: 'key', accept: '.key,.pem', isOptional: true },
  { name: 'passphrase', ...SECRET, maxlength: 255, isOptional: true },
]

function show(visit: Visit, plans: Plan[], typed: Form, faults: Faults): Html {
  const { fields, rules } = BANK_FORM[visit.language]
  return fieldsOf(
    plans.map(({ name, isOptional, ...control }) => {
      const rule = faults.get(name)
      const { hint } = fields[name]
      return {
        ...control,
        name,
        label: fields[name].label,
        value: typed[name] ?? '',
        fault: rule ? rules[rule] : null,
        wrong: '',
        ...(hint ? { hint } : {}),
        ...(isOptional ? { optional: CHECKOUT[visit.language].optional } : {}),
      }
    }),
  )
}

const namesOf = (profiles: Profile[]): string => profiles.map(({ title }) => title).join(', ')

/** The form that connects a bank. Secrets and files are never sent back. */
function connectFields(visit: Visit, typed: Form, faults: Faults): Html {
  const texts = BANK_FORM[visit.language]
  const { groups } = texts
  const group = (title: string, note: string | null, plans: Plan[]) =>
    html`<fieldset class="group"><legend>${title}</legend>${note && html`<p class="soft small">${note}</p>`}${show(visit, plans, typed, faults)}</fieldset>`
  const banks = OFFERED.map(({ name, title }) => ({ value: name, label: title }))
  const types = Object.entries(texts.accountTypes)
  const senders = Object.entries(texts.payouts)
  return html`${group(groups.bank, null, [
    { name: 'profile', options: [{ value: '', label: texts.choose }, ...banks] },
    { name: 'pixKey', maxlength: 77, autocomplete: 'off' },
  ])}
${group(
  groups.access,
  texts.accessNote(
    namesOf(OFFERED.filter((bank) => !needsSecret(bank))),
    namesOf(OFFERED.filter(needsAppKey)),
  ),
  [
    { name: 'clientId', autocomplete: 'off' },
    { name: 'clientSecret', ...SECRET, isOptional: true },
    { name: 'appKey', ...SECRET, isOptional: true },
  ],
)}
${group(groups.certificate, texts.certificateNote, CERTIFICATE)}
${group(groups.account, texts.accountNote, [
  { name: 'branch', width: 'half', inputmode: 'numeric', maxlength: 4, isOptional: true },
  { name: 'account', width: 'half', maxlength: 24, isOptional: true },
  {
    name: 'accountType',
    options: types.map(([value, label]) => ({ value, label })),
  },
])}
${group(
  groups.payouts,
  texts.payoutsNote(namesOf(OFFERED.filter((bank) => bank.payouts !== null))),
  [
    { name: 'payouts', options: senders.map(([value, label]) => ({ value, label })) },
    { name: 'payoutKey', maxlength: 77, autocomplete: 'off', isOptional: true },
  ],
)}`
}

/** The form that gives new credentials to the bank that is connected. */
function renewFields(visit: Visit, typed: Form, faults: Faults, profile: Profile): Html {
  const texts = BANK_FORM[visit.language]
  const plans: Plan[] = [{ name: 'clientId', autocomplete: 'off', isOptional: true }]
  if (needsSecret(profile)) plans.push({ name: 'clientSecret', ...SECRET, isOptional: true })
  if (needsAppKey(profile)) plans.push({ name: 'appKey', ...SECRET, isOptional: true })
  return html`${show(visit, CERTIFICATE, typed, faults)}
<fieldset class="group"><legend>${texts.groups.access}</legend><p class="soft small">${texts.keepNote}</p>${show(visit, plans, typed, faults)}</fieldset>`
}
