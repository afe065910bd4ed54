import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { recordActivity } from '../../core/activity/record.ts'
import { findCompany } from '../../core/companies/store.ts'
import { requireName } from '../../core/people/commands.ts'
import { acceptAsNew, acceptInvitation } from '../../core/people/invitations.ts'
import { listInvitationsTo } from '../../core/people/link-store.ts'
import { invitationIdOf, type PersonLink } from '../../core/people/links.ts'
import { noteOperatorJoined } from '../../core/people/operators.ts'
import { hashPassword, type PasswordFault, passwordFault } from '../../core/people/passwords.ts'
import type { Person } from '../../core/people/rules.ts'
import { findPersonByEmail } from '../../core/people/store.ts'
import { placeOf } from '../../core/places/front.ts'
import type { ControlTx } from '../../db/database.ts'
import type { Language } from '../../lib/language.ts'
import { notice } from '../dashboard/parts.ts'
import { frameOf, homeOf } from '../dashboard/shell.ts'
import { authorOf, findSignedIn, peekSignedIn } from '../dashboard/signed-in.ts'
import { DASHBOARD } from '../dashboard/texts.ts'
import type { SignedIn } from '../dashboard/visit.ts'
import type { Field } from '../forms.ts'
import { type Html, html } from '../html.ts'
import { languageOf } from '../layout.ts'
import { facts } from '../parts.ts'
import type { Form, Site } from '../site.ts'
import { continueSignIn } from './factor.ts'
import {
  addressOf,
  ended,
  formCard,
  formFields,
  newPasswordField,
  openForm,
  sendOpenPage,
  submit,
} from './parts.ts'
import { ACCOUNT } from './texts.ts'

/** Where whoever is invited goes on. */
const homeAfter = ({ companyId }: PersonLink): string =>
  companyId === null ? '/operator' : homeOf(companyId)

async function nameOf({ app }: Site, link: PersonLink, language: Language): Promise<string> {
  const placed = link.companyId && (await placeOf(app, link.companyId))
  const company = placed && (await findCompany(placed.db, link.companyId!))
  return company ? company.name : ACCOUNT[language].invitation.installation
}

/** Adds to the activity logs that somebody has accepted an invitation. */
async function recordJoining(
  tx: ControlTx,
  { app }: Site,
  { companyId, role, makesOperator }: PersonLink,
  person: Person,
  request: FastifyRequest,
): Promise<void> {
  const author = authorOf(person, request)
  if (makesOperator && !person.isOperator) await noteOperatorJoined(tx, app, person, author)
  if (companyId === null) return
  const record = { type: 'person', id: person.id } as const
  const details = { role: role! }
  const change = { action: 'member.join', record, details }
  await recordActivity(await tx.at(companyId), companyId, author, change)
}

/** Accepts an invitation as somebody who is known. False: it no longer works. */
const acceptAs = (site: Site, request: FastifyRequest, link: PersonLink, person: Person) =>
  site.app.db.control.transaction(async (tx) => {
    const isDone = await acceptInvitation(tx, site.app, link, person, site.app.systemClock.now())
    if (isDone) await recordJoining(tx, site, link, person, request)
    return isDone
  })

const roleFacts = ({ role, email }: PersonLink, language: Language): Html => {
  const texts = ACCOUNT[language]
  const { operator, role: label } = texts.invitation
  return facts([
    [texts.email, email],
    [label, role ? DASHBOARD[language].roles[role] : operator],
  ])
}

type Typed = { name: string; isNameWrong: boolean; fault: PasswordFault | null }

const EMPTY: Typed = { name: '', isNameWrong: false, fault: null }

/** The page of an invitation: a form for somebody new, or a button for somebody who is known. */
export async function showInvitation(
  site: Site,
  request: FastifyRequest,
  reply: FastifyReply,
  link: PersonLink,
  typed: Typed = EMPTY,
): Promise<FastifyReply> {
  const language = languageOf(request, link.language)
  const texts = ACCOUNT[language].invitation
  const title = texts.title(await nameOf(site, link, language))
  const [known, visitor] = await Promise.all([
    findPersonByEmail(site.app.db.control, link.email),
    peekSignedIn(site, request),
  ])
  const isOther = visitor !== null && visitor.person.email !== link.email
  const isHere = known !== null && visitor?.person.id === known.id
  const content = known
    ? html`${!isHere && html`<p>${texts.known(link.email)}</p>`}${openForm(request.url, submit(isHere ? texts.act : texts.goOn))}`
    : html`<p>${texts.create}</p>${openForm(request.url, html`${formFields(newPersonFields(language, typed))}${submit(texts.act)}`)}`
  const body = formCard(
    title,
    html`${roleFacts(link, language)}${isOther && notice(texts.other(visitor.person.email), 'warn')}${content}`,
  )
  const status = typed.fault || typed.isNameWrong ? { status: 400 } : {}
  return sendOpenPage(site, request, reply, { title, language, body, ...status })
}

function newPersonFields(language: Language, { name, isNameWrong, fault }: Typed): Field[] {
  const texts = ACCOUNT[language]
  return [
    {
      name: 'name',
      label: texts.name,
      value: name,
      fault: isNameWrong ? texts.fill.name : null,
      wrong: texts.fill.name,
      autocomplete: 'name',
    },
    newPasswordField(language, fault, texts.password),
  ]
}

/** Accepts an invitation. Somebody who is known signs in first, if they are not. */
export async function accept(
  site: Site,
  request: FastifyRequest,
  reply: FastifyReply,
  link: PersonLink,
): Promise<FastifyReply> {
  const { db } = site.app
  const known = await findPersonByEmail(db.control, link.email)
  if (!known) return acceptNew(site, request, reply, link)
  const visitor = await peekSignedIn(site, request)
  if (visitor?.person.id !== known.id) {
    const next = new URLSearchParams({ next: WAITING })
    return reply.redirect(`${visitor ? '/sign-in/other' : '/sign-in'}?${next}`, 303)
  }
  if (!(await acceptAs(site, request, link, known)))
    return ended(site, request, reply, 'invitation')
  return reply.redirect(homeAfter(link), 303)
}

async function acceptNew(
  site: Site,
  request: FastifyRequest,
  reply: FastifyReply,
  link: PersonLink,
): Promise<FastifyReply> {
  const { app } = site
  const { name = '', password = '' } = (request.body ?? {}) as Form
  const company = await nameOf(site, link, link.language)
  const fault = passwordFault(password, [link.email, name, company])
  const isNameWrong = !isName(name)
  if (fault || isNameWrong) {
    return showInvitation(site, request, reply, link, { name, isNameWrong, fault })
  }
  const hashed = await hashPassword(app, addressOf(request), password)
  const now = app.systemClock.now()
  const person = await app.db.control.transaction(async (tx) => {
    const joined = await acceptAsNew(tx, app, link, { name, password: hashed }, now)
    if (joined) await recordJoining(tx, site, link, joined, request)
    return joined
  })
  if (!person) return ended(site, request, reply, 'invitation')
  return continueSignIn(site, request, reply, person, homeAfter(link), true)
}

function isName(name: string): boolean {
  try {
    return requireName(name) !== ''
  } catch {
    return false
  }
}

const WAITING = '/account/invitations'

/** The invitations that wait for whoever is signed in. */
export function registerWaitingInvitations(scope: FastifyInstance, site: Site): void {
  scope.get(WAITING, async (request, reply) => {
    const visitor = await findSignedIn(site, request, reply)
    if (!visitor) return reply.redirect(`/sign-in?next=${encodeURIComponent(WAITING)}`, 303)
    return showWaiting(visitor)
  })
  scope.post(WAITING, async (request, reply) => {
    const visitor = await findSignedIn(site, request, reply)
    if (!visitor) return reply.redirect('/sign-in', 303)
    const { db, systemClock } = site.app
    const { person, form } = visitor
    const links = await listInvitationsTo(db.control, person.email, systemClock.now())
    const link = links.find((one) => invitationIdOf(one) === form.invitation)
    const isDone = link && (await acceptAs(site, request, link, person))
    return link && isDone ? reply.redirect(homeAfter(link), 303) : showWaiting(visitor)
  })
}

async function showWaiting(visitor: SignedIn): Promise<FastifyReply> {
  const { site, person, language, request, reply } = visitor
  const texts = ACCOUNT[language].invitation
  const links = await listInvitationsTo(
    site.app.db.control,
    person.email,
    site.app.systemClock.now(),
  )
  const names = await Promise.all(links.map((link) => nameOf(site, link, language)))
  const row = (link: PersonLink, name: string) =>
    html`<li class="row"><span><strong>${name}</strong><span class="soft small">${link.role ? DASHBOARD[language].roles[link.role] : texts.operator}</span></span>${visitor.formOf(
      WAITING,
      html`<button class="button slim" name="invitation" value="${invitationIdOf(link)}">${texts.accept}</button>`,
    )}</li>`
  const rows = links.map((link, i) => row(link, names[i]!))
  const body = formCard(
    texts.waiting,
    links.length > 0 ? html`<ul class="rows">${rows}</ul>` : html`<p>${texts.none}</p>`,
  )
  return sendOpenPage(site, request, reply, {
    title: texts.waiting,
    body,
    ...frameOf(visitor),
    sameSiteReferrer: true,
  })
}
