import type { AuthorKind, RecordType } from '../../core/activity/rules.ts'
import type { Language } from '../../lib/language.ts'

const pt = {
  title: 'Registro de atividades',
  about:
    'Quem mudou o quê nesta empresa, pelo painel, por chave de API ou pela linha de comando. Nada aqui pode ser alterado ou apagado.',
  caption: 'Atividades, as mais recentes primeiro',
  csv: 'Baixar CSV',
  empty: 'As mudanças feitas na empresa aparecem aqui.',
  emptyFiltered: 'Nenhuma atividade com estes filtros.',
  columns: { what: 'O quê', who: 'Quem', record: 'Registro', at: 'Quando', from: 'De onde' },
  kinds: {
    person: 'Pessoa',
    key: 'Chave de API',
    'command-line': 'Linha de comando',
    service: 'O próprio serviço',
  } satisfies Record<AuthorKind, string>,
  records: {
    bank: 'Banco',
    charge: 'Cobrança',
    clock: 'Relógio de testes',
    company: 'Empresa',
    customer: 'Cliente',
    delivery: 'Entrega',
    invitation: 'Convite',
    key: 'Chave de API',
    payment: 'Pagamento',
    person: 'Pessoa',
    product: 'Produto',
    refund: 'Devolução',
    'static-code': 'Código estático',
    subscription: 'Assinatura',
    'subscription-link': 'Link de assinatura',
    webhook: 'Webhook',
    withdrawal: 'Saque',
  } satisfies Record<RecordType, string>,
  filters: {
    author: 'Quem',
    anybody: 'Todos',
    action: 'O quê',
    anything: 'Tudo',
    from: 'De',
    to: 'Até',
  },
  fields: 'Campos',
  replayed: (count: number) => (count === 1 ? '1 entrega' : `${count} entregas`),
  withdrawn: (count: number) =>
    count === 1 ? '1 convite cancelado' : `${count} convites cancelados`,
  tries: (count: number) => (count === 1 ? '1 tentativa' : `${count} tentativas`),
  since: (hour: string) => `na hora a partir de ${hour}`,
  role: 'Perfil',
}

type Texts = typeof pt

const en: Texts = {
  title: 'Activity log',
  about:
    'Who changed what in this company, by dashboard, API key or command line. Nothing here can be changed or deleted.',
  caption: 'Activities, newest first',
  csv: 'Download CSV',
  empty: 'Changes of the company are shown here.',
  emptyFiltered: 'No activity matches these filters.',
  columns: { what: 'What', who: 'Who', record: 'Record', at: 'When', from: 'From where' },
  kinds: {
    person: 'Person',
    key: 'API key',
    'command-line': 'Command line',
    service: 'The service itself',
  },
  records: {
    bank: 'Bank',
    charge: 'Charge',
    clock: 'Test clock',
    company: 'Company',
    customer: 'Customer',
    delivery: 'Delivery',
    invitation: 'Invitation',
    key: 'API key',
    payment: 'Payment',
    person: 'Person',
    product: 'Product',
    refund: 'Refund',
    'static-code': 'Static code',
    subscription: 'Subscription',
    'subscription-link': 'Subscription link',
    webhook: 'Webhook',
    withdrawal: 'Withdrawal',
  },
  filters: {
    author: 'Who',
    anybody: 'Everybody',
    action: 'What',
    anything: 'Everything',
    from: 'From',
    to: 'To',
  },
  fields: 'Fields',
  replayed: (count) => (count === 1 ? '1 delivery' : `${count} deliveries`),
  withdrawn: (count) => (count === 1 ? '1 invitation withdrawn' : `${count} invitations withdrawn`),
  tries: (count) => (count === 1 ? '1 try' : `${count} tries`),
  since: (hour) => `in the hour from ${hour}`,
  role: 'Role',
}

export const ACTIVITY: Record<Language, Texts> = { pt, en }
