import type { Language } from '../../lib/language.ts'

const pt = {
  change: 'Conectar ou alterar',
  onlyOwners: 'Somente um responsável pela empresa pode alterar.',
  connectTitle: 'Conectar um banco',
  connectText:
    'As cobranças passam a ser criadas na conta da empresa neste banco, e o dinheiro cai direto nela. Se outro banco estiver conectado, ele é substituído: cancele antes as cobranças abertas, que só podem ser pagas lá.',
  connect: 'Conectar',
  other: 'Conectar a outro banco',
  renewTitle: 'Trocar o certificado',
  renewText: (bank: string) =>
    `Envie o novo certificado que ${bank} emitiu. O recebimento não é interrompido, e o restante da conexão continua como está.`,
  renew: 'Trocar o certificado',
  checkText:
    'Pergunta ao banco se tudo o que é preciso para receber funciona e registra os avisos que faltarem.',
  check: 'Verificar agora',
  disconnectTitle: (bank: string) => `Desconectar de ${bank}?`,
  disconnectText:
    'As credenciais são apagadas e a empresa deixa de receber por Pix. Cancele antes as cobranças abertas: o que for pago nelas com o banco desconectado não é encontrado ao conectar de novo, e só quem opera a instalação pode registrá-lo depois (vintem bank reconcile --settle). Se a ideia é só mudar o certificado, use “Trocar o certificado”. Depois de desconectar, revogue também o certificado e a aplicação no portal do banco.',
  disconnect: 'Desconectar',
  back: 'Banco',
  /** After a form with faults: what is not sent back has to be given again. */
  again: 'Escolha os arquivos e digite os segredos de novo: eles não são devolvidos à página.',
  elsewhere:
    'O seu banco não está na lista, ou usa outros endereços? Quem opera a instalação pode conectá-lo.',
  done: {
    connected: 'O banco foi conectado. Verifique a conexão agora.',
    renewed: 'O certificado foi trocado. Verifique a conexão agora.',
    disconnected: 'O banco foi desconectado e as credenciais foram apagadas.',
    'callbacks-left':
      'O banco foi desconectado e as credenciais foram apagadas, mas os avisos não puderam ser removidos nele: remova-os no portal do banco.',
  },
  running: 'O banco já está sendo consultado. Tente de novo em alguns segundos.',
}

type Texts = typeof pt

const en: Texts = {
  change: 'Connect or change',
  onlyOwners: 'Only an owner of the company can change this.',
  connectTitle: 'Connect a bank',
  connectText:
    'Charges are then created at the company’s account at this bank, and the money arrives there directly. If another bank is connected, it is replaced: first cancel open charges, which can only be paid there.',
  connect: 'Connect',
  other: 'Connect to another bank',
  renewTitle: 'Renew the certificate',
  renewText: (bank) =>
    `Upload the new certificate that ${bank} issued. Payments are not interrupted, and the rest of the connection stays as it is.`,
  renew: 'Renew the certificate',
  checkText:
    'Asks the bank whether everything that is needed to receive works, and registers callbacks that are missing.',
  check: 'Check now',
  disconnectTitle: (bank) => `Disconnect from ${bank}?`,
  disconnectText:
    'The credentials are deleted, and the company can no longer be paid by Pix. Cancel open charges first: what is paid for them while no bank is connected is not found when a bank is connected again, and only whoever operates the installation can record it afterwards (vintem bank reconcile --settle). If you only want to change the certificate, use “Renew the certificate”. After disconnecting, revoke the certificate and the application in the bank’s portal too.',
  disconnect: 'Disconnect',
  back: 'Bank',
  again: 'Choose the files and enter the secrets again: they are not sent back to the page.',
  elsewhere:
    'Is your bank not in the list, or does it use other addresses? Whoever operates the installation can connect it.',
  done: {
    connected: 'The bank is connected. Check the connection now.',
    renewed: 'The certificate is renewed. Check the connection now.',
    disconnected: 'The bank is disconnected, and the credentials are deleted.',
    'callbacks-left':
      'The bank is disconnected, and the credentials are deleted, but its callbacks could not be removed: remove them in the bank’s portal.',
  },
  running: 'The bank is being asked already. Try again in a few seconds.',
}

export const BANK_CHANGES: Record<Language, Texts> = { pt, en }
