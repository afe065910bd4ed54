import type { FastifyReply } from 'fastify'
import { changeRole, removeMember } from '../../core/people/commands.ts'
import { invite } from '../../core/people/invitations.ts'
import {
  deleteInvitation,
  findInvitation,
  listInvitations,
  type PersonLink,
} from '../../core/people/link-store.ts'
import { invitationIdOf } from '../../core/people/links.ts'
import { findMember, listMembers, type MemberOfCompany } from '../../core/people/member-store.ts'
import { mayOwnerReset, resetFactors } from '../../core/people/reset-factors.ts'
import { ROLES, type Role } from '../../core/people/rules.ts'
import { hasFactor, listFactors } from '../../core/people/second-factors.ts'
import { lockPerson } from '../../core/people/second-factors-store.ts'
import { findPerson } from '../../core/people/store.ts'
import { idOfSuffix, suffixOf } from '../../lib/ids.ts'
import { problem } from '../../lib/problems.ts'
import { fieldsOf } from '../forms.ts'
import { type Html, html } from '../html.ts'
import { facts } from '../parts.ts'
import { requireFewAccessChanges } from './access-changes.ts'
import { type FormFault, tryForm } from './form-parts.ts'
import { MEMBERS } from './members-texts.ts'
import { type Column, card, moment, notice, pill, table } from './parts.ts'
import { makeLink, type RecordPage, slimForm } from './record-pages.ts'
import { sendSettings } from './settings.ts'
import { DASHBOARD } from './texts.ts'
import type { DashboardRoute, Visit } from './visit.ts'

const MEMBERS_PATH = '/settings/members'

/** Whoever changes members has just proved who they are, by more than a password. */
const CHANGES = {
  needs: ['owner'] as const,
  confirmed: true,
  needsFactor: true,
} as const

const isRole = (text: string | undefined): text is Role => ROLES.includes(text as Role)

/** Sends a page about a member or an invitation. */
const sendMembers = (visit: Visit, page: RecordPage) =>
  sendSettings(visit, '/members', {
    ...page,
    back: html`<p class="small"><a href="${visit.url(MEMBERS_PATH)}">${MEMBERS[visit.language].back}</a></p>`,
  })

/** Every role as a choice, with what it may do. */
function roleChoices({ language }: Visit, chosen: Role): Html {
  const texts = MEMBERS[language]
  const { roles } = DASHBOARD[language]
  return html`<fieldset class="roles"><legend>${texts.role}</legend>${ROLES.map(
    (role) =>
      html`<label class="role"><input type="radio" name="role" value="${role}"${role === chosen && html` checked`} required><span><strong>${roles[role]}</strong><span class="soft small">${texts.can[role]}</span></span></label>`,
  )}</fieldset>`
}

const ALL = MEMBERS_PATH
const INVITE = `${ALL}/invite`
const INVITATION = `${ALL}/invitations`

async function list(visit: Visit): Promise<FastifyReply> {
  const { app, company, language } = visit
  const texts = MEMBERS[language]
  const [members, invitations] = await Promise.all([
    listMembers(app.db, company.id),
    listInvitations(app.db, company.id, app.systemClock.now()),
  ])
  return sendSettings(visit, '/members', {
    title: texts.title,
    actions: makeLink(visit, INVITE, texts.invite),
    done: texts.done,
    body: html`${card(null, html`<p class="soft">${texts.intro}</p>${table(texts.members, memberColumns(visit), members)}`)}
${
  invitations.length > 0 &&
  card(
    texts.waiting,
    html`<p class="soft">${texts.waitingText}</p>${table(texts.waiting, invitationColumns(visit), invitations)}`,
  )
}`,
  })
}

function memberColumns(visit: Visit): Column<MemberOfCompany>[] {
  const texts = MEMBERS[visit.language]
  const { roles } = DASHBOARD[visit.language]
  return [
    {
      title: texts.person,
      kind: 'main',
      of: ({ name, email, personId }) =>
        html`<strong>${name}</strong>${personId === visit.person.id && html` <span class="soft small">(${texts.you})</span>`}<br><span class="soft small">${email}</span>`,
    },
    { title: texts.role, of: ({ role }) => pill(roles[role], 'calm') },
    {
      title: texts.lastSeen,
      of: ({ lastSeenAt }) => (lastSeenAt ? moment(lastSeenAt) : texts.never),
    },
    {
      title: texts.actions,
      of: ({ personId, name }) =>
        html`<a href="${visit.url(`${ALL}/${suffixOf(personId)}`)}">${texts.change}<span class="hide"> ${name}</span></a>`,
    },
  ]
}

function invitationColumns(visit: Visit): Column<PersonLink>[] {
  const texts = MEMBERS[visit.language]
  const { roles } = DASHBOARD[visit.language]
  return [
    { title: texts.email, kind: 'main', of: ({ email }) => email },
    { title: texts.role, of: ({ role }) => role && pill(roles[role], 'calm') },
    { title: texts.sentAt, of: ({ createdAt }) => moment(createdAt) },
    { title: texts.until, of: ({ expiresAt }) => moment(expiresAt) },
    {
      title: texts.actions,
      of: (link) =>
        html`<a href="${visit.url(`${INVITATION}/${invitationIdOf(link)}`)}">${texts.manage}<span class="hide"> ${link.email}</span></a>`,
    },
  ]
}

type Typed = { email: string; role: Role }

function showInvite(visit: Visit, { email, role }: Typed, fault: FormFault | null): FastifyReply {
  const texts = MEMBERS[visit.language]
  const field = fieldsOf([
    {
      name: 'email',
      label: texts.email,
      value: email,
      fault: fault?.isWrong('email') ? emailFault(visit, fault) : null,
      wrong: texts.faults.email,
      hint: texts.emailHint,
      check: 'email',
      type: 'email',
      inputmode: 'email',
      autocomplete: 'off',
      maxlength: 254,
    },
  ])
  const form = slimForm(
    visit,
    INVITE,
    html`${field}${roleChoices(visit, role)}`,
    { label: texts.send },
    { path: ALL, label: DASHBOARD[visit.language].back },
  )
  const body = card(null, html`<p class="soft">${texts.inviteText}</p>${form}`)
  return sendMembers(visit, { title: texts.inviteTitle, fault, body })
}

function emailFault({ language }: Visit, { problem: { message } }: FormFault): string {
  const { faults } = MEMBERS[language]
  if (message.includes('belongs to')) return faults.member
  return message.includes('invitations wait') ? faults.full : faults.email
}

async function sendInvitation(visit: Visit): Promise<FastifyReply> {
  const { form } = visit
  const typed = { email: form.email ?? '', role: isRole(form.role) ? form.role : 'viewer' } as const
  const { fault } = await tryForm(() => inviteAs(visit, typed, 'member.invite'))
  return fault ? showInvite(visit, typed, fault) : visit.redirect(ALL, 'invited')
}

/** Sends an invitation in the name of the person, and adds it to the activity log. */
const inviteAs = (
  { app, company, person, record }: Visit,
  { email, role }: Typed,
  action: 'member.invite' | 'invitation.resend',
) =>
  app.db.transaction(async (tx) => {
    const { language } = company
    const by = { by: person.name, invitedBy: person.id }
    const invitation = { email, company, role, makesOperator: false, language, ...by }
    const { link } = await invite(tx, app, invitation, app.systemClock.now())
    await record(tx, action, { type: 'invitation', id: invitationIdOf(link) }, { role })
  })

/** The invitation that the URL names, if it still waits. */
async function requireInvitation({ app, company, params }: Visit): Promise<PersonLink> {
  const hash = Buffer.from(params.invitation ?? '', 'base64url')
  const link = await findInvitation(app.db, company.id, hash, app.systemClock.now())
  if (!link) throw problem('route_not_found')
  return link
}

async function showInvitation(visit: Visit, fault: FormFault | null = null) {
  const link = await requireInvitation(visit)
  const { language } = visit
  const texts = MEMBERS[language]
  const path = `${INVITATION}/${invitationIdOf(link)}`
  const act = (name: string, text: string, label: string) =>
    card(null, slimForm(visit, `${path}/${name}`, html`<p>${text}</p>`, { label, kind: 'quiet' }))
  const body = html`${card(
    null,
    facts([
      [texts.role, link.role && DASHBOARD[language].roles[link.role]],
      [texts.sentAt, moment(link.createdAt)],
      [texts.until, moment(link.expiresAt)],
    ]),
  )}
<div class="columns">${act('resend', texts.resendText, texts.resend)}${act('withdraw', texts.withdrawText, texts.withdraw)}</div>`
  return sendMembers(visit, { title: texts.invitationTitle(link.email), fault, body })
}

async function resend(visit: Visit): Promise<FastifyReply> {
  const { email, role } = await requireInvitation(visit)
  const { fault } = await tryForm(() =>
    inviteAs(visit, { email, role: role! }, 'invitation.resend'),
  )
  return fault ? showInvitation(visit, fault) : visit.redirect(ALL, 'resent')
}

async function withdraw(visit: Visit): Promise<FastifyReply> {
  const { app, company } = visit
  const link = await requireInvitation(visit)
  await app.db.transaction(async (tx) => {
    await deleteInvitation(tx, company.id, link.tokenHash)
    const record = { type: 'invitation', id: invitationIdOf(link) } as const
    await visit.record(tx, 'invitation.cancel', record, { role: link.role! })
  })
  return visit.redirect(ALL, 'withdrawn')
}

const OWNERS = { needs: ['owner'] as const }

/** The member that the URL names. */
async function requireMember({ app, company, params }: Visit): Promise<MemberOfCompany> {
  const id = idOfSuffix(params.person ?? '')
  const member = id && (await findMember(app.db, company.id, id))
  if (!member) throw problem('route_not_found')
  return member
}

const pathOf = ({ personId }: MemberOfCompany): string => `${MEMBERS_PATH}/${suffixOf(personId)}`

async function show(
  visit: Visit,
  member: MemberOfCompany,
  fault: FormFault | null = null,
  wrong: string | null = null,
): Promise<FastifyReply> {
  const { name, email, role } = member
  const texts = MEMBERS[visit.language]
  const path = pathOf(member)
  const isOwn = member.personId === visit.person.id
  const roles = html`<p class="soft">${texts.changeText}</p>${roleChoices(visit, role)}`
  const change = slimForm(visit, `${path}/role`, roles, { label: texts.save })
  const question = html`<p>${isOwn ? texts.leaveText : texts.removeText(name)}</p>`
  const button = { label: texts.remove, kind: 'quiet' } as const
  const remove = slimForm(visit, `${path}/remove`, question, button)
  const sentence = fault?.isWrong('role') ? texts.faults.lastOwner : wrong
  return sendMembers(visit, {
    title: texts.changeTitle(name),
    status: wrong ? 409 : (fault?.problem.status ?? 200),
    body: html`${sentence ? notice(sentence, 'bad') : fault?.notice(visit.language)}
${card(null, html`<p class="soft">${email}</p>${change}`)}
${!isOwn && card(texts.factors.title, await factorsOf(visit, member))}
${card(texts.removeTitle, remove)}`,
  })
}

/** Whether the person has a second factor, and what an owner can do if it is lost. */
async function factorsOf(visit: Visit, member: MemberOfCompany): Promise<Html> {
  const { db } = visit.app
  const texts = MEMBERS[visit.language].factors
  const person = (await findPerson(db, member.personId))!
  if (!hasFactor(await listFactors(db, person))) return html`<p>${pill(texts.none, 'warn')}</p>`
  const state = html`<p>${pill(texts.has, 'good')}</p>`
  if (!(await mayOwnerReset(db, visit.company.id, person))) {
    return html`${state}<p class="soft">${texts.others}</p>`
  }
  const action = `${pathOf(member)}/reset-factors`
  const question = html`<p>${texts.text(member.name)}</p>`
  const form = slimForm(visit, action, question, { label: texts.act, kind: 'quiet' })
  return html`${state}${form}`
}

async function saveRole(visit: Visit): Promise<FastifyReply> {
  const { app, company, form } = visit
  const member = await requireMember(visit)
  const { personId: id } = member
  const { role } = form
  if (!isRole(role)) return show(visit, member)
  if (role === 'owner') await requireFewAccessChanges(visit.app, visit.company.id)
  const { fault } = await tryForm(() =>
    app.db.transaction(async (tx) => {
      const now = app.systemClock.now()
      const changed = await changeRole(tx, app, company, id, role, visit.person.name, now)
      if (!changed) return
      await visit.record(tx, 'member.change-role', { type: 'person', id }, { role, ...changed })
    }),
  )
  return fault ? show(visit, member, fault) : visit.redirect(MEMBERS_PATH, 'role')
}

async function remove(visit: Visit): Promise<FastifyReply> {
  const { app, company } = visit
  const member = await requireMember(visit)
  const { personId: id } = member
  const { fault } = await tryForm(() =>
    app.db.transaction(async (tx) => {
      const removed = await removeMember(tx, company.id, id)
      const details = { role: member.role, ...removed }
      await visit.record(tx, 'member.remove', { type: 'person', id }, details)
    }),
  )
  return fault ? show(visit, member, fault) : visit.redirect(MEMBERS_PATH, 'removed')
}

/** Removes the second factors of a member. Their own are changed at their account. */
async function reset(visit: Visit): Promise<FastifyReply> {
  const { app, company, person: owner, author } = visit
  const texts = MEMBERS[visit.language].factors
  const member = await requireMember(visit)
  if (member.personId === owner.id) return visit.reply.redirect('/account/security', 303)
  await requireFewAccessChanges(visit.app, visit.company.id)
  const outcome = await app.db.transaction(async (tx) => {
    const person = await lockPerson(tx, member.personId)
    if (!(await mayOwnerReset(tx, company.id, person))) return 'others'
    return (await resetFactors(tx, app, person, author, owner.name)) ? 'done' : 'gone'
  })
  if (outcome === 'done') return visit.redirect(MEMBERS_PATH, 'reset')
  return show(visit, member, null, texts[outcome])
}

const ONE = `${MEMBERS_PATH}/:person`

const memberRoutes: DashboardRoute[] = [
  {
    method: 'GET',
    path: ONE,
    ...CHANGES,
    handle: async (visit) => show(visit, await requireMember(visit)),
  },
  { method: 'POST', path: `${ONE}/role`, ...CHANGES, handle: saveRole },
  { method: 'POST', path: `${ONE}/remove`, ...CHANGES, handle: remove },
  // Whoever has only a stolen password must not take away what protects the money.
  { method: 'POST', path: `${ONE}/reset-factors`, ...CHANGES, movesMoney: true, handle: reset },
]

export const membersRoutes: DashboardRoute[] = [
  { method: 'GET', path: ALL, ...OWNERS, handle: list },
  {
    method: 'GET',
    path: INVITE,
    ...CHANGES,
    handle: (visit) => showInvite(visit, { email: '', role: 'viewer' }, null),
  },
  { method: 'POST', path: INVITE, ...CHANGES, handle: sendInvitation },
  {
    method: 'GET',
    path: `${INVITATION}/:invitation`,
    ...CHANGES,
    handle: (visit) => showInvitation(visit),
  },
  { method: 'POST', path: `${INVITATION}/:invitation/resend`, ...CHANGES, handle: resend },
  { method: 'POST', path: `${INVITATION}/:invitation/withdraw`, ...CHANGES, handle: withdraw },
  ...memberRoutes,
]
