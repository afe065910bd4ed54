import type { Language } from '../../lib/language.ts'

const DONE_PT: Record<string, string> = {
  app: 'Aplicativo autenticador ativado.',
  'app-removed': 'Aplicativo autenticador removido.',
  passkey: 'Chave de acesso adicionada.',
  'passkey-removed': 'Chave de acesso removida.',
}

const pt = {
  title: 'Segurança',
  intro:
    'Com a verificação em duas etapas, só a senha não basta para entrar na sua conta. Em empresas com dinheiro real, ela é necessária para sacar, devolver, cuidar das chaves de API, da equipe e da versão da API e mudar a conexão com o banco.',
  confirmFirst: 'Para mudar estas configurações, confirme antes que é você.',
  confirm: 'Confirmar que sou eu',
  back: 'Minha conta',
  on: 'Ativo',
  off: 'Inativo',
  app: {
    title: 'Aplicativo autenticador',
    text: 'Um aplicativo no celular, como Google Authenticator, Microsoft Authenticator ou 1Password, gera um código novo a cada 30 segundos.',
    since: 'Ativo desde',
    add: 'Configurar aplicativo',
    remove: 'Remover aplicativo',
    removeText: 'Os códigos deste aplicativo deixam de valer. Confirme a remoção.',
    scan: 'Leia o QR code com o aplicativo',
    alt: 'QR code para o aplicativo autenticador',
    secret: 'Ou digite esta chave no aplicativo',
    secretHint: 'Tipo: baseado em tempo, 6 dígitos. Não mostre a chave a ninguém.',
    code: 'Código que o aplicativo mostra',
    codeHint: '6 dígitos',
    confirm: 'Ativar',
    wrong:
      'O código não confere. Veja se o relógio do celular está certo e tente o próximo código.',
    steps: [
      'Abra o aplicativo autenticador no celular e adicione uma conta.',
      'Leia o QR code abaixo ou digite a chave.',
      'Informe o código de 6 dígitos que o aplicativo mostra.',
    ],
  },
  passkeys: {
    title: 'Chaves de acesso',
    text: 'Entre com a digital, o rosto ou o PIN do seu aparelho, sem digitar a senha. É a forma mais segura.',
    caption: 'Suas chaves de acesso',
    name: 'Nome da chave de acesso',
    nameHint: 'Por exemplo, o nome do aparelho: celular da Ana.',
    created: 'Criada em',
    lastUsed: 'Último uso',
    never: 'nunca usada',
    add: 'Adicionar chave de acesso',
    remove: 'Remover',
    removeOf: (name: string) => `Remover a chave de acesso ${name}`,
    removeText: 'Você não poderá mais entrar com ela. Confirme a remoção.',
    nameFault: 'Informe um nome com até 100 caracteres.',
    refused: 'Não foi possível adicionar a chave de acesso. Tente de novo.',
  },
  codes: {
    title: 'Códigos de recuperação',
    text: 'Se você perder o celular, um destes códigos permite entrar. Cada um só pode ser usado uma vez.',
    left: (count: number) => (count === 1 ? 'Resta 1 código.' : `Restam ${count} códigos.`),
    none: 'Eles são criados junto com a primeira forma de verificação.',
    renew: 'Criar códigos novos',
    renewText: 'Os códigos atuais deixam de valer.',
    shownTitle: 'Guarde seus códigos de recuperação',
    shownText:
      'Eles aparecem só agora. Guarde-os em um lugar seguro, como um gerenciador de senhas, ou imprima esta página. Cada código só pode ser usado uma vez.',
    copy: 'os códigos de recuperação',
    saved: 'Já guardei os códigos',
  },
  done: DONE_PT,
  money: {
    title: 'Ative a verificação em duas etapas',
    text: 'Esta empresa movimenta dinheiro real. Para sacar, devolver, cuidar das chaves de API, da equipe ou da versão da API e mudar a conexão com o banco, só a senha não basta: adicione um aplicativo autenticador ou uma chave de acesso à sua conta. Leva um minuto.',
    act: 'Configurar agora',
  },
  operator:
    'Quem opera a instalação pode consultar tudo só com a senha. Para mudar alguma coisa, adicione um aplicativo autenticador ou uma chave de acesso à sua conta. Leva um minuto.',
  link: {
    title: 'Confirme por e-mail',
    first:
      'Peça um link por e-mail antes de configurar: assim, a verificação em duas etapas vale na hora. Sem ele, ela só vale para movimentar dinheiro real depois de 24 horas.',
    waiting: (at: string) =>
      `Sua verificação em duas etapas foi configurada só com a senha. Ela vale a partir de ${at} (horário de Brasília), ou agora, se você abrir o link que enviamos ao seu e-mail.`,
    act: 'Enviar link por e-mail',
    sent: (email: string) =>
      `Enviamos um link a ${email}. Abra-o em até 15 minutos. São no máximo três por hora.`,
  },
}

type Texts = typeof pt

const en: Texts = {
  title: 'Security',
  intro:
    'With two-step verification, your password alone is not enough to sign in to your account. In companies with real money you need it to withdraw, refund, manage API keys, members and the API version, and change the bank connection.',
  confirmFirst: 'To change these settings, first confirm it is you.',
  confirm: 'Confirm it is me',
  back: 'My account',
  on: 'On',
  off: 'Off',
  app: {
    title: 'Authenticator app',
    text: 'An app on your phone, such as Google Authenticator, Microsoft Authenticator or 1Password, shows a new code every 30 seconds.',
    since: 'On since',
    add: 'Set up an app',
    remove: 'Remove the app',
    removeText: 'The codes of this app will no longer work. Confirm the removal.',
    scan: 'Scan the QR code with the app',
    alt: 'QR code for the authenticator app',
    secret: 'Or type this key into the app',
    secretHint: 'Type: time-based, 6 digits. Do not show the key to anyone.',
    code: 'Code that the app shows',
    codeHint: '6 digits',
    confirm: 'Activate',
    wrong: 'The code is wrong. Check the clock of your phone and try the next code.',
    steps: [
      'Open the authenticator app on your phone and add an account.',
      'Scan the QR code below, or type the key.',
      'Enter the 6-digit code that the app shows.',
    ],
  },
  passkeys: {
    title: 'Passkeys',
    text: 'Sign in with the fingerprint, face or PIN of your device, without typing your password. It is the safest way.',
    caption: 'Your passkeys',
    name: 'Name of the passkey',
    nameHint: 'For example the name of the device: Ana’s phone.',
    created: 'Created',
    lastUsed: 'Last used',
    never: 'never used',
    add: 'Add a passkey',
    remove: 'Remove',
    removeOf: (name) => `Remove the passkey ${name}`,
    removeText: 'You will no longer be able to sign in with it. Confirm the removal.',
    nameFault: 'Enter a name of up to 100 characters.',
    refused: 'The passkey could not be added. Try again.',
  },
  codes: {
    title: 'Recovery codes',
    text: 'If you lose your phone, one of these codes lets you sign in. Each works only once.',
    left: (count) => (count === 1 ? '1 code is left.' : `${count} codes are left.`),
    none: 'They are created with your first way of verification.',
    renew: 'Create new codes',
    renewText: 'The current codes will no longer work.',
    shownTitle: 'Save your recovery codes',
    shownText:
      'They are shown only now. Save them in a safe place, such as a password manager, or print this page. Each code works only once.',
    copy: 'the recovery codes',
    saved: 'I have saved the codes',
  },
  done: {
    app: 'The authenticator app is on.',
    'app-removed': 'The authenticator app was removed.',
    passkey: 'The passkey was added.',
    'passkey-removed': 'The passkey was removed.',
  },
  money: {
    title: 'Set up two-step verification',
    text: 'This company moves real money. To withdraw, refund, manage API keys, members or the API version, and change the bank connection, a password alone is not enough: add an authenticator app or a passkey to your account. It takes a minute.',
    act: 'Set it up now',
  },
  operator:
    'Operators can read everything with their password alone. To change something, add an authenticator app or a passkey to your account. It takes a minute.',
  link: {
    title: 'Confirm by email',
    first:
      'Ask for a link by email before you set it up: two-step verification then counts at once. Without it, real money can be moved only 24 hours later.',
    waiting: (at) =>
      `Your two-step verification was set up with the password alone. It counts from ${at} (Brasília time), or now, if you open the link that we email you.`,
    act: 'Email me a link',
    sent: (email) =>
      `We sent a link to ${email}. Open it within 15 minutes. At most three are sent an hour.`,
  },
}

export const SECURITY: Record<Language, Texts> = { pt, en }
