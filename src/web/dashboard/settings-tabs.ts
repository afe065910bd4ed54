import type { Needs } from '../../core/people/rules.ts'
import type { Html } from '../html.ts'
import { APPROVALS } from './approvals-texts.ts'
import { sectionTabs } from './section-tabs.ts'
import { SETTINGS } from './settings-texts.ts'
import type { DashboardPage, Visit } from './visit.ts'

/** Who sees the connection to the bank. */
export const BANK_ROLES: Needs = ['owner', 'finance']
/** Who sees who else belongs to the company, and what they did. */
const OWNERS: Needs = ['owner']

export type SettingsTab =
  | ''
  | '/logo'
  | '/bank'
  | '/approvals'
  | '/version'
  | '/members'
  | '/activity'

/** The links between the pages of settings. */
export function settingsTabs(visit: Visit, here: SettingsTab): Html {
  const texts = SETTINGS[visit.language]
  const all: [path: SettingsTab, title: string, needs: Needs][] = [
    ['', texts.profile, 'company:read'],
    ['/logo', texts.logo, 'company:read'],
    ['/bank', texts.bank, BANK_ROLES],
    ['/approvals', APPROVALS[visit.language].title, OWNERS],
    ['/version', texts.version, 'company:read'],
    ['/members', texts.members, OWNERS],
    ['/activity', texts.activity, OWNERS],
  ]
  const tabs = all.map(([path, title, needs]) => ({ path: `/settings${path}`, title, needs }))
  return sectionTabs(visit, texts.pages, tabs, `/settings${here}`)
}

/** Sends a page of settings. */
export const sendSettings = (
  visit: Visit,
  page: Pick<DashboardPage, 'title' | 'body' | 'status' | 'scripts'>,
) => visit.send({ ...page, here: 'settings', styles: ['developers.css'] })
