import type { Role } from '../../core/people/rules.ts'
import type { Language } from '../../lib/language.ts'

type Texts = {
  title: string
  intro: string
  invite: string
  inviteTitle: string
  inviteText: string
  send: string
  email: string
  emailHint: string
  role: string
  can: Record<Role, string>
  person: string
  lastSeen: string
  never: string
  you: string
  change: string
  actions: string
  members: string
  changeTitle(name: string): string
  changeText: string
  save: string
  removeTitle: string
  removeText(name: string): string
  remove: string
  leaveText: string
  factors: {
    title: string
    has: string
    none: string
    text(name: string): string
    /** If an owner may not do it. */
    others: string
    act: string
    gone: string
  }
  waiting: string
  waitingText: string
  sentAt: string
  until: string
  manage: string
  invitationTitle(email: string): string
  resendText: string
  resend: string
  withdrawText: string
  withdraw: string
  back: string
  faults: { email: string; member: string; full: string; lastOwner: string }
  done: Record<'invited' | 'role' | 'removed' | 'withdrawn' | 'resent' | 'reset', string>
}

const pt: Texts = {
  title: 'Equipe',
  intro: 'Quem pode entrar no painel desta empresa, e o que cada pessoa pode fazer.',
  invite: 'Convidar',
  inviteTitle: 'Convidar para a equipe',
  inviteText: 'A pessoa recebe um e-mail com um link, que vale por 7 dias.',
  send: 'Enviar convite',
  email: 'E-mail',
  emailHint: 'O convite só pode ser aceito por quem recebe este e-mail.',
  role: 'Perfil',
  can: {
    owner: 'Faz tudo: dinheiro, chaves de API, equipe e configurações.',
    finance: 'Cobra, devolve e saca. Não cuida de chaves, webhooks, equipe nem configurações.',
    support: 'Cobra, devolve e atende clientes. Não vê o saldo.',
    developer: 'Cuida de chaves, webhooks e testes. Não vê o saldo nem saca.',
    viewer: 'Vê cobranças, clientes e saldo, sem mudar nada.',
  },
  person: 'Pessoa',
  lastSeen: 'Visto por último',
  never: 'Sem acesso aberto',
  you: 'você',
  change: 'Alterar',
  actions: 'Ações',
  members: 'Pessoas da equipe',
  changeTitle: (name) => `Alterar ${name}`,
  changeText: 'Ao mudar o perfil, a pessoa sai de todos os dispositivos e precisa entrar de novo.',
  save: 'Salvar perfil',
  removeTitle: 'Remover da equipe',
  removeText: (name) =>
    `${name} sai de todos os dispositivos e perde o acesso a esta empresa. O que a pessoa fez continua registrado.`,
  remove: 'Remover da equipe',
  factors: {
    title: 'Verificação em duas etapas',
    has: 'Ativa',
    none: 'Não configurada',
    text: (name) =>
      `Se ${name} perdeu o celular ou a chave de acesso, remova a verificação em duas etapas. A pessoa sai de todos os dispositivos, é avisada por e-mail e entra só com a senha. Antes de movimentar dinheiro real, precisa configurar a verificação de novo. Confirme antes, por telefone ou pessoalmente, que o pedido é mesmo dela.`,
    others:
      'Esta pessoa também faz parte de outra empresa ou opera a instalação. Se ela perdeu o celular ou a chave de acesso, só quem opera a instalação pode remover a verificação.',
    act: 'Remover a verificação',
    gone: 'Esta pessoa já não tem verificação em duas etapas.',
  },
  leaveText: 'Você perde o acesso a esta empresa. Para voltar, será preciso um novo convite.',
  waiting: 'Convites pendentes',
  waitingText: 'Ainda não foram aceitos.',
  sentAt: 'Enviado em',
  until: 'Vale até',
  manage: 'Ver',
  invitationTitle: (email) => `Convite para ${email}`,
  resendText: 'Envia um novo e-mail, com um novo link. O link anterior deixa de funcionar.',
  resend: 'Enviar de novo',
  withdrawText: 'O link deixa de funcionar.',
  withdraw: 'Cancelar convite',
  back: 'Voltar para a equipe',
  faults: {
    email: 'Informe um e-mail válido.',
    member: 'Esta pessoa já faz parte da equipe. Para mudar o perfil, use a lista.',
    full: 'Há convites pendentes demais. Cancele os que não são mais necessários.',
    lastOwner: 'A empresa precisa de pelo menos um responsável. Escolha outro antes.',
  },
  done: {
    invited: 'Convite enviado.',
    role: 'Perfil alterado.',
    removed: 'Pessoa removida da equipe.',
    withdrawn: 'Convite cancelado.',
    resent: 'Convite enviado de novo.',
    reset: 'A verificação em duas etapas foi removida. A pessoa foi avisada por e-mail.',
  },
}

const en: Texts = {
  title: 'Members',
  intro: 'Who can sign in to the dashboard of this company, and what each person can do.',
  invite: 'Invite',
  inviteTitle: 'Invite somebody',
  inviteText: 'They get an email with a link, which works for 7 days.',
  send: 'Send the invitation',
  email: 'Email',
  emailHint: 'Only whoever receives this email can accept the invitation.',
  role: 'Role',
  can: {
    owner: 'Does everything: money, API keys, members and settings.',
    finance: 'Charges, refunds and withdraws. Does not change keys, webhooks, members or settings.',
    support: 'Charges, refunds and helps customers. Does not see the balance.',
    developer: 'Looks after keys, webhooks and tests. Neither sees the balance nor withdraws.',
    viewer: 'Sees charges, customers and the balance, and changes nothing.',
  },
  person: 'Person',
  lastSeen: 'Last seen',
  never: 'Not signed in',
  you: 'you',
  change: 'Change',
  actions: 'Actions',
  members: 'People of the company',
  changeTitle: (name) => `Change ${name}`,
  changeText: 'If the role changes, the person is signed out everywhere and signs in again.',
  save: 'Save the role',
  removeTitle: 'Remove from the company',
  removeText: (name) =>
    `${name} is signed out everywhere and loses access to this company. What they did stays on record.`,
  remove: 'Remove from the company',
  factors: {
    title: 'Two-step verification',
    has: 'Set up',
    none: 'Not set up',
    text: (name) =>
      `If ${name} has lost their phone or passkey, remove their two-step verification. They are signed out everywhere, get an email about it, and sign in with the password alone. Before they can move real money they have to set it up again. First make sure, by phone or in person, that the request really comes from them.`,
    others:
      'This person also belongs to another company, or operates the installation. If they have lost their phone or passkey, only whoever operates the installation can remove the verification.',
    act: 'Remove the verification',
    gone: 'This person has no two-step verification any more.',
  },
  leaveText: 'You lose access to this company. To come back you need a new invitation.',
  waiting: 'Pending invitations',
  waitingText: 'Not accepted yet.',
  sentAt: 'Sent at',
  until: 'Works until',
  manage: 'Open',
  invitationTitle: (email) => `Invitation of ${email}`,
  resendText: 'Sends a new email with a new link. The link before it stops working.',
  resend: 'Send again',
  withdrawText: 'The link stops working.',
  withdraw: 'Withdraw the invitation',
  back: 'Back to members',
  faults: {
    email: 'Enter a valid email address.',
    member: 'This person already belongs to the company. To change the role, use the list.',
    full: 'Too many invitations are pending. Withdraw those that are no longer needed.',
    lastOwner: 'The company needs at least one owner. Choose another one first.',
  },
  done: {
    invited: 'The invitation was sent.',
    role: 'The role was changed.',
    removed: 'The person was removed.',
    withdrawn: 'The invitation was withdrawn.',
    resent: 'The invitation was sent again.',
    reset: 'Two-step verification was removed. The person gets an email about it.',
  },
}

export const MEMBERS: Record<Language, Texts> = { pt, en }
