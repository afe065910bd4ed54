import { waitUntilApplied } from '../../core/companies/announce.ts'
import { createKey, revokeKey } from '../../core/companies/commands.ts'
import { SCOPES, type Scope } from '../../core/companies/rules.ts'
import { type ApiKey, findKey, listKeysAfter } from '../../core/companies/store.ts'
import { isKeyOfMoney, mailNewKey } from '../../core/people/owner-mails.ts'
import { idOfSuffix, suffixOf } from '../../lib/ids.ts'
import type { Language } from '../../lib/language.ts'
import { invalid, problem } from '../../lib/problems.ts'
import { boxesOf, fieldsOf } from '../forms.ts'
import { type Html, html } from '../html.ts'
import { requireFewAccessChanges } from './access-changes.ts'
import { commitOnce } from './commit-once.ts'
import { copyable, KEY_ROLES, sendBelow, sendForDevelopers } from './developers.ts'
import { type FormFault, tryForm } from './form-parts.ts'
import { type Column, card, moment, nothing, notice, pager, pill, table } from './parts.ts'
import { makeLink, slimForm } from './record-pages.ts'
import type { DashboardRoute, Visit } from './visit.ts'

const ALL = '/developers/keys'
const PAGE_SIZE = 50
const MAX_NAME = 255

const urlOf = (visit: Visit, { id }: Pick<ApiKey, 'id'>, action: string): string =>
  visit.url(`${ALL}/${suffixOf(id)}/${action}`)

async function list(visit: Visit) {
  const { app, company, language, query } = visit
  const texts = KEYS[language]
  const after = idOfSuffix(query.after ?? '')
  const found = await listKeysAfter(app.db, company.id, { limit: PAGE_SIZE + 1, after })
  const keys = found.slice(0, PAGE_SIZE)
  const next = found.length > PAGE_SIZE ? suffixOf(keys.at(-1)!.id) : null
  const list = table(texts.list, columnsOf(visit), keys, nothing(language, texts.none))
  return sendForDevelopers(visit, 'keys', {
    title: texts.title,
    actions: makeLink(visit, `${ALL}/new`, texts.create),
    done: { revoked: texts.wasRevoked, shown: texts.wasShown },
    body: html`${card(null, list)}
${pager(visit, next)}`,
  })
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

export function scopesInWords(
  { language }: { language: Language },
  scopes: readonly Scope[],
): Html {
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

/** Enough to sell: payments, and the customers and products that they name. */
const USUAL: Scope[] = ['payments:read', 'payments:write', 'catalog:read', 'catalog:write']

/** The form for a new key. At first only what selling needs is checked. */
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
})}`
  const form = slimForm(visit, `${ALL}/new`, content, { label: texts.create })
  return sendBelow(visit, 'keys', { title: texts.create, fault, body: card(null, form) })
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
  await commitOnce(visit, wanted, async (tx, control) => {
    const { id, text } = await createKey(tx, app.vault, company, wanted, app.clock.now())
    const { name, scopes } = wanted
    await mailNewKey(tx, control, app.vault, company, wanted, person.name, app.systemClock.now())
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
  const body = card(
    null,
    html`${notice(texts.shownOnce, 'warn')}${copyable(text, texts.copy, visit)}<p class="soft">${texts.keepSafe}</p>${revoke}
<div class="actions"><a class="button slim" href="${visit.url(ALL)}">${texts.done}</a></div>`,
  )
  return sendBelow(visit, 'keys', { title: texts.newKey, body })
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
function ask(visit: Visit, { id, scopes }: ApiKey, { title, text, action, label }: Question) {
  const content = html`<p>${text}</p>${scopesInWords(visit, scopes)}`
  const form = slimForm(visit, `${ALL}/${suffixOf(id)}/${action}`, content, { label })
  return sendBelow(visit, 'keys', { title, body: card(null, form) })
}

async function askToRotate(visit: Visit) {
  const key = await requireKey(visit)
  if (!mayMake(visit, key.scopes)) return refuseToRotate(visit)
  const { rotateTitle, rotateText: text, rotate: label } = KEYS[visit.language]
  return ask(visit, key, { title: rotateTitle(key.name), text, action: 'rotate', label })
}

function refuseToRotate(visit: Visit) {
  const { title, tooMuch } = KEYS[visit.language]
  return sendBelow(visit, 'keys', { title, body: notice(tooMuch, 'bad'), status: 403 })
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
  return visit.redirect(ALL, 'revoked')
}

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

const pt = {
  title: 'Chaves de API',
  list: 'Chaves de API da empresa, da mais recente à mais antiga',
  create: 'Criar chave',
  none: 'Crie uma chave para que o seu sistema possa usar a API.',
  name: 'Nome',
  nameHint: 'Para reconhecer a chave depois, por exemplo: loja virtual.',
  nameWrong: 'Informe um nome de 1 a 255 caracteres.',
  scopes: 'O que a chave pode fazer',
  scopesHint: 'Marque só o necessário. Uma chave nunca pode mais do que a sua função.',
  scopesWrong: 'Marque ao menos uma permissão, entre as que a sua função tem.',
  all: 'Tudo',
  words: {
    'payments:read': 'Ver cobranças, pagamentos e assinaturas',
    'payments:write': 'Criar cobranças e assinaturas, devolver pagamentos',
    'catalog:read': 'Ver clientes e produtos',
    'catalog:write': 'Criar e alterar clientes e produtos',
    'webhooks:read': 'Ver webhooks e eventos',
    'webhooks:write': 'Criar e alterar webhooks',
    'balance:read': 'Ver saldo, extrato e saques',
    'balance:write': 'Solicitar e confirmar saques',
    'company:read': 'Ver os dados da empresa',
    'company:write': 'Alterar os dados da empresa',
  } satisfies Record<Scope, string>,
  lastUsed: 'Último uso',
  never: 'Nunca usada',
  created: 'Criada em',
  state: 'Situação',
  active: 'Ativa',
  revoked: 'Revogada',
  actions: 'Ações',
  rotate: 'Gerar nova chave',
  revoke: 'Revogar',
  newKey: 'Sua nova chave',
  shownOnce: 'Copie a chave agora: ela não será mostrada de novo.',
  keepSafe: 'Guarde-a como uma senha. Quem tem a chave age em nome da empresa.',
  done: 'Já copiei a chave',
  copy: 'a chave',
  rotateTitle: (name: string) => `Gerar nova chave no lugar de ${name}`,
  rotateText:
    'Criamos outra chave com o mesmo nome e as mesmas permissões. A atual continua funcionando até você revogá-la, para que nada pare enquanto você muda o seu sistema.',
  rotated:
    'A chave anterior continua funcionando. Revogue-a quando o seu sistema já usar a nova chave.',
  revokeOld: 'Revogar a chave anterior',
  tooMuch:
    'Esta chave pode mais do que a sua função. Peça a um responsável pela empresa que gere a nova.',
  revokeTitle: (name: string) => `Revogar a chave ${name}?`,
  revokeText:
    'Todo sistema que usa esta chave deixa de funcionar na hora. Não é possível desfazer.',
  wasRevoked: 'A chave foi revogada.',
  wasShown:
    'Este formulário já tinha criado a chave, e ela só é mostrada uma vez. Se você não a copiou, gere uma nova.',
}

type Texts = typeof pt

const en: Texts = {
  title: 'API keys',
  list: 'API keys of the company, newest first',
  create: 'Create a key',
  none: 'Create a key so that your system can use the API.',
  name: 'Name',
  nameHint: 'To recognize the key later, for example: online store.',
  nameWrong: 'Enter a name of 1 to 255 characters.',
  scopes: 'What the key may do',
  scopesHint: 'Check only what is needed. A key can never do more than your role.',
  scopesWrong: 'Check at least one permission, of those that your role has.',
  all: 'Everything',
  words: {
    'payments:read': 'See charges, payments and subscriptions',
    'payments:write': 'Create charges and subscriptions, refund payments',
    'catalog:read': 'See customers and products',
    'catalog:write': 'Create and change customers and products',
    'webhooks:read': 'See webhooks and events',
    'webhooks:write': 'Create and change webhooks',
    'balance:read': 'See balance, statement and withdrawals',
    'balance:write': 'Request and confirm withdrawals',
    'company:read': 'See the company',
    'company:write': 'Change the company',
  },
  lastUsed: 'Last used',
  never: 'Never used',
  created: 'Created',
  state: 'Status',
  active: 'Active',
  revoked: 'Revoked',
  actions: 'Actions',
  rotate: 'Generate new key',
  revoke: 'Revoke',
  newKey: 'Your new key',
  shownOnce: 'Copy the key now: it is not shown again.',
  keepSafe: 'Keep it like a password. Whoever has it acts for the company.',
  done: 'I have copied the key',
  copy: 'the key',
  rotateTitle: (name) => `Generate a new key in place of ${name}`,
  rotateText:
    'We create another key with the same name and permissions. The present one works until you revoke it, so that nothing stops while you change your system.',
  rotated: 'The former key still works. Revoke it when your system uses the new one.',
  revokeOld: 'Revoke the former key',
  tooMuch: 'This key can do more than your role. Ask an owner of the company to replace it.',
  revokeTitle: (name) => `Revoke the key ${name}?`,
  revokeText: 'Every system that uses this key stops working at once. This cannot be undone.',
  wasRevoked: 'The key is revoked.',
  wasShown:
    'This form had created the key already, and a key is shown only once. If you did not copy it, generate a new one.',
}

export const KEYS: Record<Language, Texts> = { pt, en }
