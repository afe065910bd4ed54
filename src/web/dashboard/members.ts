import type { FastifyReply } from 'fastify'
import { invite } from '../../core/people/invitations.ts'
import {
  deleteInvitation,
  findInvitation,
  listInvitations,
  type PersonLink,
} from '../../core/people/link-store.ts'
import { invitationIdOf } from '../../core/people/links.ts'
import { listMembers, type MemberOfCompany } from '../../core/people/member-store.ts'
import type { Role } from '../../core/people/rules.ts'
import { suffixOf } from '../../lib/ids.ts'
import { problem } from '../../lib/problems.ts'
import { fieldsOf } from '../forms.ts'
import { html } from '../html.ts'
import { icon } from '../layout.ts'
import { facts } from '../parts.ts'
import { type FormFault, tryForm } from './form-faults.ts'
import { memberRoutes } from './member.ts'
import {
  backLink,
  CHANGES,
  isRole,
  MEMBERS_PATH,
  roleChoices,
  sendMembers,
} from './members-parts.ts'
import { MEMBERS } from './members-texts.ts'
import { type Column, card, doneNotice, heading, moment, pill, table } from './parts.ts'
import { settingsTabs } from './settings-tabs.ts'
import { DASHBOARD } from './texts.ts'
import type { DashboardRoute, Visit } from './visit.ts'

const ALL = MEMBERS_PATH
const INVITE = `${ALL}/invite`
const INVITATION = `${ALL}/invitations`

async function list(visit: Visit): Promise<FastifyReply> {
  const { app, company, language } = visit
  const texts = MEMBERS[language]
  const [members, invitations] = await Promise.all([
    listMembers(app.db.control, company.id),
    listInvitations(app.db.control, company.id, app.systemClock.now()),
  ])
  const action = html`<a class="button slim" href="${visit.url(INVITE)}">${icon('plus')}${texts.invite}</a>`
  const body = html`${heading(texts.title, action)}${settingsTabs(visit, '/members')}
${doneNotice(visit, texts.done)}
${card(null, html`<p class="soft">${texts.intro}</p>${table(texts.members, memberColumns(visit), members)}`)}
${
  invitations.length > 0 &&
  card(
    texts.waiting,
    html`<p class="soft">${texts.waitingText}</p>${table(texts.waiting, invitationColumns(visit), invitations)}`,
  )
}`
  return sendMembers(visit, texts.title, body)
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
  const form = visit.formOf(
    visit.url(INVITE),
    html`${field}${roleChoices(visit, role)}<div class="actions"><button class="button slim">${texts.send}</button><a class="button quiet slim" href="${visit.url(ALL)}">${DASHBOARD[visit.language].back}</a></div>`,
    { kind: 'card-form' },
  )
  const body = html`${backLink(visit)}${heading(texts.inviteTitle)}${fault?.notice(visit.language)}
${card(null, html`<p class="soft">${texts.inviteText}</p>${form}`)}`
  return sendMembers(visit, texts.inviteTitle, body, fault?.problem.status)
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
  app.db.transaction(async (tx, control) => {
    const { language } = company
    const by = { by: person.name, invitedBy: person.id }
    const invitation = { email, company, role, makesOperator: false, language, ...by }
    const { link } = await invite(tx, control, app, invitation, app.systemClock.now())
    await record(tx, action, { type: 'invitation', id: invitationIdOf(link) }, { role })
  })

/** The invitation that the URL names, if it still waits. */
async function requireInvitation({ app, company, params }: Visit): Promise<PersonLink> {
  const hash = Buffer.from(params.invitation ?? '', 'base64url')
  const link = await findInvitation(app.db.control, company.id, hash, app.systemClock.now())
  if (!link) throw problem('route_not_found')
  return link
}

async function showInvitation(visit: Visit, fault: FormFault | null = null) {
  const link = await requireInvitation(visit)
  const { language } = visit
  const texts = MEMBERS[language]
  const path = visit.url(`${INVITATION}/${invitationIdOf(link)}`)
  const title = texts.invitationTitle(link.email)
  const act = (name: string, text: string, label: string) =>
    card(
      null,
      visit.formOf(
        `${path}/${name}`,
        html`<p>${text}</p><div class="actions"><button class="button quiet slim">${label}</button></div>`,
        { kind: 'card-form' },
      ),
    )
  const body = html`${backLink(visit)}${heading(title)}${fault?.notice(language)}
${card(
  null,
  facts([
    [texts.role, link.role && DASHBOARD[language].roles[link.role]],
    [texts.sentAt, moment(link.createdAt)],
    [texts.until, moment(link.expiresAt)],
  ]),
)}
<div class="columns">${act('resend', texts.resendText, texts.resend)}${act('withdraw', texts.withdrawText, texts.withdraw)}</div>`
  return sendMembers(visit, title, body, fault?.problem.status)
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
  await app.db.transaction(async (tx, control) => {
    await deleteInvitation(control, company.id, link.tokenHash)
    const record = { type: 'invitation', id: invitationIdOf(link) } as const
    await visit.record(tx, 'invitation.cancel', record, { role: link.role! })
  })
  return visit.redirect(ALL, 'withdrawn')
}

const OWNERS = { needs: ['owner'] as const }

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
