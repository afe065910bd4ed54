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
import type { Language } from '../../lib/language.ts'
import { problem } from '../../lib/problems.ts'
import { fieldsOf } from '../forms.ts'
import { type Html, html } from '../html.ts'
import { facts } from '../parts.ts'
import { requireFewAccessChanges } from './access-changes.ts'
import { backLink, type FormFault, tryForm } from './form-parts.ts'
import { type Column, card, moment, notice, pill, table } from './parts.ts'
import { makeLink, type RecordPage, slimForm } from './record-pages.ts'
import { sendSettings } from './settings.ts'
import { DASHBOARD } from './texts.ts'
import type { DashboardRoute, Visit } from './visit.ts'

const ALL = '/settings/members'
const INVITE = `${ALL}/invite`
const INVITATION = `${ALL}/invitations`
const ONE = `${ALL}/:person`

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
    back: backLink(visit, ALL, MEMBERS[visit.language].title),
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

async function list(visit: Visit): Promise<FastifyReply> {
  const { app, company, language } = visit
  const texts = MEMBERS[language]
  const [members, invitations] = await Promise.all([
    listMembers(app.db.control, company.id),
    listInvitations(app.db.control, company.id, app.systemClock.now()),
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
  const form = slimForm(visit, INVITE, html`${field}${roleChoices(visit, role)}`, {
    label: texts.send,
  })
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
  await app.db.transaction(async (tx, control) => {
    await deleteInvitation(control, company.id, link.tokenHash)
    const record = { type: 'invitation', id: invitationIdOf(link) } as const
    await visit.record(tx, 'invitation.cancel', record, { role: link.role! })
  })
  return visit.redirect(ALL, 'withdrawn')
}

/** The member that the URL names. */
async function requireMember({ app, company, params }: Visit): Promise<MemberOfCompany> {
  const id = idOfSuffix(params.person ?? '')
  const member = id && (await findMember(app.db.control, company.id, id))
  if (!member) throw problem('route_not_found')
  return member
}

const pathOf = ({ personId }: MemberOfCompany): string => `${ALL}/${suffixOf(personId)}`

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
  const person = (await findPerson(db.control, member.personId))!
  if (!hasFactor(await listFactors(db.control, person)))
    return html`<p>${pill(texts.none, 'warn')}</p>`
  const state = html`<p>${pill(texts.has, 'good')}</p>`
  if (!(await mayOwnerReset(db.control, visit.company.id, person))) {
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
    app.db.transaction(async (tx, control) => {
      const now = app.systemClock.now()
      const changed = await changeRole(tx, control, app, company, id, role, visit.person.name, now)
      if (!changed) return
      await visit.record(tx, 'member.change-role', { type: 'person', id }, { role, ...changed })
    }),
  )
  return fault ? show(visit, member, fault) : visit.redirect(ALL, 'role')
}

async function remove(visit: Visit): Promise<FastifyReply> {
  const { app, company } = visit
  const member = await requireMember(visit)
  const { personId: id } = member
  const { fault } = await tryForm(() =>
    app.db.transaction(async (tx, control) => {
      const removed = await removeMember(control, company.id, id)
      const details = { role: member.role, ...removed }
      await visit.record(tx, 'member.remove', { type: 'person', id }, details)
    }),
  )
  return fault ? show(visit, member, fault) : visit.redirect(ALL, 'removed')
}

/** Removes the second factors of a member. Their own are changed at their account. */
async function reset(visit: Visit): Promise<FastifyReply> {
  const { app, company, person: owner, author } = visit
  const texts = MEMBERS[visit.language].factors
  const member = await requireMember(visit)
  if (member.personId === owner.id) return visit.reply.redirect('/account/security', 303)
  await requireFewAccessChanges(visit.app, visit.company.id)
  const outcome = await app.db.transaction(async (tx, control) => {
    const person = await lockPerson(control, member.personId)
    if (!(await mayOwnerReset(control, company.id, person))) return 'others'
    return (await resetFactors(tx, control, app, person, author, owner.name)) ? 'done' : 'gone'
  })
  if (outcome === 'done') return visit.redirect(ALL, 'reset')
  return show(visit, member, null, texts[outcome])
}

export const membersRoutes: DashboardRoute[] = [
  { method: 'GET', path: ALL, needs: ['owner'], handle: list },
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

const pt = {
  title: 'Equipe',
  intro: 'Quem pode entrar no painel desta empresa, e o que cada pessoa pode fazer.',
  invite: 'Convidar',
  inviteTitle: 'Convidar para a equipe',
  inviteText: 'A pessoa recebe um e-mail com um link, que vale por 7 dias.',
  send: 'Enviar convite',
  email: 'E-mail',
  emailHint: 'O convite só pode ser aceito por quem recebe este e-mail.',
  role: 'Função',
  can: {
    owner: 'Faz tudo: dinheiro, chaves de API, equipe e configurações.',
    finance: 'Cobra, devolve e saca. Não cuida de chaves, webhooks, equipe nem configurações.',
    support: 'Cobra, devolve e atende clientes. Não vê o saldo.',
    developer: 'Cuida de chaves, webhooks e testes. Não vê o saldo nem saca.',
    viewer: 'Vê cobranças, clientes e saldo, sem mudar nada.',
  } satisfies Record<Role, string>,
  person: 'Pessoa',
  lastSeen: 'Último acesso',
  never: 'Sem acesso aberto',
  you: 'você',
  change: 'Alterar',
  actions: 'Ações',
  members: 'Pessoas da equipe',
  changeTitle: (name: string) => `Alterar ${name}`,
  changeText: 'Ao mudar a função, a pessoa sai de todos os dispositivos e precisa entrar de novo.',
  save: 'Salvar função',
  removeTitle: 'Remover da equipe',
  removeText: (name: string) =>
    `${name} sai de todos os dispositivos e perde o acesso a esta empresa. O que a pessoa fez continua registrado.`,
  remove: 'Remover da equipe',
  factors: {
    title: 'Verificação em duas etapas',
    has: 'Ativa',
    none: 'Não configurada',
    text: (name: string) =>
      `Se ${name} perdeu o celular ou a chave de acesso, remova a verificação em duas etapas. A pessoa sai de todos os dispositivos, é avisada por e-mail e entra só com a senha. Antes de movimentar dinheiro real, precisa configurar a verificação de novo. Confirme antes, por telefone ou pessoalmente, que o pedido é mesmo dela.`,
    /** If an owner may not do it. */
    others:
      'Esta pessoa também faz parte de outra empresa ou opera a instalação. Se ela perdeu o celular ou a chave de acesso, só quem opera a instalação pode remover a verificação.',
    act: 'Remover a verificação',
    gone: 'Esta pessoa já não tem verificação em duas etapas.',
  },
  leaveText: 'Você perde o acesso a esta empresa. Para voltar, será preciso um novo convite.',
  waiting: 'Convites pendentes',
  waitingText: 'Ainda não foram aceitos.',
  sentAt: 'Enviado em',
  until: 'Vale até',
  manage: 'Ver',
  invitationTitle: (email: string) => `Convite para ${email}`,
  resendText: 'Envia um novo e-mail, com um novo link. O link anterior deixa de funcionar.',
  resend: 'Enviar de novo',
  withdrawText: 'O link deixa de funcionar.',
  withdraw: 'Cancelar convite',
  faults: {
    email: 'Informe um e-mail válido.',
    member: 'Esta pessoa já faz parte da equipe. Para mudar a função, use a lista.',
    full: 'Há convites pendentes demais. Cancele os que não são mais necessários.',
    lastOwner: 'A empresa precisa de pelo menos um responsável. Escolha outro antes.',
  },
  done: {
    invited: 'Convite enviado.',
    role: 'Função alterada.',
    removed: 'Pessoa removida da equipe.',
    withdrawn: 'Convite cancelado.',
    resent: 'Convite enviado de novo.',
    reset: 'A verificação em duas etapas foi removida. A pessoa foi avisada por e-mail.',
  },
}

type Texts = typeof pt

const en: Texts = {
  title: 'Members',
  intro: 'Who can sign in to the dashboard of this company, and what each person can do.',
  invite: 'Invite',
  inviteTitle: 'Invite somebody',
  inviteText: 'They get an email with a link, which works for 7 days.',
  send: 'Send the invitation',
  email: 'Email',
  emailHint: 'Only whoever receives this email can accept the invitation.',
  role: 'Role',
  can: {
    owner: 'Does everything: money, API keys, members and settings.',
    finance: 'Charges, refunds and withdraws. Does not change keys, webhooks, members or settings.',
    support: 'Charges, refunds and helps customers. Does not see the balance.',
    developer: 'Looks after keys, webhooks and tests. Neither sees the balance nor withdraws.',
    viewer: 'Sees charges, customers and the balance, and changes nothing.',
  },
  person: 'Person',
  lastSeen: 'Last seen',
  never: 'Not signed in',
  you: 'you',
  change: 'Change',
  actions: 'Actions',
  members: 'People of the company',
  changeTitle: (name) => `Change ${name}`,
  changeText: 'If the role changes, the person is signed out everywhere and signs in again.',
  save: 'Save the role',
  removeTitle: 'Remove from the company',
  removeText: (name) =>
    `${name} is signed out everywhere and loses access to this company. What they did stays on record.`,
  remove: 'Remove from the company',
  factors: {
    title: 'Two-step verification',
    has: 'Set up',
    none: 'Not set up',
    text: (name) =>
      `If ${name} has lost their phone or passkey, remove their two-step verification. They are signed out everywhere, get an email about it, and sign in with the password alone. Before they can move real money they have to set it up again. First make sure, by phone or in person, that the request really comes from them.`,
    others:
      'This person also belongs to another company, or operates the installation. If they have lost their phone or passkey, only whoever operates the installation can remove the verification.',
    act: 'Remove the verification',
    gone: 'This person has no two-step verification any more.',
  },
  leaveText: 'You lose access to this company. To come back you need a new invitation.',
  waiting: 'Pending invitations',
  waitingText: 'Not accepted yet.',
  sentAt: 'Sent at',
  until: 'Works until',
  manage: 'Open',
  invitationTitle: (email) => `Invitation of ${email}`,
  resendText: 'Sends a new email with a new link. The link before it stops working.',
  resend: 'Send again',
  withdrawText: 'The link stops working.',
  withdraw: 'Withdraw the invitation',
  faults: {
    email: 'Enter a valid email address.',
    member: 'This person already belongs to the company. To change the role, use the list.',
    full: 'Too many invitations are pending. Withdraw those that are no longer needed.',
    lastOwner: 'The company needs at least one owner. Choose another one first.',
  },
  done: {
    invited: 'The invitation was sent.',
    role: 'The role was changed.',
    removed: 'The person was removed.',
    withdrawn: 'The invitation was withdrawn.',
    resent: 'The invitation was sent again.',
    reset: 'Two-step verification was removed. The person gets an email about it.',
  },
}

const MEMBERS: Record<Language, Texts> = { pt, en }
