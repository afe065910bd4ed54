import { codeEmailOf } from '../../core/companies/changes.ts'
import { contrastOf, inkOn } from '../../lib/contrast.ts'
import { invalid } from '../../lib/problems.ts'
import { formatMoment } from '../../pix/local-time.ts'
import { isTaxIdShape, punctuateTaxId } from '../../pix/tax-id.ts'
import { checkbox, fieldsOf } from '../forms.ts'
import { type Html, html } from '../html.ts'
import { facts } from '../parts.ts'
import { type FormFault, tryForm } from './form-faults.ts'
import { card, doneNotice, heading, notice } from './parts.ts'
import { sendSettings, settingsTabs } from './settings-tabs.ts'
import { SETTINGS } from './settings-texts.ts'
import type { DashboardRoute, Visit } from './visit.ts'

/** What a company changes of itself here. */
type Profile = {
  name: string
  email: string
  city: string
  color: string
  language: string
  mailsReceipts: boolean
  strictTaxIds: boolean
}

const profileOf = ({ company }: Visit): Profile => ({
  name: company.name,
  email: company.email,
  city: company.city,
  color: company.color,
  language: company.language,
  mailsReceipts: company.mailsReceipts,
  strictTaxIds: company.strictTaxIds,
})

const readProfile = ({ form }: Visit): Profile => ({
  name: (form.name ?? '').trim(),
  email: (form.email ?? '').trim(),
  city: (form.city ?? '').trim(),
  color: (form.color ?? '').trim(),
  language: form.language ?? '',
  mailsReceipts: form.mailsReceipts !== undefined,
  strictTaxIds: form.strictTaxIds !== undefined,
})

function show(visit: Visit, given: Profile = profileOf(visit), fault: FormFault | null = null) {
  const { language } = visit
  const texts = SETTINGS[language]
  const mayChange = visit.can('company:write')
  const body = html`${heading(texts.title)}${settingsTabs(visit, '')}
${doneNotice(visit, { saved: texts.saved })}${fault?.notice(language)}${codeNotice(visit)}
<div class="columns settings">
${card(texts.identity, mayChange ? profileForm(visit, given, fault) : profileFacts(visit))}
<div class="stack">
${card(null, fixedFacts(visit))}
${card(texts.security, html`<p>${texts.securityText}</p><p><a href="/account/security">${texts.security}</a></p>`)}
</div></div>`
  const status = fault?.problem.status ?? 200
  return sendSettings(visit, { title: texts.title, body, status, scripts: ['settings.js'] })
}

/** Says where the codes of withdrawals go, if it is not the address that the page shows. */
function codeNotice({ app, company, language }: Visit): Html | null {
  const email = codeEmailOf(company, app.systemClock.now())
  if (email === company.email) return null
  const until = formatMoment(company.codeEmailUntil!)
  return notice(SETTINGS[language].codesTo(email, until), 'warn')
}

function profileForm(visit: Visit, given: Profile, fault: FormFault | null): Html {
  const texts = SETTINGS[visit.language]
  const wrong = (name: keyof Profile, text: string) => ({
    fault: fault?.isWrong(name) ? text : null,
    wrong: text,
  })
  const fields = fieldsOf([
    { name: 'name', label: texts.name, value: given.name, ...wrong('name', texts.nameWrong) },
    {
      name: 'email',
      label: texts.email,
      value: given.email,
      hint: texts.emailHint,
      inputmode: 'email',
      maxlength: 254,
      ...wrong('email', texts.emailWrong),
    },
    {
      name: 'city',
      label: texts.city,
      value: given.city,
      hint: texts.cityHint,
      ...wrong('city', texts.cityWrong),
    },
    {
      name: 'language',
      label: texts.language,
      value: given.language,
      hint: texts.languageHint,
      options: (['pt', 'en'] as const).map((value) => ({ value, label: texts.languages[value] })),
      ...wrong('language', texts.language),
    },
    {
      name: 'color',
      label: texts.color,
      value: given.color,
      hint: texts.colorHint,
      maxlength: 7,
      autocomplete: 'off',
      ...wrong('color', texts.colorWrong),
    },
  ])
  const receipts = checkbox({
    name: 'mailsReceipts',
    label: texts.receipts,
    hint: texts.receiptsHint,
    isOn: given.mailsReceipts,
  })
  const strict =
    visit.company.mode === 'sandbox' &&
    checkbox({
      name: 'strictTaxIds',
      label: texts.strictTaxIds,
      hint: texts.strictTaxIdsHint,
      isOn: given.strictTaxIds,
    })
  return visit.formOf(
    visit.url('/settings'),
    html`<p class="soft">${texts.identityText}</p>${fields}${preview(visit, given.color)}${receipts}${strict}
<div class="actions"><button class="button slim">${texts.save}</button></div>`,
    { kind: 'card-form' },
  )
}

/** What a button looks like in the color, and how well it can be read. A script updates it. */
function preview({ company, language }: Visit, typed: string): Html {
  const texts = SETTINGS[language]
  const color = /^#[0-9a-f]{6}$/i.test(typed) ? typed.toLowerCase() : company.color
  const ink = inkOn(color)
  const ratio = contrastOf(color, ink).toFixed(1)
  const sentence = texts.contrast(
    texts.inks[ink],
    language === 'pt' ? ratio.replace('.', ',') : ratio,
  )
  return html`<div class="color-preview" data-white="${texts.contrast(texts.inks['#ffffff'], '{}')}" data-black="${texts.contrast(texts.inks['#000000'], '{}')}" data-comma="${language === 'pt' ? ',' : '.'}">
<svg viewBox="0 0 200 48" width="200" height="48" aria-hidden="true"><rect width="200" height="48" rx="12" fill="${color}"/><text x="100" y="30" text-anchor="middle" font-size="16" font-weight="650" fill="${ink}">${texts.preview}</text></svg>
<p class="small soft" role="status">${sentence}</p></div>`
}

function profileFacts({ company, language }: Visit): Html {
  const texts = SETTINGS[language]
  return html`<p class="soft">${texts.readOnly}</p>${facts([
    [texts.name, company.name],
    [texts.email, company.email],
    [texts.city, company.city],
    [texts.color, html`<code>${company.color}</code>`],
    [texts.language, texts.languages[company.language]],
    [texts.receipts, company.mailsReceipts ? texts.yes : texts.no],
  ])}`
}

/** What only an operator changes, because it says whose money it is and where it goes. */
function fixedFacts({ company, language }: Visit): Html {
  const texts = SETTINGS[language]
  const { taxId } = company
  return html`${facts([
    [texts.mode, texts.modes[company.mode]],
    [texts.taxId, isTaxIdShape(taxId) ? punctuateTaxId(taxId) : taxId],
    [texts.pixKey, html`<code>${company.pixKey}</code>`],
    [texts.settlement, texts.seconds(company.releaseDelay_s)],
  ])}<p class="soft small">${texts.operatorOnly}</p>`
}

/** To the API an empty text is one that was not sent, but here somebody has erased it. */
function requireFilled(given: Profile): void {
  const empty = (['name', 'email', 'city', 'color'] as const).filter((name) => given[name] === '')
  const [first, ...others] = empty.map((name) => `${name}: must not be empty`)
  if (first) throw invalid(first, ...others)
}

async function save(visit: Visit) {
  const given = readProfile(visit)
  const before = profileOf(visit)
  const names = Object.keys(given) as (keyof Profile)[]
  const changed = names.filter((name) => given[name] !== before[name])
  const { fault } = await tryForm(async () => {
    requireFilled(given)
    if (changed.length === 0) return
    const body = Object.fromEntries(changed.map((name) => [name, given[name]]))
    await visit.operate('changeCompany', { body, once: visit.form.once })
  })
  return fault ? show(visit, given, fault) : visit.redirect('/settings', 'saved')
}

export const settingsRoutes: DashboardRoute[] = [
  { method: 'GET', path: '/settings', needs: 'company:read', handle: (visit) => show(visit) },
  { method: 'POST', path: '/settings', needs: 'company:write', handle: save },
]
