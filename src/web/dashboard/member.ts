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
import { CHANGES, isRole, MEMBERS_PATH, roleChoices, sendMembers } from './members-parts.ts'
import { MEMBERS } from './members-texts.ts'
import { card, notice, pill } from './parts.ts'
import { slimForm } from './record-pages.ts'
import type { DashboardRoute, Visit } from './visit.ts'

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
