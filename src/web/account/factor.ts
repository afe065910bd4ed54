import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import type { Person } from '../../core/people/rules.ts'
import { openState, sealState } from '../../core/people/sealed-state.ts'
import {
  hasFactor,
  listFactors,
  useRecoveryCode,
  useTotpCode,
} from '../../core/people/second-factors.ts'
import { countWrong } from '../../core/people/sign-in.ts'
import { findPerson } from '../../core/people/store.ts'
import type { Uuid } from '../../lib/ids.ts'
import type { Hashes } from '../../lib/vault.ts'
import { fieldsOf } from '../forms.ts'
import { type Html, html } from '../html.ts'
import { icon, sendPage } from '../layout.ts'
import type { Form, Site } from '../site.ts'
import { FACTOR } from './factor-texts.ts'
import { type Guesses, minutesOf } from './guesses.ts'
import { addressOf } from './parts.ts'
import { askHere, checkPasskey, PASSKEY_SCRIPT } from './passkey.ts'
import { PASSKEY } from './passkey-texts.ts'
import { startSessionIn } from './session-start.ts'

const PATH = '/sign-in/second-factor'
const PENDING_MS = 10 * 60_000

/** Somebody who has given a password, or a link from us, and not yet a second factor. */
type Pending = {
  personId: Uuid
  passwordHash: string
  next: string | undefined
  byLink: boolean
}

/**
 * Goes on after somebody has proved who they are by a password, or by a link that was mailed to
 * them or that the operator gave.
 */
export async function continueSignIn(
  site: Site,
  request: FastifyRequest,
  reply: FastifyReply,
  { id }: Pick<Person, 'id'>,
  next: string | undefined,
  byLink = false,
): Promise<FastifyReply> {
  const { app } = site
  // The password may just have been changed.
  const person = (await findPerson(app.db.control, id))!
  if (!hasFactor(await listFactors(app.db.control, person))) {
    return startSessionIn(site, request, reply, person, { hasSecondFactor: false, byLink }, next)
  }
  const expiresAt = new Date(app.systemClock.now().getTime() + PENDING_MS)
  const pending: Pending = {
    personId: person.id,
    passwordHash: hashOf(app.vault, person),
    next,
    byLink,
  }
  const sealed = sealState(app.vault, 'sign-in', pending, expiresAt)
  return ask(site, request, reply, person, sealed, null)
}

/** Another password ends what was begun with the one before. */
const hashOf = (by: Hashes, { password }: Person): string =>
  by.hashCode(password ?? '', 'pending sign-in').toString('base64url')

export type Fault = { status: number; text: string }

/** Asks for a second factor before a session begins. */
export function registerFactor(scope: FastifyInstance, site: Site, guesses: Guesses): void {
  scope.get(PATH, (_request, reply) => reply.redirect('/sign-in', 303))
  scope.post(PATH, async (request, reply) => {
    const form = request.body as Form
    const found = await findPending(site, form.pending ?? '')
    if (!found) return reply.redirect('/sign-in', 303)
    const { person, next, byLink } = found
    const fault = await checkFactor(site, request, guesses, person, useOf(person), form)
    if (fault) return ask(site, request, reply, person, form.pending!, fault)
    return startSessionIn(site, request, reply, person, { hasSecondFactor: true, byLink }, next)
  })
}

async function findPending(
  site: Site,
  sealed: string,
): Promise<(Pick<Pending, 'next' | 'byLink'> & { person: Person }) | null> {
  const { vault, systemClock, db } = site.app
  const pending = openState<Pending>(vault, 'sign-in', sealed, systemClock.now())
  const person = pending && (await findPerson(db.control, pending.personId))
  const isSame = vault.each.some((keys) => person && hashOf(keys, person) === pending?.passwordHash)
  return pending && person && isSame ? { ...pending, person } : null
}

const useOf = ({ id }: Person): string => `factor:${id}`

/** What is wrong with the second factor that was given for a use, or null. */
export async function checkFactor(
  site: Site,
  request: FastifyRequest,
  guesses: Guesses,
  person: Person,
  use: string,
  form: Form,
): Promise<Fault | null> {
  const texts = FACTOR[person.language]
  if (form.response !== undefined) {
    const isTheirs = (await checkPasskey(site, request, use, form)) === person.id
    return isTheirs ? null : { status: 422, text: PASSKEY[person.language].refused }
  }
  const isRecovery = form.recovery !== undefined
  const wait_s = await guesses.take(isRecovery ? 'recovery' : 'totp', person)
  if (wait_s > 0) return { status: 429, text: texts.wait(minutesOf(wait_s)) }
  const isRight = isRecovery
    ? await useRecoveryCode(site.app, person, form.recovery!)
    : await useTotpCode(site.app, person, form.code ?? '')
  if (isRight) return null
  const { db, systemClock } = site.app
  await countWrong(db.control, person.id, 'code', addressOf(request), systemClock.now())
  return { status: 422, text: isRecovery ? texts.wrongRecovery : texts.wrongCode }
}

async function ask(
  site: Site,
  request: FastifyRequest,
  reply: FastifyReply,
  person: Person,
  pending: string,
  fault: Fault | null,
): Promise<FastifyReply> {
  const { language } = person
  const texts = FACTOR[language]
  const formOf = (content: Html) =>
    html`<form class="card-form" method="post" action="${PATH}"><input type="hidden" name="pending" value="${pending}">${content}</form>`
  const body = html`<section class="card">
<h1>${texts.title}</h1>
<p class="soft">${texts.intro}</p>
${fault && html`<p class="notice bad" role="alert">${icon('alert')}<span>${fault.text}</span></p>`}
${await factorForms(site, request, person, useOf(person), texts.continue, formOf)}
<p class="small"><a href="/sign-in">${texts.again}</a></p>
</section>`
  return sendPage(request, reply, site.assets, {
    title: texts.title,
    language,
    body,
    status: fault?.status ?? 200,
    scripts: ['actions.js', PASSKEY_SCRIPT],
    styles: ['dashboard.css'],
    footer: html``,
    sameSiteReferrer: true,
  })
}

/** Forms for each second factor that the person can give here, for a use. */
export async function factorForms(
  site: Site,
  request: FastifyRequest,
  person: Person,
  use: string,
  act: string,
  formOf: (content: Html) => Html,
): Promise<Html> {
  const { language } = person
  const factors = await listFactors(site.app.db.control, person)
  const passkey = await askHere(site, request, use, factors.passkeys, language)
  return html`${factors.hasTotp && formOf(codeFields(person, act))}
${passkey && formOf(passkey)}
${factors.recoveryCodes > 0 && html`<details><summary>${FACTOR[language].lost}</summary>${formOf(recoveryFields(person))}</details>`}`
}

function codeFields({ language }: Person, act: string): Html {
  const { code: label, codeHint: hint } = FACTOR[language]
  const given = { name: 'code', label, hint, value: '', fault: null, wrong: '', maxlength: 10 }
  return html`${fieldsOf([{ ...given, inputmode: 'numeric', autocomplete: 'one-time-code' }])}<button class="button">${act}</button>`
}

function recoveryFields({ language }: Person): Html {
  const { recovery: label, recoveryHint: hint, useRecovery: act } = FACTOR[language]
  const given = { name: 'recovery', label, hint, value: '', fault: null, wrong: '', maxlength: 20 }
  return html`${fieldsOf([{ ...given, autocomplete: 'off' }])}<button class="button quiet">${act}</button>`
}
