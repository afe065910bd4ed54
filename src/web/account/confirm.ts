import type { FastifyInstance, FastifyReply } from 'fastify'
import { mailNewPassword } from '../../core/people/commands.ts'
import { hasFactor, listFactors } from '../../core/people/second-factors.ts'
import { confirmSession } from '../../core/people/second-factors-store.ts'
import { tryPassword } from '../../core/people/sign-in.ts'
import type { Language } from '../../lib/language.ts'
import { tryForm } from '../dashboard/form-parts.ts'
import { notice } from '../dashboard/parts.ts'
import { findSignedIn, safePath } from '../dashboard/signed-in.ts'
import type { SignedIn } from '../dashboard/visit.ts'
import { isLocalHost } from '../developer.ts'
import { fieldsOf } from '../forms.ts'
import { type Html, html } from '../html.ts'
import { icon } from '../layout.ts'
import type { Site } from '../site.ts'
import { checkFactor, type Fault, factorForms } from './factor.ts'
import { FACTOR } from './factor-texts.ts'
import { type Guesses, minutesOf } from './guesses.ts'
import { addressOf, presentPasswordField } from './parts.ts'
import { PASSKEY_SCRIPT } from './passkey.ts'
import { sendAccountPage } from './shell.ts'
import { ACCOUNT } from './texts.ts'

const PATH = '/account/confirm'

/** Where somebody who is signed in proves again who they are. */
export function registerConfirm(scope: FastifyInstance, site: Site, guesses: Guesses): void {
  scope.get(PATH, async (request, reply) => {
    const visitor = await findSignedIn(site, request, reply)
    if (!visitor) return reply.redirect('/sign-in', 303)
    return show(visitor, safePath(visitor.query.next), null)
  })
  scope.post(PATH, async (request, reply) => {
    const visitor = await findSignedIn(site, request, reply)
    if (!visitor) return reply.redirect('/sign-in', 303)
    const next = safePath(visitor.form.next)
    if (visitor.form.mail !== undefined) return mailPassword(visitor)
    const proof = await check(visitor, guesses)
    if ('text' in proof) return show(visitor, next, proof)
    const now = site.app.systemClock.now()
    await confirmSession(site.app.db.control, visitor.session.id, proof.isSecondFactor, now)
    return reply.redirect(next, 303)
  })
}

/** What was proved, or why not. */
type Proof = { isSecondFactor: boolean } | Fault

/** How a person can prove it here. */
type Ways = {
  /** Whoever has a second factor gives it again: a stolen password is no proof then. */
  factor: boolean
  password: boolean
  /** In local mode a click is enough, because whoever uses the computer reads the mails too. */
  click: boolean
  /** By a password that comes by mail, because a browser that was left signed in is no proof. */
  mail: boolean
}

async function waysOf({ person, site, request }: SignedIn): Promise<Ways> {
  const factor = hasFactor(await listFactors(site.app.db.control, person))
  const password = !factor && person.password !== null
  const hasNone = !factor && !password
  const isLocal = isLocalHost(site, request)
  return { factor, password, click: hasNone && isLocal, mail: hasNone && !isLocal }
}

const useOf = ({ session }: SignedIn): string => `confirm:${session.id}`

async function check(visitor: SignedIn, guesses: Guesses): Promise<Proof> {
  const { site, person, request, form, language } = visitor
  const ways = await waysOf(visitor)
  if (ways.factor || form.response !== undefined) {
    const fault = await checkFactor(site, request, guesses, person, useOf(visitor), form)
    return fault ?? { isSecondFactor: true }
  }
  if (ways.password) return checkPassword(visitor)
  return ways.click ? { isSecondFactor: false } : { status: 422, text: CONFIRM[language].wrong }
}

/** Guesses are counted together with those at sign-in. */
async function checkPassword({ site, person, request, form, language }: SignedIn): Promise<Proof> {
  const { email } = person
  const { fault, done } = await tryForm(() =>
    tryPassword(site.app, { email, password: form.password ?? '' }, addressOf(request)),
  )
  if (done) return { isSecondFactor: false }
  if (!fault) return { status: 422, text: CONFIRM[language].wrongPassword }
  const { status, headers } = fault.problem
  const wait_s = Number(headers['Retry-After'] ?? 0)
  return status === 429
    ? { status, text: FACTOR[language].wait(minutesOf(wait_s)) }
    : { status, text: ACCOUNT[language].signIn.busy }
}

async function show(visitor: SignedIn, next: string, fault: Fault | null): Promise<FastifyReply> {
  const { site, person, request, language, formOf } = visitor
  const texts = CONFIRM[language]
  const ways = await waysOf(visitor)
  const hidden = html`<input type="hidden" name="next" value="${next}">`
  const way = (content: Html) => formOf(PATH, html`${hidden}${content}`, { kind: 'card-form' })
  const body = html`<section class="card">
<h1>${texts.title}</h1>
<p class="soft">${texts.intro}</p>
${fault && notice(fault.text, 'bad')}
${ways.password && way(passwordFields(visitor))}
${ways.factor && (await factorForms(site, request, person, useOf(visitor), texts.continue, way))}
${ways.click && way(html`<p>${texts.local}</p><button class="button">${texts.continue}</button>`)}
${ways.mail && way(html`<p>${texts.mail}</p><button class="button" name="mail" value="yes">${texts.mailLink}</button>`)}
<p class="small"><a href="/dashboard">${texts.cancel}</a></p>
</section>`
  const status = fault?.status ?? 200
  return sendAccountPage(visitor, { title: texts.title, body, scripts: [PASSKEY_SCRIPT], status })
}

function passwordFields({ language, person }: SignedIn): Html {
  const { continue: act } = CONFIRM[language]
  return html`<input type="text" class="hide" value="${person.email}" autocomplete="username" tabindex="-1" aria-hidden="true" readonly>
${fieldsOf([presentPasswordField(language, null)])}<button class="button">${act}</button>
<p class="small"><a href="/password">${ACCOUNT[language].signIn.forgotten}</a></p>`
}

/** Mails a link to choose a password. The session ends when the password is chosen. */
async function mailPassword(visitor: SignedIn): Promise<FastifyReply> {
  const { site, person, language } = visitor
  const { title, sent } = CONFIRM[language]
  await mailNewPassword(site.app, person.email)
  const body = html`<section class="card result">${icon('mail')}<h1>${title}</h1><p>${sent}</p></section>`
  return sendAccountPage(visitor, { title, body })
}

const pt = {
  title: 'Confirme que é você',
  intro: 'Esta ação é protegida. Depois da confirmação, ela fica liberada por 5 minutos.',
  continue: 'Continuar',
  cancel: 'Voltar ao painel',
  wrong: 'Não foi possível confirmar. Tente de novo.',
  wrongPassword: 'A senha não confere. Tente de novo.',
  sent: 'Enviamos um link ao seu e-mail. Abra-o em até 30 minutos para criar uma senha.',
  local:
    'Você entrou por um link e ainda não tem senha. Neste computador, em modo local, basta continuar.',
  mail: 'Você ainda não tem senha nem chave de acesso. Enviaremos um link ao seu e-mail para criar uma senha. Depois, entre de novo com ela.',
  mailLink: 'Enviar link para criar uma senha',
}

type Texts = typeof pt

const en: Texts = {
  title: 'Confirm it is you',
  intro: 'This action is protected. Once you confirm, it is allowed for 5 minutes.',
  continue: 'Continue',
  cancel: 'Back to the dashboard',
  wrong: 'This could not be confirmed. Try again.',
  wrongPassword: 'The password is wrong. Try again.',
  sent: 'We e-mailed you a link. Open it within 30 minutes to create a password.',
  local:
    'You signed in by a link and have no password yet. On this computer, in local mode, just continue.',
  mail: 'You have neither a password nor a passkey yet. We will e-mail you a link to create a password. Then sign in with it.',
  mailLink: 'Send a link to create a password',
}

const CONFIRM: Record<Language, Texts> = { pt, en }
