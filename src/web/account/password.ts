import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { recordForPerson } from '../../core/people/activity.ts'
import { choosePassword, mailNewPassword } from '../../core/people/commands.ts'
import { LINK_MS, type PersonLink, useLink } from '../../core/people/links.ts'
import { hashPassword, type PasswordFault, passwordFault } from '../../core/people/passwords.ts'
import { findPerson } from '../../core/people/store.ts'
import { describeError } from '../../lib/log.ts'
import { authorOf } from '../dashboard/signed-in.ts'
import { html } from '../html.ts'
import { languageOf } from '../layout.ts'
import type { Form, Site } from '../site.ts'
import { continueSignIn } from './factor.ts'
import {
  addressOf,
  emailField,
  ended,
  formCard,
  formFields,
  newPasswordField,
  openForm,
  sendOpenPage,
  submit,
} from './parts.ts'
import { ACCOUNT } from './texts.ts'

/** Mails that one address may ask for. */
const MAILS = { perSecond: 1 / 60, burst: 10 }

/** Where somebody asks for a mail to choose a new password. */
export function registerForgottenPassword(scope: FastifyInstance, site: Site): void {
  const { app } = site
  const mails =
    app.config.rateLimit && app.limits.rate('password mails', MAILS.perSecond, MAILS.burst)
  scope.get('/password', (request, reply) => ask(site, request, reply))
  scope.post('/password', async (request, reply) => {
    const { email = '' } = (request.body ?? {}) as Form
    const isAllowed = !mails || (await mails.take(addressOf(request))) === 0
    // The answer does not wait for this, so that its time says nothing about the e-mail.
    if (isAllowed) {
      mailNewPassword(app, email).catch((error) =>
        app.log.error(describeError(error), 'a mail for a new password was not queued'),
      )
    }
    return confirm(site, request, reply)
  })
}

function ask(site: Site, request: FastifyRequest, reply: FastifyReply): FastifyReply {
  const language = languageOf(request)
  const { title, text, act, back } = ACCOUNT[language].forgotten
  const form = openForm(
    '/password',
    html`${formFields([emailField(language, '', null)])}${submit(act)}`,
  )
  const body = formCard(title, html`<p>${text}</p>${form}<p><a href="/sign-in">${back}</a></p>`)
  return sendOpenPage(site, request, reply, { title, language, body, sameSiteReferrer: true })
}

/** Says the same, whether somebody has the e-mail or not. */
function confirm(site: Site, request: FastifyRequest, reply: FastifyReply): FastifyReply {
  const language = languageOf(request)
  const { sent: title, sentText, back } = ACCOUNT[language].forgotten
  const body = formCard(
    title,
    html`<p>${sentText(LINK_MS.password / 60_000)}</p><p><a href="/sign-in">${back}</a></p>`,
  )
  return sendOpenPage(site, request, reply, { title, language, body, sameSiteReferrer: true })
}

/** The page of the link in the mail. */
export function showChoice(
  site: Site,
  request: FastifyRequest,
  reply: FastifyReply,
  { email }: PersonLink,
  fault: PasswordFault | null = null,
): FastifyReply {
  const language = languageOf(request)
  const { title, text, act } = ACCOUNT[language].choose
  const form = openForm(
    request.url,
    html`${formFields([newPasswordField(language, fault)])}${submit(act)}`,
  )
  const body = formCard(title, html`<p>${text(email)}</p>${form}`)
  const status = fault ? { status: 400 } : {}
  return sendOpenPage(site, request, reply, { title, language, body, ...status })
}

/** Stores the password that was chosen, and signs in. */
export async function choose(
  site: Site,
  request: FastifyRequest,
  reply: FastifyReply,
  link: PersonLink,
): Promise<FastifyReply> {
  const { app } = site
  const { password = '' } = (request.body ?? {}) as Form
  const person = await findPerson(app.db.control, link.personId!)
  if (!person) return ended(site, request, reply, 'password')
  const fault = passwordFault(password, [person.email, person.name])
  if (fault) return showChoice(site, request, reply, link, fault)
  const hashed = await hashPassword(app, addressOf(request), password)
  const now = app.systemClock.now()
  const isDone = await app.db.control.transaction(async (tx) => {
    if (!(await useLink(tx, link, now))) return false
    await choosePassword(tx, app, person, hashed, now)
    await recordForPerson(tx, app, person.id, authorOf(person, request), 'password.reset')
    return true
  })
  if (!isDone) return ended(site, request, reply, 'password')
  return continueSignIn(site, request, reply, person, undefined, true)
}
