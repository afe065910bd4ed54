import type { PasswordFault } from '../../core/people/passwords.ts'
import type { Language } from '../../lib/language.ts'

const pt = {
  email: 'E-mail',
  password: 'Senha',
  newPassword: 'Nova senha',
  passwordHint: 'Pelo menos 12 caracteres. Quatro palavras sem relação entre si são uma boa senha.',
  passwordFaults: {
    short: 'Use pelo menos 12 caracteres.',
    long: 'Use no máximo 256 caracteres.',
    common:
      'Esta senha é fácil de adivinhar. Evite palavras comuns, sequências, datas, o seu nome e o da empresa.',
  } satisfies Record<PasswordFault, string>,
  name: 'Seu nome',
  fill: {
    email: 'Informe um e-mail válido.',
    password: 'Informe a senha.',
    name: 'Informe o seu nome.',
  },
  signIn: {
    title: 'Entrar no painel',
    act: 'Entrar',
    wrong: 'E-mail ou senha incorretos. Confira e tente de novo, ou crie uma nova senha.',
    tooMany: (minutes: number) =>
      `Muitas tentativas. Aguarde ${minutes === 1 ? '1 minuto' : `${minutes} minutos`} ou crie uma nova senha.`,
    busy: 'Muitas pessoas estão entrando agora. Tente de novo em alguns segundos.',
    forgotten: 'Esqueci minha senha',
    noAccount: 'Ainda não tem acesso? Peça um convite a quem administra a empresa.',
  },
  forgotten: {
    title: 'Criar uma nova senha',
    text: 'Informe o seu e-mail e enviaremos um link para criar uma nova senha.',
    act: 'Enviar link',
    sent: 'Confira o seu e-mail',
    sentText: (minutes: number) =>
      `Se houver uma conta com este e-mail, o link chega em instantes. Ele vale por ${minutes} minutos e só pode ser usado uma vez. Não chegou? Veja a caixa de spam.`,
    back: 'Voltar para a entrada',
  },
  choose: {
    title: 'Criar uma nova senha',
    text: (email: string) => `Para a conta ${email}. Você sairá de todos os outros dispositivos.`,
    act: 'Salvar senha e entrar',
  },
  link: {
    title: 'Entrar no painel',
    text: (name: string, email: string) => `Você vai entrar como ${name} (${email}).`,
    act: 'Entrar no painel',
  },
  ended: {
    title: 'Este link não vale mais',
    text: {
      'sign-in': 'Ele expirou ou já foi usado. Peça um novo a quem enviou.',
      invitation:
        'O convite expirou, já foi aceito ou foi cancelado. Peça um novo a quem convidou.',
      password: 'Ele expirou ou já foi usado. Peça um novo link.',
    },
    act: {
      'sign-in': 'Entrar com senha',
      invitation: 'Ir para a entrada',
      password: 'Pedir um novo link',
    },
  },
  invitation: {
    title: (company: string) => `Convite para ${company}`,
    installation: 'a operação do Vintém',
    role: 'Sua função',
    operator: 'Operação do serviço',
    create: 'Crie o seu acesso com um nome e uma senha.',
    act: 'Aceitar convite',
    known: (email: string) =>
      `Você já tem uma conta com o e-mail ${email}. Entre para aceitar o convite.`,
    goOn: 'Entrar e aceitar',
    other: (email: string) => `Você está usando a conta ${email}. Ao continuar, você sairá dela.`,
    waiting: 'Convites para você',
    none: 'Nenhum convite pendente.',
    accept: 'Aceitar',
  },
}

type Texts = typeof pt

const en: Texts = {
  email: 'Email',
  password: 'Password',
  newPassword: 'New password',
  passwordHint: 'At least 12 characters. Four words without connection are a good password.',
  passwordFaults: {
    short: 'Use at least 12 characters.',
    long: 'Use at most 256 characters.',
    common:
      'This password is easy to guess. Avoid common words, sequences, dates, your name and your company’s.',
  },
  name: 'Your name',
  fill: {
    email: 'Enter a valid email address.',
    password: 'Enter the password.',
    name: 'Enter your name.',
  },
  signIn: {
    title: 'Sign in to the dashboard',
    act: 'Sign in',
    wrong: 'Wrong email or password. Check them and try again, or choose a new password.',
    tooMany: (minutes) =>
      `Too many attempts. Wait ${minutes === 1 ? '1 minute' : `${minutes} minutes`}, or choose a new password.`,
    busy: 'Many people are signing in right now. Try again in a few seconds.',
    forgotten: 'Forgot your password?',
    noAccount: 'No access yet? Ask whoever runs the company for an invitation.',
  },
  forgotten: {
    title: 'Choose a new password',
    text: 'Enter your email and we will send a link to choose a new password.',
    act: 'Send the link',
    sent: 'Check your email',
    sentText: (minutes) =>
      `If there is an account with this email, the link arrives in a moment. It works for ${minutes} minutes, and only once. Nothing there? Look in the spam folder.`,
    back: 'Back to sign-in',
  },
  choose: {
    title: 'Choose a new password',
    text: (email) => `For the account ${email}. You will be signed out everywhere else.`,
    act: 'Save and sign in',
  },
  link: {
    title: 'Open the dashboard',
    text: (name, email) => `You will sign in as ${name} (${email}).`,
    act: 'Open the dashboard',
  },
  ended: {
    title: 'This link no longer works',
    text: {
      'sign-in': 'It has expired or was already used. Ask whoever sent it for a new one.',
      invitation:
        'The invitation has expired, or was accepted or withdrawn. Ask whoever invited you for a new one.',
      password: 'It has expired or was already used. Ask for a new link.',
    },
    act: {
      'sign-in': 'Sign in with a password',
      invitation: 'Go to sign-in',
      password: 'Ask for a new link',
    },
  },
  invitation: {
    title: (company) => `Invitation to ${company}`,
    installation: 'the operation of Vintém',
    role: 'Your role',
    operator: 'Operator of the service',
    create: 'Create your access with a name and a password.',
    act: 'Accept the invitation',
    known: (email) => `You already have an account with the email ${email}. Sign in to accept.`,
    goOn: 'Sign in and accept',
    other: (email) => `You are using the account ${email}. You will be signed out of it.`,
    waiting: 'Invitations for you',
    none: 'No invitation is waiting.',
    accept: 'Accept',
  },
}

export const ACCOUNT: Record<Language, Texts> = { pt, en }
