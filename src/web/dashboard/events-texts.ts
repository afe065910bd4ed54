import type { EventMode } from '../../core/events.ts'
import type { Language } from '../../lib/language.ts'

const pt = {
  title: 'Eventos',
  list: 'Eventos da empresa, do mais recente ao mais antigo',
  none: 'Quando uma cobrança for criada ou paga, o evento aparece aqui.',
  noneFound: 'Nenhum evento com estes filtros.',
  searchOn: 'Nada encontrado até aqui. A busca ainda não chegou ao fim: veja os mais antigos.',
  type: 'Evento',
  all: 'Todos',
  until: 'Até o dia',
  at: 'Quando',
  id: 'Código',
  mode: 'Modo',
  modes: {
    sandbox: 'Testes',
    dev: 'Desenvolvimento',
    live: 'Produção',
  } satisfies Record<EventMode, string>,
  body: 'Conteúdo',
  bodyText: 'É o corpo que os webhooks recebem. Ele não tem dados pessoais do pagador.',
  deliveries: 'Entregas deste evento',
  noDeliveries: 'Nenhum webhook recebia este evento.',
}

type Texts = typeof pt

const en: Texts = {
  title: 'Events',
  list: 'Events of the company, newest first',
  none: 'When a charge is created or paid, the event is shown here.',
  noneFound: 'No event matches these filters.',
  searchOn: 'Nothing was found so far. The search is not at its end yet: see older ones.',
  type: 'Event',
  all: 'All',
  until: 'Until',
  at: 'When',
  id: 'Id',
  mode: 'Mode',
  modes: { sandbox: 'Sandbox', dev: 'Development', live: 'Live' },
  body: 'Content',
  bodyText: 'This is the body that webhooks get. It has no personal data of the payer.',
  deliveries: 'Deliveries of this event',
  noDeliveries: 'No webhook was subscribed to this event.',
}

export const EVENT_PAGES: Record<Language, Texts> = { pt, en }
