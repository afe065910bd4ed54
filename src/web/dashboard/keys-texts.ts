import type { Scope } from '../../core/companies/rules.ts'
import type { Language } from '../../lib/language.ts'

type Texts = {
  title: string
  list: string
  create: string
  none: string
  name: string
  nameHint: string
  nameWrong: string
  scopes: string
  scopesHint: string
  scopesWrong: string
  all: string
  words: Record<Scope, string>
  lastUsed: string
  never: string
  created: string
  state: string
  active: string
  revoked: string
  actions: string
  rotate: string
  revoke: string
  back: string
  newKey: string
  shownOnce: string
  keepSafe: string
  done: string
  copy: string
  rotateTitle(name: string): string
  rotateText: string
  rotated: string
  revokeOld: string
  tooMuch: string
  revokeTitle(name: string): string
  revokeText: string
  keep: string
  wasRevoked: string
  wasShown: string
}

const pt: Texts = {
  title: 'Chaves de API',
  list: 'Chaves de API da empresa, da mais recente à mais antiga',
  create: 'Criar chave',
  none: 'Crie uma chave para que o seu sistema possa usar a API.',
  name: 'Nome',
  nameHint: 'Para reconhecer a chave depois, por exemplo: loja virtual.',
  nameWrong: 'Informe um nome de 1 a 255 caracteres.',
  scopes: 'O que a chave pode fazer',
  scopesHint: 'Marque só o necessário. Uma chave nunca pode mais do que o seu perfil.',
  scopesWrong: 'Marque ao menos uma permissão, entre as que o seu perfil tem.',
  all: 'Tudo',
  words: {
    'payments:read': 'Ver cobranças, pagamentos e assinaturas',
    'payments:write': 'Criar cobranças e assinaturas, devolver pagamentos',
    'catalog:read': 'Ver clientes e produtos',
    'catalog:write': 'Criar e alterar clientes e produtos',
    'webhooks:read': 'Ver webhooks e eventos',
    'webhooks:write': 'Criar e alterar webhooks',
    'balance:read': 'Ver saldo, extrato e saques',
    'balance:write': 'Solicitar e confirmar saques',
    'company:read': 'Ver os dados da empresa',
    'company:write': 'Alterar os dados da empresa',
  },
  lastUsed: 'Último uso',
  never: 'Nunca usada',
  created: 'Criada em',
  state: 'Situação',
  active: 'Ativa',
  revoked: 'Revogada',
  actions: 'Ações',
  rotate: 'Gerar nova chave',
  revoke: 'Revogar',
  back: 'Voltar às chaves',
  newKey: 'Sua nova chave',
  shownOnce: 'Copie a chave agora: ela não será mostrada de novo.',
  keepSafe: 'Guarde-a como uma senha. Quem tem a chave age em nome da empresa.',
  done: 'Já copiei a chave',
  copy: 'a chave',
  rotateTitle: (name) => `Gerar nova chave no lugar de ${name}`,
  rotateText:
    'Criamos outra chave com o mesmo nome e as mesmas permissões. A atual continua funcionando até você revogá-la, para que a troca no seu sistema não pare nada.',
  rotated:
    'A chave anterior continua funcionando. Revogue-a quando o seu sistema já usar a nova chave.',
  revokeOld: 'Revogar a chave anterior',
  tooMuch:
    'Esta chave pode mais do que o seu perfil. Peça a um responsável pela empresa que a troque.',
  revokeTitle: (name) => `Revogar a chave ${name}?`,
  revokeText:
    'Todo sistema que usa esta chave deixa de funcionar na hora. Não é possível desfazer.',
  keep: 'Manter a chave',
  wasRevoked: 'A chave foi revogada.',
  wasShown:
    'Este formulário já tinha criado a chave, e ela só é mostrada uma vez. Se você não a copiou, troque-a.',
}

const en: Texts = {
  title: 'API keys',
  list: 'API keys of the company, newest first',
  create: 'Create a key',
  none: 'Create a key so that your system can use the API.',
  name: 'Name',
  nameHint: 'To recognize the key later, for example: online store.',
  nameWrong: 'Enter a name of 1 to 255 characters.',
  scopes: 'What the key may do',
  scopesHint: 'Check only what is needed. A key can never do more than your role.',
  scopesWrong: 'Check at least one permission, of those that your role has.',
  all: 'Everything',
  words: {
    'payments:read': 'See charges, payments and subscriptions',
    'payments:write': 'Create charges and subscriptions, refund payments',
    'catalog:read': 'See customers and products',
    'catalog:write': 'Create and change customers and products',
    'webhooks:read': 'See webhooks and events',
    'webhooks:write': 'Create and change webhooks',
    'balance:read': 'See balance, statement and withdrawals',
    'balance:write': 'Request and confirm withdrawals',
    'company:read': 'See the company',
    'company:write': 'Change the company',
  },
  lastUsed: 'Last used',
  never: 'Never used',
  created: 'Created',
  state: 'Status',
  active: 'Active',
  revoked: 'Revoked',
  actions: 'Actions',
  rotate: 'Rotate',
  revoke: 'Revoke',
  back: 'Back to the keys',
  newKey: 'Your new key',
  shownOnce: 'Copy the key now: it is not shown again.',
  keepSafe: 'Keep it like a password. Whoever has it acts for the company.',
  done: 'I have copied the key',
  copy: 'the key',
  rotateTitle: (name) => `Rotate the key ${name}`,
  rotateText:
    'We create another key with the same name and permissions. The present one works until you revoke it, so that nothing stops while you change your system.',
  rotated: 'The former key still works. Revoke it when your system uses the new one.',
  revokeOld: 'Revoke the former key',
  tooMuch: 'This key can do more than your role. Ask an owner of the company to rotate it.',
  revokeTitle: (name) => `Revoke the key ${name}?`,
  revokeText: 'Every system that uses this key stops working at once. This cannot be undone.',
  keep: 'Keep the key',
  wasRevoked: 'The key is revoked.',
  wasShown:
    'This form had created the key already, and a key is shown only once. If you did not copy it, rotate it.',
}

export const KEYS: Record<Language, Texts> = { pt, en }
