import type { Language } from '../../lib/language.ts'

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

export const LOGO: Record<Language, Texts> = { pt, en }
