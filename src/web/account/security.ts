import type { FastifyInstance, FastifyReply } from 'fastify'
import type { OwnAction } from '../../core/activity/rules.ts'
import { mailSignInLink } from '../../core/people/commands.ts'
import { MAX_PASSKEY_NAME, readNewPasskey } from '../../core/people/passkeys.ts'
import {
  type Added,
  addPasskey,
  addTotp,
  listFactors,
  openTotpSecret,
  prepareTotp,
  removePasskey,
  removeTotp,
  renewRecoveryCodes,
} from '../../core/people/second-factors.ts'
import type { ControlTx } from '../../db/database.ts'
import { requireFewAccessChanges } from '../dashboard/access-changes.ts'
import { findSignedIn, hasConfirmed } from '../dashboard/signed-in.ts'
import type { SignedIn } from '../dashboard/visit.ts'
import { html } from '../html.ts'
import { icon } from '../layout.ts'
import type { Site } from '../site.ts'
import { FACTOR } from './factor-texts.ts'
import { type Guesses, minutesOf } from './guesses.ts'
import { answerOf, relyingParty } from './passkey.ts'
import { appPage, codesPage, securityPage } from './security-pages.ts'
import { SECURITY } from './security-texts.ts'
import { sendAccountPage } from './shell.ts'

const ROOT = '/account/security'

type Act = (visitor: SignedIn) => Promise<FastifyReply>

/** Where people set up what they prove besides their password. */
export function registerSecurity(scope: FastifyInstance, site: Site, guesses: Guesses): void {
  const route = (method: 'GET' | 'POST', path: string, act: Act, needsConfirmed = true) =>
    scope.route({
      method,
      url: `${ROOT}${path}`,
      exposeHeadRoute: false,
      async handler(request, reply) {
        const visitor = await findSignedIn(site, request, reply)
        if (!visitor) return reply.redirect('/sign-in', 303)
        if (!needsConfirmed || hasConfirmed(visitor)) return act(visitor)
        return reply.redirect(`/account/confirm?next=${ROOT}`, 303)
      },
    })
  route('GET', '', (visitor) => show(visitor), false)
  route('POST', '/link', mailLink, false)
  route('POST', '/app', beginApp)
  route('GET', '/app', (visitor) => showApp(visitor))
  route('POST', '/app/code', (visitor) => finishApp(visitor, guesses))
  route('POST', '/app/remove', dropApp)
  route('POST', '/passkeys', newPasskey)
  route('POST', '/passkeys/remove', dropPasskey)
  route('POST', '/recovery-codes', newCodes)
  // If a form was refused, the browser shows its path, so a reload of it must give a page.
  for (const path of ['/link', '/app/code', '/passkeys', '/recovery-codes']) {
    scope.get(`${ROOT}${path}`, (_request, reply) => reply.redirect(ROOT, 303))
  }
}

const done = ({ reply }: SignedIn, what: string): FastifyReply =>
  reply.redirect(`${ROOT}?done=${what}`, 303)

/** Changes how the person signs in, and adds that to the activity log if it was changed. */
async function changing<T>(
  { site, person, recordOwn }: SignedIn,
  action: OwnAction,
  change: (tx: ControlTx) => Promise<T>,
): Promise<T> {
  await requireFewAccessChanges(site.app, person.id)
  return site.app.db.control.transaction(async (tx) => {
    const changed = await change(tx)
    if (changed) await recordOwn(tx, action)
    return changed
  })
}

/** The page of all factors. `fault` is what is wrong with the passkey that was to be added. */
async function show(visitor: SignedIn, fault: string | null = null): Promise<FastifyReply> {
  const factors = await listFactors(visitor.site.app.db.control, visitor.person)
  return sendAccountPage(visitor, await securityPage(visitor, factors, fault))
}

/** Mails a link after which a factor counts at once. */
async function mailLink(visitor: SignedIn): Promise<FastifyReply> {
  const { site, person, language } = visitor
  await mailSignInLink(site.app, person, ROOT)
  const { title, sent } = SECURITY[language].link
  const body = html`<section class="card result">${icon('mail')}<h1>${title}</h1><p>${sent(person.email)}</p></section>`
  return sendAccountPage(visitor, { title, body })
}

async function beginApp({ site, person, reply }: SignedIn): Promise<FastifyReply> {
  await prepareTotp(site.app, person)
  return reply.redirect(`${ROOT}/app`, 303)
}

type Fault = { status: number; text: string }

async function showApp(visitor: SignedIn, fault: Fault | null = null): Promise<FastifyReply> {
  const { person, site, reply } = visitor
  if (person.totpSecret === null || person.totpConfirmedAt !== null)
    return reply.redirect(ROOT, 303)
  const secret = openTotpSecret(site.app.vault, person, person.totpSecret)
  const page = appPage(visitor, secret, fault?.text ?? null)
  return sendAccountPage(visitor, { ...page, status: fault?.status ?? 200 })
}

async function finishApp(visitor: SignedIn, guesses: Guesses): Promise<FastifyReply> {
  const { site, person, session, form, language } = visitor
  const wait_s = await guesses.take('totp', person)
  if (wait_s > 0) {
    return showApp(visitor, { status: 429, text: FACTOR[language].wait(minutesOf(wait_s)) })
  }
  const added = await changing(visitor, 'two-factor.enable', (tx) =>
    addTotp(tx, site.app, person, session, form.code ?? ''),
  )
  if (!added) return showApp(visitor, { status: 422, text: SECURITY[language].app.wrong })
  return afterAdding(visitor, added, 'app')
}

/** Recovery codes are shown in the answer to the form, because they are not stored. */
const afterAdding = (visitor: SignedIn, { recoveryCodes }: Added, what: string): FastifyReply =>
  recoveryCodes
    ? sendAccountPage(visitor, codesPage(visitor, recoveryCodes, what))
    : done(visitor, what)

async function dropApp(visitor: SignedIn): Promise<FastifyReply> {
  const { site, person } = visitor
  await changing(visitor, 'two-factor.disable', (tx) => removeTotp(tx, site.app, person))
  return done(visitor, 'app-removed')
}

async function newPasskey(visitor: SignedIn): Promise<FastifyReply> {
  const { site, person, session, form, language, request } = visitor
  const texts = SECURITY[language].passkeys
  const name = (form.name ?? '').trim()
  if (name === '' || [...name].length > MAX_PASSKEY_NAME) return show(visitor, texts.nameFault)
  const rp = relyingParty(site, request)
  const made =
    rp && (await readNewPasskey(site.app, rp, person.id, session.id, answerOf(form), name))
  const added =
    made &&
    (await changing(visitor, 'passkey.add', (tx) =>
      addPasskey(tx, site.app, session, made.passkey, made.challenge),
    ))
  return added ? afterAdding(visitor, added, 'passkey') : show(visitor, texts.refused)
}

async function dropPasskey(visitor: SignedIn): Promise<FastifyReply> {
  const { site, person, form } = visitor
  await changing(visitor, 'passkey.remove', (tx) =>
    removePasskey(tx, site.app, person, form.id ?? ''),
  )
  return done(visitor, 'passkey-removed')
}

async function newCodes(visitor: SignedIn): Promise<FastifyReply> {
  const { site, person } = visitor
  const codes = await changing(visitor, 'recovery-codes.create', (tx) =>
    renewRecoveryCodes(tx, site.app, person),
  )
  if (!codes) return visitor.reply.redirect(ROOT, 303)
  return sendAccountPage(visitor, codesPage(visitor, codes, null))
}
