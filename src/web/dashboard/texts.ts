import type { Role } from '../../core/people/rules.ts'
import type { Language } from '../../lib/language.ts'

/** The sections of the menu. */
export type Section =
  | 'today'
  | 'charges'
  | 'links'
  | 'new'
  | 'customers'
  | 'products'
  | 'subscriptions'
  | 'balance'
  | 'reports'
  | 'unmatched'
  | 'disputes'
  | 'developers'
  | 'settings'

const pt = {
  title: 'Painel',
  menu: 'Menu do painel',
  sections: {
    today: 'Hoje',
    charges: 'Cobranças',
    links: 'Links',
    new: 'Criar',
    customers: 'Clientes',
    products: 'Produtos',
    subscriptions: 'Assinaturas',
    balance: 'Saldo',
    reports: 'Relatórios',
    unmatched: 'Não identificados',
    disputes: 'Disputas',
    developers: 'Desenvolvedores',
    settings: 'Configurações',
  } satisfies Record<Section, string>,
  roles: {
    owner: 'Responsável',
    finance: 'Financeiro',
    support: 'Atendimento',
    developer: 'Desenvolvimento',
    viewer: 'Somente leitura',
  } satisfies Record<Role, string>,
  account: 'Minha conta',
  operator: 'Operação',
  dashboard: 'Painel',
  signOut: 'Sair',
  switchLanguage: 'English',
  companies: 'Empresas',
  chooseCompany: 'Escolha a empresa',
  noCompany: 'Você ainda não participa de nenhuma empresa. Peça um convite a quem a administra.',
  unreached: 'Algumas das suas empresas não estão acessíveis agora. Tente de novo em instantes.',
  sandbox: 'Ambiente de testes: aqui o dinheiro não é de verdade.',
  clock: (now: string, ahead: string) => `Relógio do sandbox: ${now}, ${ahead} adiante.`,
  suspended:
    'Esta empresa está suspensa. Os dados podem ser consultados, mas não é possível cobrar nem sacar. Pagamentos que chegarem serão registrados. Fale com o suporte.',
  check: 'Confira os campos destacados.',
  forbidden: {
    title: 'Seu perfil não permite esta ação',
    text: 'Peça a um responsável pela empresa que faça isso ou que mude o seu perfil.',
  },
  missing: 'Confira o endereço. O que você procura pode ter sido excluído.',
  toHome: 'Voltar ao início',
  stale: 'Esta página ficou aberta por muito tempo. Volte, atualize a página e envie de novo.',
  older: 'Mais antigos',
  newest: 'Mais recentes',
  nothing: 'Nada por aqui ainda',
  nothingFor: (text: string) => `Nada encontrado para “${text}”`,
  back: 'Voltar',
}

type Texts = typeof pt

const en: Texts = {
  title: 'Dashboard',
  menu: 'Menu of the dashboard',
  sections: {
    today: 'Today',
    charges: 'Charges',
    links: 'Links',
    new: 'New',
    customers: 'Customers',
    products: 'Products',
    subscriptions: 'Subscriptions',
    balance: 'Balance',
    reports: 'Reports',
    unmatched: 'Unmatched',
    disputes: 'Disputes',
    developers: 'Developers',
    settings: 'Settings',
  },
  roles: {
    owner: 'Owner',
    finance: 'Finance',
    support: 'Support',
    developer: 'Developer',
    viewer: 'Viewer',
  },
  account: 'My account',
  operator: 'Operator',
  dashboard: 'Dashboard',
  signOut: 'Sign out',
  switchLanguage: 'Português',
  companies: 'Companies',
  chooseCompany: 'Choose a company',
  noCompany: 'You belong to no company yet. Ask whoever runs it for an invitation.',
  unreached: 'Some of your companies cannot be reached now. Try again in a moment.',
  sandbox: 'A sandbox: the money here is not real.',
  clock: (now, ahead) => `Clock of the sandbox: ${now}, ${ahead} ahead.`,
  suspended:
    'This company is suspended. Its data can be read, but nothing can be charged or withdrawn. Payments that arrive are recorded. Ask support.',
  check: 'Check the marked fields.',
  forbidden: {
    title: 'Your role does not allow this',
    text: 'Ask an owner of the company to do it, or to change your role.',
  },
  missing: 'Check the address. What you are looking for may have been deleted.',
  toHome: 'Back to the start',
  stale: 'This page was open for too long. Go back, reload it and send the form again.',
  older: 'Older',
  newest: 'Newest',
  nothing: 'Nothing here yet',
  nothingFor: (text) => `Nothing found for “${text}”`,
  back: 'Back',
}

export const DASHBOARD: Record<Language, Texts> = { pt, en }
