import { codeEmailOf } from '../../core/companies/changes.ts'
import { NEW_CODES, type NewCodes } from '../../core/companies/rules.ts'
import type { Needs } from '../../core/people/rules.ts'
import { contrastOf, inkOn } from '../../lib/contrast.ts'
import type { Language } from '../../lib/language.ts'
import { invalid } from '../../lib/problems.ts'
import { formatMoment } from '../../pix/local-time.ts'
import { isTaxIdShape, punctuateTaxId } from '../../pix/tax-id.ts'
import { CHECKOUT } from '../checkout-texts.ts'
import { checkbox, type Field, fieldsOf } from '../forms.ts'
import { type Html, html } from '../html.ts'
import { facts } from '../parts.ts'
import type { Form } from '../site.ts'
import { APPROVALS } from './approvals-texts.ts'
import { type FormFault, tryForm } from './form-parts.ts'
import { MESSAGES } from './messages-texts.ts'
import { card, formatDuration, formatPhone, notice, sectionTabs } from './parts.ts'
import { type RecordPage, sendPage } from './record-pages.ts'
import { REMINDERS } from './reminders-texts.ts'
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
  settlesExactPayments: boolean
  contactWhatsapp: string
  contactPhone: string
  contactEmail: string
  newCodes: string
}

const profileOf = ({ company }: Visit): Profile => ({
  name: company.name,
  email: company.email,
  city: company.city,
  color: company.color,
  language: company.language,
  mailsReceipts: company.mailsReceipts,
  strictTaxIds: company.strictTaxIds,
  settlesExactPayments: company.settlesExactPayments,
  contactWhatsapp: formatPhone(company.contactWhatsapp ?? ''),
  contactPhone: formatPhone(company.contactPhone ?? ''),
  contactEmail: company.contactEmail ?? '',
  newCodes: company.newCodes,
})

/** Of the two controls the one that was changed. A script keeps them the same. */
function chosenColor({ color = '', picked = '' }: Form, before: string): string {
  const typed = color.trim()
  const isPicked = /^#[0-9a-f]{6}$/.test(picked) && picked !== before
  return isPicked && typed.toLowerCase() === before ? picked : typed
}

const readProfile = ({ form, company }: Visit): Profile => ({
  name: (form.name ?? '').trim(),
  email: (form.email ?? '').trim(),
  city: (form.city ?? '').trim(),
  color: chosenColor(form, company.color),
  language: form.language ?? '',
  mailsReceipts: form.mailsReceipts !== undefined,
  strictTaxIds: form.strictTaxIds !== undefined,
  settlesExactPayments: form.settlesExactPayments !== undefined,
  contactWhatsapp: (form.contactWhatsapp ?? '').trim(),
  contactPhone: (form.contactPhone ?? '').trim(),
  contactEmail: (form.contactEmail ?? '').trim(),
  newCodes: form.newCodes ?? company.newCodes,
})

function show(visit: Visit, given: Profile = profileOf(visit), fault: FormFault | null = null) {
  const { language } = visit
  const texts = SETTINGS[language]
  const mayChange = visit.can('company:write')
  const body = html`${codeNotice(visit)}
<div class="columns settings">
${card(texts.identity, mayChange ? profileForm(visit, given, fault) : profileFacts(visit))}
<div class="stack">
${card(null, fixedFacts(visit))}
${card(texts.security, html`<p>${texts.securityText}</p><p><a href="/account/security">${texts.security}</a></p>`)}
</div></div>`
  return sendSettings(visit, '', {
    title: texts.title,
    done: { saved: texts.saved },
    fault,
    body,
    scripts: ['settings.js'],
  })
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
  const exact = checkbox({
    name: 'settlesExactPayments',
    label: texts.exact,
    hint: texts.exactHint,
    isOn: given.settlesExactPayments,
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
    html`<p class="soft">${texts.identityText}</p>${fields}${colorPicker(visit, given.color)}${preview(visit, given.color)}${contactFields(visit, given, fault)}${receipts}${exact}${strict}
<div class="actions"><button class="button slim">${texts.save}</button></div>`,
    { kind: 'card-form' },
  )
}

const colorPicker = ({ company, language }: Visit, typed: string): Html =>
  html`<div class="picker"><label for="picked">${SETTINGS[language].picker}</label><input type="color" id="picked" name="picked" value="${hexOf(typed, company.color)}"></div>`

const hexOf = (typed: string, otherwise: string): string =>
  /^#[0-9a-f]{6}$/i.test(typed) ? typed.toLowerCase() : otherwise

const CONTACTS = {
  contactWhatsapp: { check: 'phone', inputmode: 'tel', width: 'half' },
  contactPhone: { check: 'phone', inputmode: 'tel', width: 'half' },
  contactEmail: { check: 'email', inputmode: 'email', maxlength: 254 },
} as const

/** How payers reach the company when something goes wrong, and what they can do then. */
function contactFields({ language }: Visit, given: Profile, fault: FormFault | null): Html {
  const texts = SETTINGS[language]
  const names = Object.keys(CONTACTS) as (keyof typeof CONTACTS)[]
  const contacts = names.map((name): Field => {
    const wrong = name === 'contactEmail' ? texts.emailWrong : texts.phoneWrong
    return {
      ...CONTACTS[name],
      name,
      label: texts[name],
      value: given[name],
      fault: fault?.isWrong(name) ? wrong : null,
      wrong,
      optional: CHECKOUT[language].optional,
      autocomplete: 'off',
    }
  })
  const codes: Field = {
    name: 'newCodes',
    label: texts.newCodes,
    hint: texts.newCodesHint,
    value: given.newCodes,
    fault: fault?.isWrong('newCodes') ? texts.newCodes : null,
    wrong: texts.newCodes,
    options: NEW_CODES.map((value) => ({ value, label: texts.newCodesOf[value] })),
  }
  return html`<fieldset class="card-form"><legend>${texts.contact}</legend><p class="hint">${texts.contactHint}</p>${fieldsOf([...contacts, codes])}</fieldset>`
}

/** What a button looks like in the color, and how well it can be read. A script updates it. */
function preview({ company, language }: Visit, typed: string): Html {
  const texts = SETTINGS[language]
  const color = hexOf(typed, company.color)
  const ink = inkOn(color)
  const ratio = contrastOf(color, ink).toFixed(1).replace('.', ',')
  const sentence = texts.contrast(texts.inks[ink], ratio)
  return html`<div class="color-preview" data-white="${texts.contrast(texts.inks['#ffffff'], '{}')}" data-black="${texts.contrast(texts.inks['#000000'], '{}')}">
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
    [texts.exact, company.settlesExactPayments ? texts.yes : texts.no],
    company.contactWhatsapp !== null && [
      texts.contactWhatsapp,
      formatPhone(company.contactWhatsapp),
    ],
    company.contactPhone !== null && [texts.contactPhone, formatPhone(company.contactPhone)],
    company.contactEmail !== null && [texts.contactEmail, company.contactEmail],
    [texts.newCodes, texts.newCodesOf[company.newCodes]],
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
    [
      texts.settlement,
      company.releaseDelay_s === 0
        ? texts.atOnce
        : formatDuration(company.releaseDelay_s, language),
    ],
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
    const isErased = (name: keyof Profile) => name.startsWith('contact') && given[name] === ''
    const body = Object.fromEntries(
      changed.map((name) => [name, isErased(name) ? null : given[name]]),
    )
    await visit.operate('changeCompany', { body, once: visit.form.once })
  })
  return fault ? show(visit, given, fault) : visit.redirect('/settings', 'saved')
}

/** Who sees the connection to the bank. */
export const BANK_ROLES: Needs = ['owner', 'finance']
/** Who sees who else belongs to the company, and what they did. */
const OWNERS: Needs = ['owner']

type SettingsTab =
  | ''
  | '/logo'
  | '/messages'
  | '/reminders'
  | '/bank'
  | '/approvals'
  | '/version'
  | '/members'
  | '/activity'

/** The links between the pages of settings. */
function settingsTabs(visit: Visit, here: SettingsTab): Html {
  const texts = SETTINGS[visit.language]
  const all: [path: SettingsTab, title: string, needs: Needs][] = [
    ['', texts.profile, 'company:read'],
    ['/logo', texts.logo, 'company:read'],
    ['/messages', MESSAGES[visit.language].title, 'company:read'],
    ['/reminders', REMINDERS[visit.language].title, 'company:read'],
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
export const sendSettings = (visit: Visit, here: SettingsTab, page: RecordPage) =>
  sendPage(
    visit,
    { here: 'settings', styles: ['developers.css'], tabs: settingsTabs(visit, here) },
    page,
  )

export const settingsRoutes: DashboardRoute[] = [
  { method: 'GET', path: '/settings', needs: 'company:read', handle: (visit) => show(visit) },
  { method: 'POST', path: '/settings', needs: 'company:write', handle: save },
]

const pt = {
  title: 'Configurações',
  pages: 'Páginas de configurações',
  profile: 'Empresa',
  logo: 'Logotipo',
  bank: 'Banco',
  version: 'Versão da API',
  members: 'Equipe',
  activity: 'Atividade',
  security: 'Segurança da sua conta',
  securityText: 'Senha, segundo fator, chaves de acesso e sessões ficam em Minha conta.',
  identity: 'Identificação',
  identityText: 'Como a empresa aparece para quem paga.',
  look: 'Aparência e e-mails',
  name: 'Nome da empresa',
  nameWrong: 'Informe um nome de 1 a 255 caracteres.',
  email: 'E-mail da empresa',
  emailHint:
    'Recebe os avisos e os códigos de saque. Depois de uma troca, os códigos ainda vão para o e-mail anterior por 24 horas.',
  emailWrong: 'Informe um e-mail válido, como maria@example.com.',
  codesTo: (email: string, until: string) => `Os códigos de saque vão para ${email} até ${until}.`,
  city: 'Cidade',
  cityHint: 'Aparece no QR Code do Pix.',
  cityWrong: 'Informe a cidade, com até 255 caracteres.',
  color: 'Cor da marca',
  colorHint: 'Em hexadecimal, como #0f766e. Usada na página de pagamento, nos e-mails e aqui.',
  colorWrong: 'Informe a cor em hexadecimal, como #0f766e.',
  contrast: (ink: string, ratio: string) =>
    `Texto ${ink} sobre esta cor: contraste de ${ratio} para 1.`,
  inks: { '#ffffff': 'branco', '#000000': 'preto' },
  preview: 'Pagar com Pix',
  language: 'Idioma dos e-mails da empresa',
  languageHint: 'O idioma do painel muda no topo, para cada pessoa.',
  languages: { pt: 'Português', en: 'Inglês' } satisfies Record<Language, string>,
  receipts: 'Enviar comprovante por e-mail a quem pagou',
  receiptsHint: 'Somente quando o pagador informou um e-mail.',
  exact: 'Quitar sozinho pagamentos exatos sem código',
  exactHint:
    'Quando alguém paga direto para a chave Pix, a cobrança é quitada se o banco informa o CPF ou CNPJ completo, o valor é igual e há uma única cobrança desse pagador que podia ser paga naquele momento. Nos outros casos, o pagamento espera a sua decisão.',
  strictTaxIds: 'Conferir os dígitos de CPF e CNPJ dos pagadores',
  strictTaxIdsHint: 'Como em produção. Sem isso, o sandbox aceita números inventados.',
  contact: 'Atendimento a quem paga',
  contactHint: 'Aparece nas páginas de pagamento quando algo não dá certo.',
  contactWhatsapp: 'WhatsApp da loja',
  contactPhone: 'Telefone da loja',
  contactEmail: 'E-mail de atendimento',
  phoneWrong: 'Informe DDD e número, com 10 ou 11 dígitos.',
  newCodes: 'Cliente pode gerar um novo código quando o Pix expira',
  newCodesHint:
    'É uma nova cobrança igual, com a mesma referência. Não vale para cobranças com vencimento.',
  newCodesOf: {
    NONE: 'Nunca',
    LINKS: 'Em links de pagamento',
    ALL: 'Em links e em cobranças Pix',
  } satisfies Record<NewCodes, string>,
  yes: 'Sim',
  no: 'Não',
  taxId: 'CNPJ ou CPF',
  pixKey: 'Chave Pix',
  mode: 'Ambiente',
  modes: { live: 'Produção', sandbox: 'Testes' },
  settlement: 'Valor disponível após o pagamento',
  atOnce: 'Na hora',
  picker: 'Escolher a cor',
  operatorOnly: 'Chave Pix, CNPJ e ambiente são alterados por quem opera a instalação.',
  save: 'Salvar',
  saved: 'As configurações foram salvas.',
  readOnly: 'Somente um responsável pela empresa pode alterar.',
}

type Texts = typeof pt

const en: Texts = {
  title: 'Settings',
  pages: 'Pages of settings',
  profile: 'Company',
  logo: 'Logo',
  bank: 'Bank',
  version: 'API version',
  members: 'Members',
  activity: 'Activity',
  security: 'Security of your account',
  securityText: 'Password, second factor, passkeys and sessions are in My account.',
  identity: 'Identity',
  identityText: 'How payers see the company.',
  look: 'Look and emails',
  name: 'Name of the company',
  nameWrong: 'Enter a name of 1 to 255 characters.',
  email: 'Email of the company',
  emailHint:
    'It gets notices and the codes of withdrawals. After a change, codes still go to the former address for 24 hours.',
  emailWrong: 'Enter a valid email address such as maria@example.com.',
  codesTo: (email, until) => `Codes of withdrawals go to ${email} until ${until}.`,
  city: 'City',
  cityHint: 'It is in the QR codes.',
  cityWrong: 'Enter the city, with up to 255 characters.',
  color: 'Brand color',
  colorHint: 'In hexadecimal, such as #0f766e. Used on the payment page, in emails and here.',
  colorWrong: 'Enter the color in hexadecimal, such as #0f766e.',
  contrast: (ink, ratio) => `${ink} text on this color: contrast of ${ratio} to 1.`,
  inks: { '#ffffff': 'White', '#000000': 'Black' },
  preview: 'Pay with Pix',
  language: 'Language of the emails to the company',
  languageHint: 'The language of the dashboard is changed at the top, by each person.',
  languages: { pt: 'Portuguese', en: 'English' },
  receipts: 'Send a receipt by email to who has paid',
  receiptsHint: 'Only if the payer gave an email address.',
  exact: 'Settle exact payments without a code by themselves',
  exactHint:
    'When somebody pays directly to the Pix key, a charge is settled if the bank gives the whole CPF or CNPJ, the amount is the same, and there is only one charge of that payer that could be paid at that moment. Otherwise the payment waits for your decision.',
  strictTaxIds: 'Check the digits of payers’ CPF and CNPJ',
  strictTaxIdsHint: 'As in production. Otherwise the sandbox accepts invented numbers.',
  contact: 'Help for payers',
  contactHint: 'Shown on payment pages when something goes wrong.',
  contactWhatsapp: 'WhatsApp of the shop',
  contactPhone: 'Phone of the shop',
  contactEmail: 'Email for customers',
  phoneWrong: 'Enter area code and number, 10 or 11 digits.',
  newCodes: 'Customers can get a new code when a Pix expires',
  newCodesHint: 'It is a new charge like the old one, with its reference. Not with a due date.',
  newCodesOf: { NONE: 'Never', LINKS: 'On payment links', ALL: 'On links and Pix charges' },
  yes: 'Yes',
  no: 'No',
  taxId: 'CNPJ or CPF',
  pixKey: 'Pix key',
  mode: 'Environment',
  modes: { live: 'Live', sandbox: 'Sandbox' },
  settlement: 'Money available after payment',
  atOnce: 'At once',
  picker: 'Pick the color',
  operatorOnly: 'Pix key, CNPJ and environment are changed by whoever operates the installation.',
  save: 'Save',
  saved: 'The settings are saved.',
  readOnly: 'Only an owner of the company can change this.',
}

const SETTINGS: Record<Language, Texts> = { pt, en }
