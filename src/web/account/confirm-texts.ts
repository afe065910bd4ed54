import type { Language } from '../../lib/language.ts'

const pt = {
  title: 'Confirme que é você',
  intro: 'Esta ação é protegida. Depois da confirmação, ela fica liberada por 5 minutos.',
  continue: 'Continuar',
  cancel: 'Voltar ao painel',
  wrong: 'Não foi possível confirmar. Tente de novo.',
  wrongPassword: 'A senha não confere. Tente de novo.',
  sent: 'Enviamos um link ao seu e-mail. Abra-o em até 30 minutos para criar uma senha.',
  local:
    'Você entrou por um link e ainda não tem senha. Neste computador, em modo local, basta continuar.',
  mail: 'Você ainda não tem senha nem chave de acesso. Enviaremos um link ao seu e-mail para criar uma senha. Depois, entre de novo com ela.',
  mailLink: 'Enviar link para criar uma senha',
}

type Texts = typeof pt

const en: Texts = {
  title: 'Confirm it is you',
  intro: 'This action is protected. Once you confirm, it is allowed for 5 minutes.',
  continue: 'Continue',
  cancel: 'Back to the dashboard',
  wrong: 'This could not be confirmed. Try again.',
  wrongPassword: 'The password is wrong. Try again.',
  sent: 'We e-mailed you a link. Open it within 30 minutes to create a password.',
  local:
    'You signed in by a link and have no password yet. On this computer, in local mode, just continue.',
  mail: 'You have neither a password nor a passkey yet. We will e-mail you a link to create a password. Then sign in with it.',
  mailLink: 'Send a link to create a password',
}

export const CONFIRM: Record<Language, Texts> = { pt, en }
