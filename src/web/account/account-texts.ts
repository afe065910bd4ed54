import type { Language } from '../../lib/language.ts'

type Texts = {
  title: string
  profile: string
  name: string
  nameWrong: string
  email: string
  emailText: string
  language: string
  languages: Record<Language, string>
  save: string
  password: string
  passwordText: string
  noPassword: string
  present: string
  presentWrong: string
  next: string
  changePassword: string
  createPassword: string
  confirmFirst: string
  security: string
  securityText: string
  openSecurity: string
  sessions: string
  sessionsText: string
  here: string
  seen: string
  since: string
  address: string
  end: string
  endOthers: string
  companies: string
  done: Record<'profile' | 'password' | 'ended' | 'ended-others', string>
  device: { unknown: string; on(browser: string, system: string): string }
}

const pt: Texts = {
  title: 'Minha conta',
  profile: 'Seus dados',
  name: 'Nome',
  nameWrong: 'Informe o seu nome, com até 255 caracteres.',
  email: 'E-mail',
  emailText: 'É com ele que você entra. Para usar outro, peça um novo convite.',
  language: 'Idioma',
  languages: { pt: 'Português', en: 'English' },
  save: 'Salvar',
  password: 'Senha',
  passwordText: 'Ao trocar a senha, você sai de todos os outros dispositivos.',
  noPassword: 'Você ainda não tem uma senha. Crie uma para entrar sem depender de um link.',
  present: 'Senha atual',
  presentWrong: 'A senha atual não confere.',
  next: 'Nova senha',
  changePassword: 'Trocar senha',
  createPassword: 'Criar senha',
  confirmFirst: 'Confirmar que sou eu',
  security: 'Segurança',
  securityText: 'Aplicativo autenticador, chaves de acesso (passkeys) e códigos de recuperação.',
  openSecurity: 'Abrir segurança',
  sessions: 'Onde você está conectado',
  sessionsText: 'Não reconhece um dispositivo? Encerre o acesso e troque a senha.',
  here: 'este dispositivo',
  seen: 'Visto por último em',
  since: 'Entrou em',
  address: 'Endereço IP',
  end: 'Encerrar',
  endOthers: 'Encerrar todos os outros',
  companies: 'Voltar para o painel',
  done: {
    profile: 'Dados salvos.',
    password: 'Senha salva. Os outros dispositivos foram desconectados.',
    ended: 'Acesso encerrado.',
    'ended-others': 'Todos os outros acessos foram encerrados.',
  },
  device: {
    unknown: 'Dispositivo desconhecido',
    on: (browser, system) => `${browser} em ${system}`,
  },
}

const en: Texts = {
  title: 'My account',
  profile: 'Your details',
  name: 'Name',
  nameWrong: 'Enter your name, with at most 255 characters.',
  email: 'Email',
  emailText: 'You sign in with it. To use another one, ask for a new invitation.',
  language: 'Language',
  languages: { pt: 'Português', en: 'English' },
  save: 'Save',
  password: 'Password',
  passwordText: 'If you change it, you are signed out everywhere else.',
  noPassword: 'You have no password yet. Create one to sign in without a link.',
  present: 'Present password',
  presentWrong: 'The present password is wrong.',
  next: 'New password',
  changePassword: 'Change the password',
  createPassword: 'Create a password',
  confirmFirst: 'Confirm that it is me',
  security: 'Security',
  securityText: 'Authenticator app, passkeys and recovery codes.',
  openSecurity: 'Open security',
  sessions: 'Where you are signed in',
  sessionsText: 'You do not know a device? End its session and change your password.',
  here: 'this device',
  seen: 'Last seen',
  since: 'Signed in',
  address: 'IP address',
  end: 'End',
  endOthers: 'End all others',
  companies: 'Back to the dashboard',
  done: {
    profile: 'Saved.',
    password: 'The password is saved. Your other devices were signed out.',
    ended: 'The session has ended.',
    'ended-others': 'All other sessions have ended.',
  },
  device: { unknown: 'Unknown device', on: (browser, system) => `${browser} on ${system}` },
}

export const ACCOUNT_PAGE: Record<Language, Texts> = { pt, en }
