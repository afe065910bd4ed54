import { waitUntilApplied } from '../../core/companies/announce.ts'
import { createKey, revokeKey } from '../../core/companies/commands.ts'
import { SCOPES, type Scope } from '../../core/companies/rules.ts'
import { type ApiKey, findKey, listKeysAfter } from '../../core/companies/store.ts'
import { isKeyOfMoney, mailNewKey } from '../../core/people/owner-mails.ts'
import { idOfSuffix, suffixOf } from '../../lib/ids.ts'
import { invalid, problem } from '../../lib/problems.ts'
import { boxesOf, fieldsOf } from '../forms.ts'
import { type Html, html } from '../html.ts'
import { icon } from '../layout.ts'
import { requireFewAccessChanges } from './access-changes.ts'
import { commitOnce } from './commit-once.ts'
import { copyable, developerTabs, KEY_ROLES, sendForDevelopers } from './developers.ts'
import { type FormFault, tryForm } from './form-faults.ts'
import { KEYS } from './keys-texts.ts'
import {
  type Column,
  card,
  doneNotice,
  heading,
  moment,
  nothing,
  notice,
  pager,
  pill,
  table,
} from './parts.ts'
import type { DashboardRoute, Visit } from './visit.ts'

const PAGE_SIZE = 50
const MAX_NAME = 255

const urlOf = (visit: Visit, { id }: Pick<ApiKey, 'id'>, action: string): string =>
  visit.url(`/developers/keys/${suffixOf(id)}/${action}`)

async function list(visit: Visit) {
  const { app, company, language, query } = visit
  const texts = KEYS[language]
  const after = idOfSuffix(query.after ?? '')
  const found = await listKeysAfter(app.db, company.id, { limit: PAGE_SIZE + 1, after })
  const keys = found.slice(0, PAGE_SIZE)
  const next = found.length > PAGE_SIZE ? suffixOf(keys.at(-1)!.id) : null
  const create = html`<a class="button slim" href="${visit.url('/developers/keys/new')}">${icon('plus')}${texts.create}</a>`
  const list =
    keys.length > 0 ? table(texts.list, columnsOf(visit), keys) : nothing(language, texts.none)
  const body = html`${heading(texts.title, create)}${developerTabs(visit, 'keys')}
${doneNotice(visit, { revoked: texts.wasRevoked, shown: texts.wasShown })}
${card(null, list)}
${pager(visit, next)}`
  return sendForDevelopers(visit, { title: texts.title, body })
}

function columnsOf(visit: Visit): Column<ApiKey>[] {
  const texts = KEYS[visit.language]
  const actions = (key: ApiKey) =>
    html`<span class="links">${mayMake(visit, key.scopes) && html`<a href="${urlOf(visit, key, 'rotate')}">${texts.rotate}<span class="hide"> ${key.name}</span></a>`}<a href="${urlOf(visit, key, 'revoke')}">${texts.revoke}<span class="hide"> ${key.name}</span></a></span>`
  return [
    { title: texts.name, kind: 'main', of: ({ name }) => name },
    { title: texts.scopes, of: ({ scopes }) => scopesInWords(visit, scopes) },
    {
      title: texts.lastUsed,
      of: ({ lastUsedAt }) => (lastUsedAt ? moment(lastUsedAt) : texts.never),
    },
    { title: texts.created, of: ({ createdAt }) => moment(createdAt) },
    {
      title: texts.state,
      of: ({ revokedAt }) =>
        revokedAt
          ? html`${pill(texts.revoked, 'calm')} <span class="small soft">${moment(revokedAt)}</span>`
          : pill(texts.active, 'good'),
    },
    { title: texts.actions, of: (key) => (key.revokedAt ? null : actions(key)) },
  ]
}

function scopesInWords({ language }: Visit, scopes: readonly Scope[]): Html {
  const { all, words } = KEYS[language]
  if (SCOPES.every((scope) => scopes.includes(scope))) return html`${all}`
  const known = SCOPES.filter((scope) => scopes.includes(scope))
  return html`<ul class="plain-list small">${known.map((scope) => html`<li>${words[scope]}</li>`)}</ul>`
}

/** Nobody makes a key that can do more than they can. */
const mayMake = ({ scopes: own }: Visit, scopes: readonly Scope[]): boolean =>
  scopes.every((scope) => own.includes(scope))

type Wanted = { name: string; scopes: Scope[] }

const readWanted = ({ form }: Visit): Wanted => ({
  name: (form.name ?? '').trim(),
  scopes: SCOPES.filter((scope) => form[scope] !== undefined),
})

function requireRight(visit: Visit, { name, scopes }: Wanted): void {
  const faults = [
    ...(name === '' || name.length > MAX_NAME ? [`name: 1 to ${MAX_NAME} characters`] : []),
    ...(scopes.length === 0 || !mayMake(visit, scopes)
      ? ['scopes: at least one, and only those that you have']
      : []),
  ]
  const [first, ...others] = faults
  if (first) throw invalid(first, ...others)
}

/** The fewest with which a key can collect. Whoever needs more says so. */
const USUAL: Scope[] = ['payments:read', 'payments:write']

/** The form for a new key. At first only what every shop needs is checked. */
function showForm(visit: Visit, wanted: Wanted, fault: FormFault | null) {
  const { language, scopes } = visit
  const texts = KEYS[language]
  const boxes = scopes.map((scope) => ({
    name: scope,
    label: texts.words[scope],
    note: scope,
    isChecked: wanted.scopes.includes(scope),
  }))
  const content = html`${fieldsOf([
    {
      name: 'name',
      label: texts.name,
      value: wanted.name,
      fault: fault?.isWrong('name') ? texts.nameWrong : null,
      wrong: texts.nameWrong,
      hint: texts.nameHint,
      autocomplete: 'off',
      maxlength: MAX_NAME,
    },
  ])}
${boxesOf({
  name: 'scopes',
  title: texts.scopes,
  hint: texts.scopesHint,
  fault: fault?.isWrong('scopes') ? texts.scopesWrong : null,
  boxes,
})}
<div class="actions"><button class="button slim">${texts.create}</button><a class="button quiet slim" href="${visit.url('/developers/keys')}">${texts.back}</a></div>`
  const body = html`${heading(texts.create)}${developerTabs(visit, 'keys')}
${fault?.notice(language)}
${card(null, visit.formOf(visit.url('/developers/keys/new'), content, { kind: 'card-form' }))}`
  const status = fault?.problem.status ?? 200
  return sendForDevelopers(visit, { title: texts.create, body, status })
}

const newForm = (visit: Visit) => showForm(visit, { name: '', scopes: USUAL }, null)

async function create(visit: Visit) {
  const wanted = readWanted(visit)
  const { fault, done } = await tryForm(async () => {
    requireRight(visit, wanted)
    return make(visit, wanted, 'key.create')
  })
  return fault ? showForm(visit, wanted, fault) : showKey(visit, done, null)
}

/** Makes a key and gives its text. Null if the form has made it before: it is stored nowhere. */
async function make(
  visit: Visit,
  wanted: Wanted,
  action: 'key.create' | 'key.rotate',
): Promise<string | null> {
  const { app, company, person } = visit
  if (isKeyOfMoney(company, wanted.scopes)) await requireFewAccessChanges(app, company.id)
  const made: { text: string | null } = { text: null }
  await commitOnce(visit, wanted, async (tx) => {
    const { id, text } = await createKey(tx, app.vault, company, wanted, app.clock.now())
    const { name, scopes } = wanted
    await mailNewKey(tx, app.vault, company, wanted, person.name, app.systemClock.now())
    await visit.record(tx, action, { type: 'key', id }, { name, scopes })
    made.text = text
    return { id }
  })
  return made.text
}

/** The only page that ever shows the key. If its form is sent again, it does not. */
function showKey(visit: Visit, text: string | null, former: ApiKey | null) {
  if (text === null) return visit.redirect(ALL, 'shown')
  const texts = KEYS[visit.language]
  const revoke =
    former &&
    html`<p>${texts.rotated}</p><a class="button quiet slim" href="${urlOf(visit, former, 'revoke')}">${texts.revokeOld}</a>`
  const body = html`${heading(texts.newKey)}${developerTabs(visit, 'keys')}
${card(
  null,
  html`${notice(texts.shownOnce, 'warn')}${copyable(text, texts.copy, visit)}<p class="soft">${texts.keepSafe}</p>${revoke}
<div class="actions"><a class="button slim" href="${visit.url('/developers/keys')}">${texts.done}</a></div>`,
)}`
  return sendForDevelopers(visit, { title: texts.newKey, body })
}

/** The key that the URL names, if it still works. */
async function requireKey({ app, company, params }: Visit): Promise<ApiKey> {
  const id = idOfSuffix(params.id ?? '')
  const key = id && (await findKey(app.db, company.id, id))
  if (!key || key.revokedAt) throw problem('route_not_found')
  return key
}

type Question = { title: string; text: string; action: 'rotate' | 'revoke'; label: string }

/** Asks before a key is rotated or revoked. */
function ask(visit: Visit, key: ApiKey, { title, text, action, label }: Question) {
  const texts = KEYS[visit.language]
  const content = html`<p>${text}</p>${scopesInWords(visit, key.scopes)}
<div class="actions"><button class="button slim">${label}</button><a class="button quiet slim" href="${visit.url('/developers/keys')}">${texts.keep}</a></div>`
  const body = html`${heading(title)}${developerTabs(visit, 'keys')}
${card(null, visit.formOf(urlOf(visit, key, action), content, { kind: 'card-form' }))}`
  return sendForDevelopers(visit, { title, body })
}

async function askToRotate(visit: Visit) {
  const key = await requireKey(visit)
  if (!mayMake(visit, key.scopes)) return refuseToRotate(visit)
  const { rotateTitle, rotateText: text, rotate: label } = KEYS[visit.language]
  return ask(visit, key, { title: rotateTitle(key.name), text, action: 'rotate', label })
}

function refuseToRotate(visit: Visit) {
  const { title, tooMuch } = KEYS[visit.language]
  const body = html`${heading(title)}${developerTabs(visit, 'keys')}${notice(tooMuch, 'bad')}`
  return sendForDevelopers(visit, { title, body, status: 403 })
}

async function rotate(visit: Visit) {
  const key = await requireKey(visit)
  if (!mayMake(visit, key.scopes)) return refuseToRotate(visit)
  const text = await make(visit, { name: key.name, scopes: key.scopes }, 'key.rotate')
  return showKey(visit, text, key)
}

async function askToRevoke(visit: Visit) {
  const key = await requireKey(visit)
  const { revokeTitle, revokeText: text, revoke: label } = KEYS[visit.language]
  return ask(visit, key, { title: revokeTitle(key.name), text, action: 'revoke', label })
}

async function revoke(visit: Visit) {
  const { app, company, params } = visit
  const id = idOfSuffix(params.id ?? '')
  const key = id && (await findKey(app.db, company.id, id))
  if (!key) throw problem('route_not_found')
  if (!key.revokedAt) {
    await app.db.transaction(async (tx) => {
      await revokeKey(tx, company.id, key.id, app.clock.now())
      await visit.record(tx, 'key.revoke', { type: 'key', id: key.id }, { name: key.name })
    })
    // After the answer no server may accept the key.
    await waitUntilApplied(app.db)
  }
  return visit.redirect('/developers/keys', 'revoked')
}

const ALL = '/developers/keys'
/** Whoever makes keys has just proved who they are. A key may move money. */
const MAKES = { needs: KEY_ROLES, confirmed: true, movesMoney: true } as const
const REVOKES = { needs: KEY_ROLES, confirmed: true, needsFactor: true } as const

export const keysRoutes: DashboardRoute[] = [
  { method: 'GET', path: ALL, needs: KEY_ROLES, handle: list },
  { ...MAKES, method: 'GET', path: `${ALL}/new`, handle: newForm },
  { ...MAKES, method: 'POST', path: `${ALL}/new`, handle: create },
  { ...MAKES, method: 'GET', path: `${ALL}/:id/rotate`, handle: askToRotate },
  { ...MAKES, method: 'POST', path: `${ALL}/:id/rotate`, handle: rotate },
  { ...REVOKES, method: 'GET', path: `${ALL}/:id/revoke`, handle: askToRevoke },
  { ...REVOKES, method: 'POST', path: `${ALL}/:id/revoke`, handle: revoke },
]
