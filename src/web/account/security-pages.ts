import { askForNewPasskey, MAX_PASSKEY_NAME } from '../../core/people/passkeys.ts'
import { cameByLink, type Factors, hasFactor, totpUri } from '../../core/people/second-factors.ts'
import type { Passkey } from '../../core/people/second-factors-store.ts'
import { formatMoment } from '../../pix/local-time.ts'
import { qrDataUrl } from '../../pix/qr.ts'
import { backTo } from '../dashboard/form-parts.ts'
import { card, doneNotice, moment, notice, pill } from '../dashboard/parts.ts'
import { hasConfirmed } from '../dashboard/signed-in.ts'
import type { SignedIn } from '../dashboard/visit.ts'
import { copyButton } from '../developer.ts'
import { fieldsOf } from '../forms.ts'
import { type Html, html } from '../html.ts'
import { icon, type Page } from '../layout.ts'
import { localhostUrl, PASSKEY_SCRIPT, passkeyButton, relyingParty } from './passkey.ts'
import { PASSKEY } from './passkey-texts.ts'
import { SECURITY } from './security-texts.ts'

type Part = Pick<Page, 'title' | 'body' | 'status' | 'scripts'>

const ROOT = '/account/security'

/** All that somebody proves besides their password. It can be changed once they have confirmed. */
export async function securityPage(
  visitor: SignedIn,
  factors: Factors,
  fault: string | null,
): Promise<Part> {
  const texts = SECURITY[visitor.language]
  const mayChange = hasConfirmed(visitor)
  const body = html`${backTo('/account', texts.back)}<section class="card">
<h1>${texts.title}</h1>
${doneNotice(visitor, texts.done)}
<p class="soft">${texts.intro}</p>
${!mayChange && html`<p>${texts.confirmFirst}</p><a class="button" href="/account/confirm?next=${ROOT}">${texts.confirm}</a>`}
</section>
${linkCard(visitor, factors)}
${appCard(visitor, factors, mayChange)}
${await passkeysCard(visitor, factors.passkeys, mayChange, fault)}
${codesCard(visitor, factors, mayChange)}
`
  const status = fault === null ? 200 : 422
  return { title: texts.title, body, scripts: [PASSKEY_SCRIPT], status }
}

/** A button that mails a link, after which a factor counts at once. */
const linkForm = ({ language, formOf }: SignedIn): Html =>
  formOf(`${ROOT}/link`, html`<button class="button">${SECURITY[language].link.act}</button>`)

/** When the factors of the person begin to count, if it is later than now. */
function waitsUntil({ site, person }: SignedIn): Date | null {
  const { factorCountsAt } = person
  return factorCountsAt && factorCountsAt > site.app.systemClock.now() ? factorCountsAt : null
}

/** Says how a factor counts at once, to whoever has proved no more than a password. */
function linkCard(visitor: SignedIn, factors: Factors): Html | null {
  const { site, session, language } = visitor
  const texts = SECURITY[language].link
  const until = waitsUntil(visitor)
  if (hasFactor(factors)) {
    return (
      until &&
      card(texts.title, html`<p>${texts.waiting(formatMoment(until))}</p>${linkForm(visitor)}`)
    )
  }
  if (cameByLink(session, site.app.systemClock.now())) return null
  return card(texts.title, html`<p>${texts.first}</p>${linkForm(visitor)}`)
}

/** Says why something needs a second factor, and leads to where it is set up or confirmed. */
export function factorNeeded(visitor: SignedIn, why: 'money' | 'operator'): Part {
  const { money, operator, link } = SECURITY[visitor.language]
  const until = visitor.session.hasSecondFactor ? waitsUntil(visitor) : null
  const { title, text, act } = { money, operator: { ...money, text: operator } }[why]
  const way = until
    ? html`<h1>${link.title}</h1><p>${link.waiting(formatMoment(until))}</p>${linkForm(visitor)}`
    : html`<h1>${title}</h1><p>${text}</p><a class="button" href="${ROOT}">${act}</a>`
  const body = html`<section class="card result">${icon('lock')}${way}</section>`
  return { title: until ? link.title : title, body, status: 403 }
}

function appCard({ language, person, formOf }: SignedIn, { hasTotp }: Factors, mayChange: boolean) {
  const texts = SECURITY[language]
  const { title, text, since, add, remove, removeText } = texts.app
  const state = hasTotp ? pill(texts.on, 'good') : pill(texts.off, 'calm')
  const removal = html`<details><summary>${remove}</summary>${formOf(
    `${ROOT}/app/remove`,
    html`<p>${removeText}</p><button class="button quiet">${remove}</button>`,
    { kind: 'card-form' },
  )}</details>`
  const addition = formOf(`${ROOT}/app`, html`<button class="button">${add}</button>`)
  return card(
    title,
    html`${state}<p>${text}</p>
${hasTotp && html`<p class="soft small">${since} ${moment(person.totpConfirmedAt!)}</p>`}
${mayChange && (hasTotp ? removal : addition)}`,
  )
}

async function passkeysCard(
  visitor: SignedIn,
  passkeys: Passkey[],
  mayChange: boolean,
  fault: string | null,
): Promise<Html> {
  const texts = SECURITY[visitor.language].passkeys
  return card(
    texts.title,
    html`<p>${texts.text}</p>
${passkeys.length > 0 && passkeyList(visitor, passkeys, mayChange)}
${mayChange && (await newPasskeyForm(visitor, passkeys, fault))}`,
  )
}

function passkeyList({ language, formOf }: SignedIn, passkeys: Passkey[], mayChange: boolean) {
  const texts = SECURITY[language].passkeys
  const removal = ({ id, name }: Passkey) =>
    html`<details><summary class="small" aria-label="${texts.removeOf(name)}">${texts.remove}</summary>${formOf(
      `${ROOT}/passkeys/remove`,
      html`<input type="hidden" name="id" value="${id}"><p class="small">${texts.removeText}</p><button class="button quiet slim">${texts.remove}</button>`,
      { kind: 'card-form' },
    )}</details>`
  const row = (passkey: Passkey) => {
    const { name, createdAt, lastUsedAt } = passkey
    const used = lastUsedAt ? html`${texts.lastUsed} ${moment(lastUsedAt)}` : texts.never
    return html`<li class="passkey"><strong>${name}</strong><p class="soft small">${texts.created} ${moment(createdAt)} · ${used}</p>${mayChange && removal(passkey)}</li>`
  }
  return html`<ul class="rows" aria-label="${texts.caption}">${passkeys.map(row)}</ul>`
}

async function newPasskeyForm(
  visitor: SignedIn,
  known: Passkey[],
  fault: string | null,
): Promise<Html> {
  const { site, request, person, session, language, form, formOf } = visitor
  const texts = SECURITY[language].passkeys
  const rp = relyingParty(site, request)
  if (!rp) return html`<p class="hint">${PASSKEY[language].needsName(localhostUrl(site))}</p>`
  const ceremony = await askForNewPasskey(site.app, rp, person, session.id, known)
  const name = {
    name: 'name',
    label: texts.name,
    hint: texts.nameHint,
    value: form.name ?? '',
    fault,
    wrong: texts.nameFault,
    maxlength: MAX_PASSKEY_NAME,
  }
  return formOf(
    `${ROOT}/passkeys`,
    html`${fieldsOf([name])}${passkeyButton(ceremony, 'create', texts.add, language)}`,
    { kind: 'card-form' },
  )
}

function codesCard({ language, formOf }: SignedIn, factors: Factors, mayChange: boolean): Html {
  const { title, text, left, none, renew, renewText } = SECURITY[language].codes
  if (!hasFactor(factors)) return card(title, html`<p>${text}</p><p class="soft small">${none}</p>`)
  const renewal = formOf(
    `${ROOT}/recovery-codes`,
    html`<p class="soft small">${renewText}</p><button class="button quiet">${renew}</button>`,
    { kind: 'card-form' },
  )
  return card(
    title,
    html`<p>${text}</p><p><strong>${left(factors.recoveryCodes)}</strong></p>${mayChange && renewal}`,
  )
}

/** Sets up the app that makes codes: its secret as an image and as text, and the first code. */
export function appPage(visitor: SignedIn, secret: string, fault: string | null): Part {
  const { language, person, formOf } = visitor
  const { app: texts, back } = SECURITY[language]
  const code = {
    name: 'code',
    label: texts.code,
    hint: texts.codeHint,
    value: '',
    fault,
    wrong: texts.wrong,
    maxlength: 10,
    inputmode: 'numeric',
    autocomplete: 'one-time-code',
  } as const
  const body = html`${backTo(ROOT, SECURITY[language].title)}<section class="card">
<h1>${texts.title}</h1>
${fault && notice(fault, 'bad')}
<ol class="steps">${texts.steps.map((step) => html`<li><span>${step}</span></li>`)}</ol>
<p class="qr"><img src="${qrDataUrl(totpUri(secret, person))}" alt="${texts.alt}" width="256" height="256"></p>
<div class="field"><p><strong>${texts.secret}</strong></p><p class="copyable"><code translate="no">${grouped(secret)}</code>${copyButton(secret, texts.secret, language)}</p><p class="hint">${texts.secretHint}</p></div>
${formOf(`${ROOT}/app/code`, html`${fieldsOf([code])}<button class="button">${texts.confirm}</button>`, { kind: 'card-form' })}
<p class="small"><a href="${ROOT}">${back}</a></p>
</section>`
  return { title: texts.title, body }
}

/** In groups of four, which are easier to type. */
const grouped = (secret: string): string => secret.replace(/(.{4})(?=.)/g, '$1 ')

/** Shows recovery codes, once. */
export function codesPage({ language }: SignedIn, codes: string[], what: string | null): Part {
  const { codes: texts, done } = SECURITY[language]
  const all = codes.join('\n')
  const body = html`<section class="card">
<h1>${texts.shownTitle}</h1>
${what && notice(done[what])}
<p>${texts.shownText}</p>
<ul class="codes" translate="no">${codes.map((code) => html`<li><code>${code}</code></li>`)}</ul>
${copyButton(all, texts.copy, language)}
<a class="button" href="${ROOT}">${texts.saved}</a>
</section>`
  return { title: texts.shownTitle, body }
}
