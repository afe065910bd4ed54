import type { FastifyInstance, FastifyReply } from 'fastify'
import { listFactors, useTotpCode } from '../../core/people/second-factors.ts'
import { confirmSession } from '../../core/people/second-factors-store.ts'
import { notice } from '../dashboard/parts.ts'
import { findSignedIn, safePath } from '../dashboard/signed-in.ts'
import type { SignedIn } from '../dashboard/visit.ts'
import { isLocalHost } from '../developer.ts'
import { fieldsOf } from '../forms.ts'
import { type Html, html } from '../html.ts'
import type { Site } from '../site.ts'
import { CONFIRM } from './confirm-texts.ts'
import { FACTOR } from './factor-texts.ts'
import { type Guesses, minutesOf } from './guesses.ts'
import { askHere, checkPasskey, PASSKEY_SCRIPT } from './passkey.ts'
import { PASSKEY } from './passkey-texts.ts'
import { sendAccountPage } from './shell.ts'

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
    const proof = await check(visitor, guesses)
    if ('text' in proof) return show(visitor, next, proof)
    const now = site.app.systemClock.now()
    await confirmSession(site.app.db, visitor.session.id, proof.isSecondFactor, now)
    return reply.redirect(next, 303)
  })
}

/** What was proved, or why not. */
type Fault = { status: number; text: string }
type Proof = { isSecondFactor: boolean } | Fault

/** How a person can prove it here, besides by a passkey. */
type Ways = {
  totp: boolean
  /** In local mode a click is enough, because whoever uses the computer reads the mails too. */
  click: boolean
  /** By a password that comes by mail, because a browser that was left signed in is no proof. */
  mail: boolean
}

function waysOf({ person, site, request }: SignedIn, hasPasskey: boolean): Ways {
  const totp = person.password === null && person.totpConfirmedAt !== null
  const hasNone = person.password === null && !hasPasskey && !totp
  const isLocal = isLocalHost(site, request)
  return { totp, click: hasNone && isLocal, mail: hasNone && !isLocal }
}

const useOf = ({ session }: SignedIn): string => `confirm:${session.id}`

async function check(visitor: SignedIn, guesses: Guesses): Promise<Proof> {
  const { site, person, request, form, language } = visitor
  const { passkeys } = await listFactors(site.app.db, person)
  const ways = waysOf(visitor, passkeys.length > 0)
  if (form.response !== undefined) {
    const isTheirs = (await checkPasskey(site, request, useOf(visitor), form)) === person.id
    return isTheirs ? { isSecondFactor: true } : { status: 422, text: PASSKEY[language].refused }
  }
  if (ways.totp) return checkCode(visitor, guesses)
  return ways.click ? { isSecondFactor: false } : { status: 422, text: CONFIRM[language].wrong }
}

async function checkCode({ site, person, form, language }: SignedIn, guesses: Guesses) {
  const texts = FACTOR[language]
  const wait_s = await guesses.take('totp', person)
  if (wait_s > 0) return { status: 429, text: texts.wait(minutesOf(wait_s)) }
  const isRight = await useTotpCode(site.app, person, form.code ?? '')
  return isRight ? { isSecondFactor: true } : { status: 422, text: texts.wrongCode }
}

async function show(visitor: SignedIn, next: string, fault: Fault | null): Promise<FastifyReply> {
  const { site, person, request, language, formOf } = visitor
  const texts = CONFIRM[language]
  const { passkeys } = await listFactors(site.app.db, person)
  const passkey = await askHere(site, request, useOf(visitor), passkeys, language)
  const ways = waysOf(visitor, passkey !== null)
  const hidden = html`<input type="hidden" name="next" value="${next}">`
  const way = (content: Html) => formOf(PATH, html`${hidden}${content}`, { kind: 'card-form' })
  const body = html`<section class="card">
<h1>${texts.title}</h1>
<p class="soft">${texts.intro}</p>
${fault && notice(fault.text, 'bad')}
${ways.totp && way(codeField(visitor))}
${passkey && way(passkey)}
${ways.click && way(html`<p>${texts.local}</p><button class="button">${texts.continue}</button>`)}
${ways.mail && html`<p>${texts.mail}</p><a class="button" href="/password">${texts.mailLink}</a>`}
<p class="small"><a href="/dashboard">${texts.cancel}</a></p>
</section>`
  const status = fault?.status ?? 200
  return sendAccountPage(visitor, { title: texts.title, body, scripts: [PASSKEY_SCRIPT], status })
}

function codeField({ language }: SignedIn): Html {
  const { code: label, codeHint: hint } = FACTOR[language]
  const given = { name: 'code', label, hint, value: '', fault: null, wrong: '', maxlength: 10 }
  return html`${fieldsOf([{ ...given, inputmode: 'numeric', autocomplete: 'one-time-code' }])}<button class="button">${CONFIRM[language].continue}</button>`
}
