import type { Role } from '../../core/people/rules.ts'
import type { Language } from '../../lib/language.ts'
import { namesIn, type Part, type Section } from './sections.ts'

export type { Section }

const pt = {
  title: 'Painel',
  menu: 'Menu do painel',
  /** The titles of the parts of the menu. */
  parts: {
    first: null,
    sell: 'Vendas',
    money: 'Dinheiro',
    company: 'Empresa',
  } satisfies Record<Part, string | null> as Record<Part, string | null>,
  more: 'Mais',
  waiting: 'à espera de você',
  sections: namesIn('pt'),
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
  switchLanguage: { name: 'English', short: 'EN' },
  companies: 'Empresas',
  ownCompanies: 'Minhas empresas',
  chooseCompany: 'Escolha a empresa',
  noCompany: 'Você ainda não participa de nenhuma empresa. Peça um convite a quem a administra.',
  unreached: 'Algumas das suas empresas não estão acessíveis agora. Tente de novo em instantes.',
  sandbox: 'Ambiente de testes: o dinheiro é fictício.',
  /** The clock of the sandbox was moved to another day, or to another time of this day. */
  clock: {
    day: (here: string, real: string) => `No sandbox hoje é ${here}; data real: ${real}.`,
    time: (here: string, real: string) => `No sandbox são ${here}; hora real: ${real}.`,
  },
  suspended:
    'Esta empresa está suspensa. Os dados podem ser consultados, mas não é possível cobrar nem sacar. Pagamentos que chegarem serão registrados. Fale com o suporte.',
  check: 'Confira os campos destacados.',
  forbidden: {
    title: 'Sua função não permite esta ação',
    text: 'Peça a um responsável pela empresa que faça isso ou que mude a sua função.',
  },
  missing: 'Confira o endereço. O que você procura pode ter sido excluído.',
  toHome: 'Voltar ao início',
  person: 'Sua conta',
  older: 'Mais antigos',
  newest: 'Mais recentes',
  nothing: 'Nada por aqui ainda',
  nothingFor: (text: string) => `Nada encontrado para “${text}”`,
  back: 'Voltar',
}

type Texts = typeof pt

const en: Texts = {
  title: 'Dashboard',
  menu: 'Dashboard menu',
  parts: { first: null, sell: 'Sales', money: 'Money', company: 'Company' },
  more: 'More',
  waiting: 'waiting for you',
  sections: namesIn('en'),
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
  switchLanguage: { name: 'Português', short: 'PT' },
  companies: 'Companies',
  ownCompanies: 'My companies',
  chooseCompany: 'Choose a company',
  noCompany: 'You belong to no company yet. Ask whoever runs it for an invitation.',
  unreached: 'Some of your companies cannot be reached now. Try again in a moment.',
  sandbox: 'Test environment: the money is not real.',
  clock: {
    day: (here, real) => `In the sandbox today is ${here}; real date: ${real}.`,
    time: (here, real) => `In the sandbox it is ${here}; real time: ${real}.`,
  },
  suspended:
    'This company is suspended. Its data can be read, but nothing can be charged or withdrawn. Payments that arrive are recorded. Ask support.',
  check: 'Check the marked fields.',
  forbidden: {
    title: 'Your role does not allow this',
    text: 'Ask an owner of the company to do it, or to change your role.',
  },
  missing: 'Check the address. What you are looking for may have been deleted.',
  toHome: 'Back to the start',
  person: 'Your account',
  older: 'Older',
  newest: 'Newest',
  nothing: 'Nothing here yet',
  nothingFor: (text) => `Nothing found for “${text}”`,
  back: 'Back',
}

export const DASHBOARD: Record<Language, Texts> = { pt, en }
