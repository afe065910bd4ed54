import type { BankRule, GivenBank } from '../../core/banks/given.ts'
import type { Language } from '../../lib/language.ts'
import type { CertificateRule } from '../../provider/bacen/certificate.ts'
import type { HeavyRule } from '../../provider/bacen/weigh-certificate.ts'

export type FieldName = Exclude<keyof GivenBank, 'ca'> | 'pixKey'

/** What can be wrong in the forms of a bank. */
export type WebRule =
  | BankRule
  | CertificateRule
  | HeavyRule
  | 'profile'
  | 'file-large'
  | 'certificate-ended'
  | 'pix-key'
  | 'pix-key-fixed'

const FIELDS_PT: Record<FieldName, { label: string; hint?: string }> = {
  profile: { label: 'Banco' },
  pixKey: {
    label: 'Chave Pix que recebe',
    hint: 'Deve ser da conta da empresa neste banco. Depois da primeira cobrança real não pode mais mudar.',
  },
  clientId: { label: 'Client ID' },
  clientSecret: { label: 'Client secret' },
  appKey: { label: 'Chave da aplicação' },
  certificate: {
    label: 'Certificado',
    hint: 'PFX (.p12, .pfx) ou PEM, até 64 KB.',
  },
  key: {
    label: 'Chave privada',
    hint: 'Só para um certificado PEM, se a chave estiver em outro arquivo. Até 64 KB.',
  },
  passphrase: { label: 'Senha do certificado ou da chave' },
  branch: { label: 'Agência' },
  account: { label: 'Conta com dígito' },
  accountType: { label: 'Tipo da conta' },
  payouts: { label: 'Quem envia os saques' },
  payoutKey: {
    label: 'Chave Pix que recebe os saques',
    hint: 'Se o banco envia os saques, precisa ser outra chave, de outra conta da empresa.',
  },
}

const pt = {
  fields: FIELDS_PT,
  rules: {
    profile: 'Escolha o banco.',
    'client-id': 'Informe o Client ID que o banco deu, sem espaços.',
    'secret-missing': 'Este banco exige o client secret.',
    'secret-form': 'Cole o client secret como o banco o deu, sem espaços.',
    'app-key-missing': 'Este banco exige a chave da aplicação.',
    'app-key-form': 'Cole a chave da aplicação como o banco a deu, sem espaços.',
    'certificate-missing': 'Escolha o arquivo do certificado.',
    'certificate-ended': 'Este certificado já terminou. Peça um novo ao banco.',
    'file-large': 'O arquivo tem mais de 64 KB e não deve ser um certificado.',
    'key-missing': 'Um certificado PEM precisa da chave privada: escolha também o arquivo dela.',
    'key-beside-pfx': 'Um arquivo PFX já contém a chave: deixe este campo vazio.',
    'account-type': 'Escolha o tipo da conta.',
    account: 'Informe o número da conta com o dígito.',
    branch: 'Informe a agência com até 4 números.',
    'branch-alone': 'Informe também a conta, ou deixe a agência vazia.',
    payouts: 'Escolha quem envia os saques.',
    'payouts-impossible':
      'Os saques não podem ser enviados por este banco: escolha o envio manual.',
    'payout-key': 'Informe a chave Pix sem espaços, com até 77 caracteres.',
    'payout-key-missing':
      'Para o banco enviar os saques, informe a chave que os recebe, diferente da que recebe as cobranças.',
    'no-certificate': 'O arquivo PFX não contém um certificado. Exporte de novo, com a chave.',
    'old-pfx':
      'O arquivo PFX usa uma cifra antiga, que não é mais aceita. Exporte de novo com uma cifra atual (AES).',
    'passphrase-missing': 'Este arquivo tem uma senha: informe-a.',
    'passphrase-wrong': 'A senha não abre este arquivo.',
    'no-pfx': 'O arquivo não é um PFX (.p12 ou .pfx) nem um certificado PEM.',
    'no-pem': 'O arquivo não contém um certificado.',
    'own-first': 'O certificado da empresa precisa ser o primeiro do arquivo.',
    'other-key': 'A chave privada não é deste certificado.',
    damaged: 'O certificado não pode ser lido: o arquivo está danificado.',
    'no-key': 'O arquivo não contém uma chave privada em PEM.',
    'damaged-key': 'A chave privada não pode ser lida: o arquivo está danificado.',
    'too-slow':
      'O arquivo leva tempo demais para ser aberto. Exporte de novo com as opções padrão do programa.',
    'key-kind': 'A chave deste certificado não é aceita: use RSA de até 4096 bits ou EC.',
    'pix-key': 'Informe a chave Pix sem espaços, com até 77 caracteres.',
    'pix-key-fixed':
      'A chave não pode mais mudar, porque a empresa já tem cobranças, códigos ou assinaturas reais.',
  } satisfies Record<WebRule, string>,
  groups: {
    bank: 'Banco e chave Pix',
    access: 'Credenciais da API',
    certificate: 'Certificado',
    account: 'Conta para assinaturas',
    payouts: 'Saques',
  },
  choose: 'Escolha o banco',
  accountTypes: { corrente: 'Corrente', poupanca: 'Poupança', pagamento: 'Pagamento' },
  payouts: { manual: 'Quem opera a instalação, manualmente', bank: 'O banco, automaticamente' },
  accessNote: (withoutSecret: string, withAppKey: string) =>
    `O banco dá estes dados à sua aplicação, no portal de desenvolvedores. Sem client secret: ${withoutSecret}. Com chave da aplicação: ${withAppKey}.`,
  certificateNote:
    'O certificado que o banco emitiu para a API Pix. Arquivos e segredos são guardados cifrados e nunca são mostrados de novo.',
  accountNote: 'Para onde vão as cobranças do Pix Automático. Sem assinaturas, deixe vazio.',
  payoutsNote: (banks: string) => `Podem enviar saques automaticamente: ${banks}.`,
  keepNote: 'O que ficar vazio continua como está.',
}

type Texts = typeof pt

const en: Texts = {
  fields: {
    profile: { label: 'Bank' },
    pixKey: {
      label: 'Pix key that receives',
      hint: 'It must belong to the company’s account at this bank. After the first real charge it can no longer change.',
    },
    clientId: { label: 'Client ID' },
    clientSecret: { label: 'Client secret' },
    appKey: { label: 'Application key' },
    certificate: { label: 'Certificate', hint: 'PFX (.p12, .pfx) or PEM, up to 64 KB.' },
    key: {
      label: 'Private key',
      hint: 'Only for a PEM certificate whose key is in another file. Up to 64 KB.',
    },
    passphrase: { label: 'Passphrase of the certificate or the key' },
    branch: { label: 'Branch' },
    account: { label: 'Account with its digit' },
    accountType: { label: 'Account type' },
    payouts: { label: 'Who sends withdrawals' },
    payoutKey: {
      label: 'Pix key that withdrawals go to',
      hint: 'If the bank sends withdrawals, it must be another key, of another account of the company.',
    },
  },
  rules: {
    profile: 'Choose the bank.',
    'client-id': 'Enter the client ID that the bank gave you, without spaces.',
    'secret-missing': 'This bank needs the client secret.',
    'secret-form': 'Paste the client secret as the bank gave it, without spaces.',
    'app-key-missing': 'This bank needs the application key.',
    'app-key-form': 'Paste the application key as the bank gave it, without spaces.',
    'certificate-missing': 'Choose the file of the certificate.',
    'certificate-ended': 'This certificate has ended. Ask the bank for a new one.',
    'file-large': 'The file is larger than 64 KB and cannot be a certificate.',
    'key-missing': 'A PEM certificate needs its private key: choose that file too.',
    'key-beside-pfx': 'A PFX file already holds its key: leave this field empty.',
    'account-type': 'Choose the type of the account.',
    account: 'Enter the account number with its digit.',
    branch: 'Enter the branch, up to 4 digits.',
    'branch-alone': 'Enter the account too, or leave the branch empty.',
    payouts: 'Choose who sends withdrawals.',
    'payouts-impossible': 'This bank cannot send withdrawals: choose to send them by hand.',
    'payout-key': 'Enter the Pix key without spaces, up to 77 characters.',
    'payout-key-missing':
      'For the bank to send withdrawals, enter the key they go to, another than the one that receives.',
    'no-certificate': 'The PFX file holds no certificate. Export it again, with its key.',
    'old-pfx':
      'The PFX file uses an old cipher that is no longer accepted. Export it again with a current one (AES).',
    'passphrase-missing': 'This file has a passphrase: enter it.',
    'passphrase-wrong': 'The passphrase does not open this file.',
    'no-pfx': 'The file is neither a PFX (.p12 or .pfx) nor a PEM certificate.',
    'no-pem': 'The file holds no certificate.',
    'own-first': 'The company’s own certificate must be the first in the file.',
    'other-key': 'The private key does not belong to this certificate.',
    damaged: 'The certificate cannot be read: the file is damaged.',
    'no-key': 'The file holds no private key as PEM.',
    'damaged-key': 'The private key cannot be read: the file is damaged.',
    'too-slow': 'The file takes too long to open. Export it again with the default options.',
    'key-kind': 'The key of this certificate is not accepted: use RSA of up to 4096 bits, or EC.',
    'pix-key': 'Enter the Pix key without spaces, up to 77 characters.',
    'pix-key-fixed':
      'The key can no longer change, because the company has real charges, codes or subscriptions.',
  },
  groups: {
    bank: 'Bank and Pix key',
    access: 'API credentials',
    certificate: 'Certificate',
    account: 'Account for subscriptions',
    payouts: 'Withdrawals',
  },
  choose: 'Choose the bank',
  accountTypes: { corrente: 'Checking', poupanca: 'Savings', pagamento: 'Payment' },
  payouts: { manual: 'Whoever operates the installation, by hand', bank: 'The bank, by itself' },
  accessNote: (withoutSecret, withAppKey) =>
    `The bank gives these to your application, in its developer portal. Without a client secret: ${withoutSecret}. With an application key: ${withAppKey}.`,
  certificateNote:
    'The certificate that the bank issued for API Pix. Files and secrets are stored encrypted and never shown again.',
  accountNote: 'Where charges of Pix Automático go. Without subscriptions, leave it empty.',
  payoutsNote: (banks) => `These can send withdrawals by themselves: ${banks}.`,
  keepNote: 'What you leave empty stays as it is.',
}

export const BANK_FORM: Record<Language, Texts> = { pt, en }
