import type { FastifyReply } from 'fastify'
import { changeRole, removeMember } from '../../core/people/commands.ts'
import { findMember, type MemberOfCompany } from '../../core/people/member-store.ts'
import { mayOwnerReset, resetFactors } from '../../core/people/reset-factors.ts'
import { hasFactor, listFactors } from '../../core/people/second-factors.ts'
import { lockPerson } from '../../core/people/second-factors-store.ts'
import { findPerson } from '../../core/people/store.ts'
import { idOfSuffix, suffixOf } from '../../lib/ids.ts'
import { problem } from '../../lib/problems.ts'
import { type Html, html } from '../html.ts'
import { requireFewAccessChanges } from './access-changes.ts'
import { type FormFault, tryForm } from './form-faults.ts'
import {
  backLink,
  CHANGES,
  isRole,
  MEMBERS_PATH,
  roleChoices,
  sendMembers,
} from './members-parts.ts'
import { MEMBERS } from './members-texts.ts'
import { card, heading, notice, pill } from './parts.ts'
import type { DashboardRoute, Visit } from './visit.ts'

/** The member that the URL names. */
async function requireMember({ app, company, params }: Visit): Promise<MemberOfCompany> {
  const id = idOfSuffix(params.person ?? '')
  const member = id && (await findMember(app.db.control, company.id, id))
  if (!member) throw problem('route_not_found')
  return member
}

const pathOf = (visit: Visit, { personId }: MemberOfCompany): string =>
  visit.url(`${MEMBERS_PATH}/${suffixOf(personId)}`)

async function show(
  visit: Visit,
  member: MemberOfCompany,
  fault: FormFault | null = null,
  wrong: string | null = null,
): Promise<FastifyReply> {
  const { name, email, role } = member
  const texts = MEMBERS[visit.language]
  const path = pathOf(visit, member)
  const isOwn = member.personId === visit.person.id
  const change = visit.formOf(
    `${path}/role`,
    html`<p class="soft">${texts.changeText}</p>${roleChoices(visit, role)}<div class="actions"><button class="button slim">${texts.save}</button></div>`,
    { kind: 'card-form' },
  )
  const remove = visit.formOf(
    `${path}/remove`,
    html`<p>${isOwn ? texts.leaveText : texts.removeText(name)}</p><div class="actions"><button class="button quiet slim">${texts.remove}</button></div>`,
    { kind: 'card-form' },
  )
  const sentence = fault?.isWrong('role') ? texts.faults.lastOwner : wrong
  const title = texts.changeTitle(name)
  const body = html`${backLink(visit)}${heading(title)}
${sentence ? notice(sentence, 'bad') : fault?.notice(visit.language)}
${card(null, html`<p class="soft">${email}</p>${change}`)}
${!isOwn && card(texts.factors.title, await factorsOf(visit, member))}
${card(texts.removeTitle, remove)}`
  return sendMembers(visit, title, body, wrong ? 409 : fault?.problem.status)
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
  const form = visit.formOf(
    `${pathOf(visit, member)}/reset-factors`,
    html`<p>${texts.text(member.name)}</p><div class="actions"><button class="button quiet slim">${texts.act}</button></div>`,
    { kind: 'card-form' },
  )
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
  return fault ? show(visit, member, fault) : visit.redirect(MEMBERS_PATH, 'role')
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
  return fault ? show(visit, member, fault) : visit.redirect(MEMBERS_PATH, 'removed')
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
  if (outcome === 'done') return visit.redirect(MEMBERS_PATH, 'reset')
  return show(visit, member, null, texts[outcome])
}

const ONE = `${MEMBERS_PATH}/:person`

export const memberRoutes: DashboardRoute[] = [
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
