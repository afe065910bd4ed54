import { cleanImage } from '../../../packages/images/src/clean-image.ts'
import { MAX_LOGO_BYTES, MAX_LOGO_SIDE, saveLogo } from '../../core/companies/store.ts'
import type { Language } from '../../lib/language.ts'
import { type Html, html } from '../html.ts'
import { logoUrl } from '../logos.ts'
import { imageOrigin } from '../security.ts'
import { card, notice } from './parts.ts'
import { sendSettings } from './settings.ts'
import { fileOf } from './uploads.ts'
import type { DashboardRoute, Visit } from './visit.ts'

type Fault = 'none' | 'large' | 'form'

/** A larger form is refused before it is read, so that it cannot fill the memory. */
const MAX_FORM_BYTES = 1024 * 1024

function show(visit: Visit, fault: Fault | null = null) {
  const { company, language } = visit
  const texts = LOGO[language]
  const mayChange = visit.can('company:write')
  const hasLogo = imageOrigin(company.imageUrl) !== null
  const image = hasLogo
    ? html`<p class="logo-preview"><img src="${company.imageUrl}" alt="${texts.alt}" referrerpolicy="no-referrer"></p>`
    : html`<p>${texts.none}</p>`
  const remove =
    hasLogo &&
    mayChange &&
    visit.formOf(
      visit.url('/settings/logo/remove'),
      html`<button class="button quiet slim">${texts.remove}</button>`,
    )
  const body = html`${fault && notice(texts.faults[fault], 'bad')}
<div class="columns settings">
${card(texts.present, html`${image}<p class="soft">${texts.where}</p>${remove}`)}
${card(texts.upload, mayChange ? uploadForm(visit, fault) : html`<p class="soft">${texts.readOnly}</p>`)}
</div>`
  const done = { saved: texts.saved, removed: texts.removed }
  return sendSettings(visit, '/logo', { title: texts.title, done, body, status: fault ? 400 : 200 })
}

function uploadForm(visit: Visit, fault: Fault | null): Html {
  const texts = LOGO[visit.language]
  const content = html`<div class="field"><label for="file">${texts.file}</label>
<input id="file" name="file" type="file" accept="image/png,image/jpeg" required aria-describedby="file-hint${fault && ' file-fault'}"${fault && html` aria-invalid="true"`}>
<p class="hint" id="file-hint">${texts.hint}</p>${fault && html`<p class="fault" id="file-fault">${texts.faults[fault]}</p>`}</div>
<div class="actions"><button class="button slim">${texts.send}</button></div>`
  const options = { kind: 'card-form', hasFile: true }
  return visit.formOf(visit.url('/settings/logo'), content, options)
}

async function upload(visit: Visit) {
  const { app, company, request } = visit
  const file = fileOf(request)
  if (!file || file.length === 0) return show(visit, 'none')
  if (file.length > MAX_LOGO_BYTES) return show(visit, 'large')
  const image = await cleanImage(file, MAX_LOGO_SIDE)
  if (!image) return show(visit, 'form')
  const name = await app.db.transaction((tx) =>
    saveLogo(tx, company.id, image, app.systemClock.now()),
  )
  await changeImage(visit, logoUrl(app.publicUrl, company.id, name))
  return visit.redirect('/settings/logo', 'saved')
}

async function remove(visit: Visit) {
  await changeImage(visit, null)
  return visit.redirect('/settings/logo', 'removed')
}

async function changeImage(visit: Visit, imageUrl: string | null): Promise<void> {
  await visit.operate('changeCompany', { body: { imageUrl }, once: visit.form.once })
}

const PATH = '/settings/logo'

export const logoRoutes: DashboardRoute[] = [
  { method: 'GET', path: PATH, needs: 'company:read', handle: (visit) => show(visit) },
  {
    method: 'POST',
    path: PATH,
    needs: 'company:write',
    bodyBytes: MAX_FORM_BYTES,
    handle: upload,
  },
  { method: 'POST', path: `${PATH}/remove`, needs: 'company:write', handle: remove },
]

const pt = {
  title: 'Logotipo',
  present: 'Logotipo atual',
  none: 'Sem logotipo, aparece a primeira letra do nome.',
  alt: 'Logotipo da empresa',
  upload: 'Enviar um logotipo',
  file: 'Arquivo',
  hint: 'PNG ou JPEG, até 256 KB e 2048 × 2048 pixels. Dados ocultos, como local e câmera, são removidos.',
  send: 'Enviar',
  remove: 'Remover logotipo',
  where: 'Aparece na página de pagamento, nos comprovantes e aqui.',
  saved: 'O logotipo foi salvo.',
  removed: 'O logotipo foi removido.',
  faults: {
    none: 'Escolha um arquivo.',
    large: 'O arquivo tem mais de 256 KB. Diminua a imagem e envie de novo.',
    form: 'Envie um PNG ou JPEG íntegro, em RGB ou tons de cinza, com até 2048 × 2048 pixels. SVG, WebP e GIF não são aceitos.',
  },
  readOnly: 'Somente um responsável pela empresa pode alterar.',
}

type Texts = typeof pt

const en: Texts = {
  title: 'Logo',
  present: 'Present logo',
  none: 'Without a logo the first letter of the name is shown.',
  alt: 'Logo of the company',
  upload: 'Upload a logo',
  file: 'File',
  hint: 'PNG or JPEG, up to 256 KB and 2048 × 2048 pixels. Hidden data, such as place and camera, is removed.',
  send: 'Upload',
  remove: 'Remove the logo',
  where: 'It is shown on the payment page, on receipts and here.',
  saved: 'The logo is saved.',
  removed: 'The logo is removed.',
  faults: {
    none: 'Choose a file.',
    large: 'The file is larger than 256 KB. Make the image smaller and upload it again.',
    form: 'Upload an intact PNG or JPEG, in RGB or gray, of up to 2048 × 2048 pixels. SVG, WebP and GIF are not accepted.',
  },
  readOnly: 'Only an owner of the company can change this.',
}

const LOGO: Record<Language, Texts> = { pt, en }
