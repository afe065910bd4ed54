import type { Language } from '../../lib/language.ts'

type Texts = {
  title: string
  pages: string
  profile: string
  logo: string
  bank: string
  version: string
  members: string
  activity: string
  security: string
  securityText: string
  identity: string
  identityText: string
  look: string
  name: string
  nameWrong: string
  email: string
  emailHint: string
  emailWrong: string
  codesTo(email: string, until: string): string
  city: string
  cityHint: string
  cityWrong: string
  color: string
  colorHint: string
  colorWrong: string
  contrast(ink: string, ratio: string): string
  inks: { '#ffffff': string; '#000000': string }
  preview: string
  language: string
  languageHint: string
  languages: Record<Language, string>
  receipts: string
  receiptsHint: string
  strictTaxIds: string
  strictTaxIdsHint: string
  yes: string
  no: string
  taxId: string
  pixKey: string
  mode: string
  modes: { live: string; sandbox: string }
  settlement: string
  seconds(count: number): string
  operatorOnly: string
  save: string
  saved: string
  readOnly: string
}

const pt: Texts = {
  title: 'Configurações',
  pages: 'Páginas de configurações',
  profile: 'Perfil',
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
  codesTo: (email, until) => `Os códigos de saque vão para ${email} até ${until}.`,
  city: 'Cidade',
  cityHint: 'Aparece no QR Code do Pix.',
  cityWrong: 'Informe a cidade, com até 255 caracteres.',
  color: 'Cor da marca',
  colorHint: 'Em hexadecimal, como #0f766e. Usada na página de pagamento, nos e-mails e aqui.',
  colorWrong: 'Informe a cor em hexadecimal, como #0f766e.',
  contrast: (ink, ratio) => `Texto ${ink} sobre esta cor: contraste de ${ratio} para 1.`,
  inks: { '#ffffff': 'branco', '#000000': 'preto' },
  preview: 'Pagar com Pix',
  language: 'Idioma dos e-mails da empresa',
  languageHint: 'O idioma do painel muda no rodapé, para cada pessoa.',
  languages: { pt: 'Português', en: 'Inglês' },
  receipts: 'Enviar comprovante por e-mail a quem pagou',
  receiptsHint: 'Somente quando o pagador informou um e-mail.',
  strictTaxIds: 'Conferir os dígitos de CPF e CNPJ dos pagadores',
  strictTaxIdsHint: 'Como em produção. Sem isso, o sandbox aceita números inventados.',
  yes: 'Sim',
  no: 'Não',
  taxId: 'CNPJ ou CPF',
  pixKey: 'Chave Pix',
  mode: 'Ambiente',
  modes: { live: 'Produção', sandbox: 'Testes' },
  settlement: 'Valor disponível após o pagamento',
  seconds: (count) => (count === 0 ? 'Na hora' : `${count} s`),
  operatorOnly: 'Chave Pix, CNPJ e ambiente são alterados por quem opera a instalação.',
  save: 'Salvar',
  saved: 'As configurações foram salvas.',
  readOnly: 'Somente um responsável pela empresa pode alterar.',
}

const en: Texts = {
  title: 'Settings',
  pages: 'Pages of settings',
  profile: 'Profile',
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
  languageHint: 'The language of the dashboard is changed at the bottom, by each person.',
  languages: { pt: 'Portuguese', en: 'English' },
  receipts: 'Send a receipt by email to who has paid',
  receiptsHint: 'Only if the payer gave an email address.',
  strictTaxIds: 'Check the digits of payers’ CPF and CNPJ',
  strictTaxIdsHint: 'As in production. Otherwise the sandbox accepts invented numbers.',
  yes: 'Yes',
  no: 'No',
  taxId: 'CNPJ or CPF',
  pixKey: 'Pix key',
  mode: 'Environment',
  modes: { live: 'Live', sandbox: 'Sandbox' },
  settlement: 'Money available after payment',
  seconds: (count) => (count === 0 ? 'At once' : `${count} s`),
  operatorOnly: 'Pix key, CNPJ and environment are changed by whoever operates the installation.',
  save: 'Save',
  saved: 'The settings are saved.',
  readOnly: 'Only an owner of the company can change this.',
}

export const SETTINGS: Record<Language, Texts> = { pt, en }
