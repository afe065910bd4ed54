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
import type { Language } from '../../lib/language.ts'
import { Problem } from '../../lib/problems.ts'
import { backTo } from '../dashboard/form-parts.ts'
import { card, doneNotice, moment, notice, pill } from '../dashboard/parts.ts'
import { problemText } from '../dashboard/problem-texts.ts'
import { findSignedIn, hasConfirmed } from '../dashboard/signed-in.ts'
import { DASHBOARD } from '../dashboard/texts.ts'
import type { SignedIn } from '../dashboard/visit.ts'
import { fieldsOf } from '../forms.ts'
import { type Html, html } from '../html.ts'
import type { Site } from '../site.ts'
import { addressOf, newPasswordField } from './parts.ts'
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
  const body = html`${backTo('/dashboard', texts.companies)}<section class="card"><h1>${texts.title}</h1>
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

/** The first that occurs names the browser, because many name others too. */
const BROWSERS: [part: RegExp, name: string][] = [
  [/\bEdgA?\/|\bEdgiOS\//, 'Edge'],
  [/\bOPR\/|\bOpera\b/, 'Opera'],
  [/\bSamsungBrowser\//, 'Samsung Internet'],
  [/\bFirefox\/|\bFxiOS\//, 'Firefox'],
  [/\bChrome\/|\bCriOS\/|\bHeadlessChrome\//, 'Chrome'],
  [/\bSafari\//, 'Safari'],
]

const SYSTEMS: [part: RegExp, name: string][] = [
  [/\biPhone\b/, 'iPhone'],
  [/\biPad\b/, 'iPad'],
  [/\bAndroid\b/, 'Android'],
  [/\bWindows\b/, 'Windows'],
  [/\bCrOS\b/, 'ChromeOS'],
  [/\bMac OS X\b|\bMacintosh\b/, 'Mac'],
  [/\bLinux\b/, 'Linux'],
]

const nameIn = (text: string, names: [RegExp, string][]): string | null =>
  names.find(([part]) => part.test(text))?.[1] ?? null

/** A browser and its system in words, from what it says about itself. */
export function deviceOf(userAgent: string, language: Language): string {
  const { unknown, on } = ACCOUNT_PAGE[language].device
  const [browser, system] = [nameIn(userAgent, BROWSERS), nameIn(userAgent, SYSTEMS)]
  return browser && system ? on(browser, system) : (browser ?? system ?? unknown)
}

const pt = {
  title: 'Minha conta',
  profile: 'Seus dados',
  name: 'Nome',
  nameWrong: 'Informe o seu nome, com até 255 caracteres.',
  email: 'E-mail',
  emailText: 'É com ele que você entra. Para usar outro, peça um novo convite.',
  language: 'Idioma',
  languages: { pt: 'Português', en: 'English' } satisfies Record<Language, string>,
  save: 'Salvar',
  password: 'Senha',
  passwordText: 'Ao trocar a senha, você sai de todos os outros dispositivos.',
  noPassword: 'Você ainda não tem uma senha. Crie uma para entrar sem depender de um link.',
  present: 'Senha atual',
  presentWrong: 'A senha atual não confere.',
  next: 'Nova senha',
  changePassword: 'Trocar senha',
  createPassword: 'Criar senha',
  confirmFirst: 'Confirmar que sou eu',
  security: 'Segurança',
  securityText: 'Aplicativo autenticador, chaves de acesso (passkeys) e códigos de recuperação.',
  openSecurity: 'Abrir segurança',
  sessions: 'Onde você está conectado',
  sessionsText: 'Não reconhece um dispositivo? Encerre o acesso e troque a senha.',
  here: 'este dispositivo',
  seen: 'Último acesso em',
  since: 'Entrou em',
  address: 'Endereço IP',
  end: 'Encerrar',
  endOthers: 'Encerrar todos os outros',
  companies: 'Painel',
  done: {
    profile: 'Dados salvos.',
    password: 'Senha salva. Os outros dispositivos foram desconectados.',
    ended: 'Acesso encerrado.',
    'ended-others': 'Todos os outros acessos foram encerrados.',
  },
  device: {
    unknown: 'Dispositivo desconhecido',
    on: (browser: string, system: string) => `${browser} em ${system}`,
  },
}

type Texts = typeof pt

const en: Texts = {
  title: 'My account',
  profile: 'Your details',
  name: 'Name',
  nameWrong: 'Enter your name, with at most 255 characters.',
  email: 'Email',
  emailText: 'You sign in with it. To use another one, ask for a new invitation.',
  language: 'Language',
  languages: { pt: 'Português', en: 'English' },
  save: 'Save',
  password: 'Password',
  passwordText: 'If you change it, you are signed out everywhere else.',
  noPassword: 'You have no password yet. Create one to sign in without a link.',
  present: 'Present password',
  presentWrong: 'The present password is wrong.',
  next: 'New password',
  changePassword: 'Change the password',
  createPassword: 'Create a password',
  confirmFirst: 'Confirm that it is me',
  security: 'Security',
  securityText: 'Authenticator app, passkeys and recovery codes.',
  openSecurity: 'Open security',
  sessions: 'Where you are signed in',
  sessionsText: 'You do not know a device? End its session and change your password.',
  here: 'this device',
  seen: 'Last access',
  since: 'Signed in',
  address: 'IP address',
  end: 'End',
  endOthers: 'End all others',
  companies: 'Dashboard',
  done: {
    profile: 'Saved.',
    password: 'The password is saved. Your other devices were signed out.',
    ended: 'The session has ended.',
    'ended-others': 'All other sessions have ended.',
  },
  device: { unknown: 'Unknown device', on: (browser, system) => `${browser} on ${system}` },
}

const ACCOUNT_PAGE: Record<Language, Texts> = { pt, en }
