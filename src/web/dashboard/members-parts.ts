import { ROLES, type Role } from '../../core/people/rules.ts'
import { type Html, html } from '../html.ts'
import { MEMBERS } from './members-texts.ts'
import type { RecordPage } from './record-pages.ts'
import { sendSettings } from './settings-tabs.ts'
import { DASHBOARD } from './texts.ts'
import type { Visit } from './visit.ts'

export const MEMBERS_PATH = '/settings/members'

/** Whoever changes members has just proved who they are, by more than a password. */
export const CHANGES = {
  needs: ['owner'] as const,
  confirmed: true,
  needsFactor: true,
} as const

export const isRole = (text: string | undefined): text is Role => ROLES.includes(text as Role)

/** Sends a page about a member or an invitation. */
export const sendMembers = (visit: Visit, page: RecordPage) =>
  sendSettings(visit, '/members', {
    ...page,
    back: html`<p class="small"><a href="${visit.url(MEMBERS_PATH)}">${MEMBERS[visit.language].back}</a></p>`,
  })

/** Every role as a choice, with what it may do. */
export function roleChoices({ language }: Visit, chosen: Role): Html {
  const texts = MEMBERS[language]
  const { roles } = DASHBOARD[language]
  return html`<fieldset class="roles"><legend>${texts.role}</legend>${ROLES.map(
    (role) =>
      html`<label class="role"><input type="radio" name="role" value="${role}"${role === chosen && html` checked`} required><span><strong>${roles[role]}</strong><span class="soft small">${texts.can[role]}</span></span></label>`,
  )}</fieldset>`
}
