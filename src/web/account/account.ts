import type { FastifyInstance, FastifyReply } from 'fastify'
import { choosePassword, requireName } from '../../core/people/commands.ts'
import { hashPassword, type PasswordFault, passwordFault } from '../../core/people/passwords.ts'
import { MAX_NAME, type Session } from '../../core/people/rules.ts'
import { tryPassword } from '../../core/people/sign-in.ts'
import {
  deleteSessionOf,
  deleteSessions,
  listSessions,
  setLanguage,
  setName,
} from '../../core/people/store.ts'
import { idOfSuffix, suffixOf } from '../../lib/ids.ts'
import { Problem } from '../../lib/problems.ts'
import { card, doneNotice, moment, notice, pill } from '../dashboard/parts.ts'
import { problemText } from '../dashboard/problem-texts.ts'
import { findSignedIn, hasConfirmed } from '../dashboard/signed-in.ts'
import { DASHBOARD } from '../dashboard/texts.ts'
import type { SignedIn } from '../dashboard/visit.ts'
import { fieldsOf } from '../forms.ts'
import { type Html, html } from '../html.ts'
import type { Site } from '../site.ts'
import { ACCOUNT_PAGE } from './account-texts.ts'
import { addressOf, newPasswordField } from './parts.ts'
import { deviceOf } from './sessions-device.ts'
import { sendAccountPage } from './shell.ts'
import { ACCOUNT } from './texts.ts'

const ROOT = '/account'

type Act = (visitor: SignedIn) => Promise<FastifyReply>

/** The page of whoever is signed in: their name, their password, where they are signed in. */
export function registerOwnAccount(scope: FastifyInstance, site: Site): void {
  const route = (method: 'GET' | 'POST', path: string, act: Act) =>
    scope.route({
      method,
      url: `${ROOT}${path}`,
      exposeHeadRoute: false,
      async handler(request, reply) {
        const visitor = await findSignedIn(site, request, reply)
        return visitor ? act(visitor) : reply.redirect(`/sign-in?next=${ROOT}`, 303)
      },
    })
  route('GET', '', (visitor) => show(visitor))
  route('POST', '/profile', saveProfile)
  route('POST', '/password', savePassword)
  route('POST', '/sessions/end', endOne)
  route('POST', '/sessions/end-others', endOthers)
  // If a form was refused, the browser shows its path, so a reload of it must give a page.
  for (const path of ['/profile', '/password', '/sessions/end', '/sessions/end-others']) {
    scope.get(`${ROOT}${path}`, (_request, reply) => reply.redirect(ROOT, 303))
  }
}

const done = ({ reply }: SignedIn, what: string): FastifyReply =>
  reply.redirect(`${ROOT}?done=${what}`, 303)

/** What is wrong with a form that was sent. */
type Faults = {
  status?: number
  name?: string
  /** The sentence below the present password. */
  present?: string
  next?: PasswordFault
  /** The sentence above everything. */
  notice?: string
}

async function show(visitor: SignedIn, faults: Faults = {}): Promise<FastifyReply> {
  const { site, person, language } = visitor
  const texts = ACCOUNT_PAGE[language]
  const sessions = await listSessions(site.app.db.control, person.id)
  const security = html`<p class="soft">${texts.securityText}</p><div class="actions"><a class="button quiet slim" href="/account/security">${texts.openSecurity}</a></div>`
  const body = html`<section class="card"><p class="small"><a href="/dashboard">${texts.companies}</a></p><h1>${texts.title}</h1>
${doneNotice(visitor, texts.done)}${faults.notice && notice(faults.notice, 'bad')}
<h2>${texts.profile}</h2>${profileForm(visitor, faults)}</section>
${card(texts.password, passwordForm(visitor, faults))}
${card(texts.security, security)}
${card(texts.sessions, sessionList(visitor, sessions))}`
  return sendAccountPage(visitor, { title: texts.title, body, status: faults.status ?? 200 })
}

function profileForm({ person, language, form, formOf }: SignedIn, { name }: Faults): Html {
  const texts = ACCOUNT_PAGE[language]
  const languages = (['pt', 'en'] as const).map((value) => ({
    value,
    label: texts.languages[value],
  }))
  const fields = fieldsOf([
    {
      name: 'name',
      label: texts.name,
      value: name ? (form.name ?? '') : person.name,
      fault: name ?? null,
      wrong: texts.nameWrong,
      autocomplete: 'name',
      maxlength: MAX_NAME,
    },
    {
      name: 'language',
      label: texts.language,
      value: language,
      fault: null,
      wrong: '',
      options: languages,
    },
  ])
  const content = html`${fields}<p><strong>${texts.email}</strong><br>${person.email}<br><span class="hint">${texts.emailText}</span></p>
<div class="actions"><button class="button slim">${texts.save}</button></div>`
  return formOf(`${ROOT}/profile`, content, { kind: 'card-form' })
}

/** Whoever has no password yet proves who they are in another way before they choose one. */
function passwordForm(visitor: SignedIn, { present, next }: Faults): Html {
  const { person, language, formOf } = visitor
  const texts = ACCOUNT_PAGE[language]
  const hasPassword = person.password !== null
  if (!hasPassword && !hasConfirmed(visitor)) {
    return html`<p>${texts.noPassword}</p><div class="actions"><a class="button quiet slim" href="/account/confirm?next=${ROOT}">${texts.confirmFirst}</a></div>`
  }
  const old = {
    name: 'present',
    label: texts.present,
    value: '',
    fault: present ?? null,
    wrong: ACCOUNT[language].fill.password,
    type: 'password',
    autocomplete: 'current-password',
    maxlength: 256,
  } as const
  const chosen = newPasswordField(language, next ?? null, texts.next)
  const content = html`<p class="soft">${hasPassword ? texts.passwordText : texts.noPassword}</p>
<input type="hidden" name="email" value="${person.email}" autocomplete="username">
${fieldsOf(hasPassword ? [old, chosen] : [chosen])}
<div class="actions"><button class="button slim">${hasPassword ? texts.changePassword : texts.createPassword}</button></div>`
  return formOf(`${ROOT}/password`, content, { kind: 'card-form' })
}

function sessionList(visitor: SignedIn, sessions: Session[]): Html {
  const { session: own, language, formOf } = visitor
  const texts = ACCOUNT_PAGE[language]
  const row = ({ id, device, address, lastSeenAt, createdAt }: Session) => {
    const name = deviceOf(device, language)
    const end =
      id === own.id
        ? pill(texts.here, 'good')
        : formOf(
            `${ROOT}/sessions/end`,
            html`<button class="button quiet slim" name="session" value="${suffixOf(id)}">${texts.end}<span class="hide"> ${name}</span></button>`,
          )
    return html`<li class="row"><span><strong>${name}</strong><span class="soft small">${texts.seen} ${moment(lastSeenAt)}</span><span class="soft small">${texts.since} ${moment(createdAt)} · ${texts.address} ${address}</span></span>${end}</li>`
  }
  const others =
    sessions.length > 1 &&
    formOf(
      `${ROOT}/sessions/end-others`,
      html`<div class="actions"><button class="button quiet slim">${texts.endOthers}</button></div>`,
    )
  return html`<p class="soft">${texts.sessionsText}</p><ul class="rows">${sessions.map(row)}</ul>${others}`
}

async function saveProfile(visitor: SignedIn): Promise<FastifyReply> {
  const { site, person, form } = visitor
  const { db, systemClock } = site.app
  const now = systemClock.now()
  const language = form.language === 'en' ? 'en' : 'pt'
  try {
    const name = requireName(form.name ?? '')
    await setName(db.control, person.id, name, now)
    await setLanguage(db.control, person.id, language, now)
    return done(visitor, 'profile')
  } catch (error) {
    if (!(error instanceof Problem)) throw error
    const { nameWrong } = ACCOUNT_PAGE[visitor.language]
    const notice = DASHBOARD[visitor.language].check
    return show(visitor, { status: error.status, name: nameWrong, notice })
  }
}

async function savePassword(visitor: SignedIn): Promise<FastifyReply> {
  const { site, person, session, request, form, reply } = visitor
  const { app } = site
  const { present = '', password = '' } = form
  if (person.password === null && !hasConfirmed(visitor)) {
    return reply.redirect(`/account/confirm?next=${ROOT}`, 303)
  }
  const next = passwordFault(password, [person.email, person.name])
  if (next) return show(visitor, { status: 400, next })
  if (person.password !== null) {
    const fault = await checkPresent(visitor, present)
    if (fault) return show(visitor, fault)
  }
  const hashed = await hashPassword(app, addressOf(request), password)
  await app.db.control.transaction(async (tx) => {
    await choosePassword(tx, app, person, hashed, app.systemClock.now(), session.id)
    await visitor.recordOwn(tx, 'password.change')
  })
  return done(visitor, 'password')
}

async function checkPresent(
  { site, person, request, language }: SignedIn,
  password: string,
): Promise<Faults | null> {
  try {
    const { email } = person
    const found = await tryPassword(site.app, { email, password }, addressOf(request))
    return found ? null : { status: 422, present: ACCOUNT_PAGE[language].presentWrong }
  } catch (error) {
    if (!(error instanceof Problem)) throw error
    return { status: error.status, notice: problemText(error.code, language) }
  }
}

async function endOne(visitor: SignedIn): Promise<FastifyReply> {
  const { site, person, form } = visitor
  const id = idOfSuffix(form.session ?? '')
  if (id) {
    await site.app.db.control.transaction(async (tx) => {
      await deleteSessionOf(tx, person.id, id)
      await visitor.recordOwn(tx, 'session.end')
    })
  }
  return done(visitor, 'ended')
}

async function endOthers(visitor: SignedIn): Promise<FastifyReply> {
  const { site, person, session } = visitor
  await site.app.db.control.transaction(async (tx) => {
    await deleteSessions(tx, person.id, session.id)
    await visitor.recordOwn(tx, 'session.end')
  })
  return done(visitor, 'ended-others')
}
