import type { DeliveryState } from '../../core/deliveries/rules.ts'
import type { Language } from '../../lib/language.ts'

type Texts = {
  title: string
  list: string
  none: string
  noneFound: string
  event: string
  webhook: string
  state: string
  states: Record<DeliveryState, string>
  answer: string
  waiting: string
  noAnswer: string
  at: string
  attempts: string
  open: string
  allWebhooks: string
  allStates: string
  allEvents: string
  from: string
  to: string
  filter: string
  clear: string
  wrongDay: string
  searchOn: string
  keepSearching: string
  deliveryOf(event: string): string
  back: string
  redeliver: string
  redelivered: string
  facts: { id: string; event: string; created: string; next: string; finished: string }
  request: string
  requestText: string
  headers: string
  body: string
  eachAttempt: string
  attempt(number: number): string
  latency: string
  response: string
  emptyResponse: string
  responseText: string
  noAttempt: string
  inactive: string
  replayTitle(name: string): string
  replayText: string
  which: string
  whichStates: Record<'FAILED' | 'DELIVERED' | 'ALL', string>
  count: string
  counted(count: number, isMore: boolean): string
  replay: string
}

const pt: Texts = {
  title: 'Entregas',
  list: 'Entregas aos webhooks, da mais recente à mais antiga',
  none: 'Quando algo acontece, cada envio aos seus webhooks aparece aqui.',
  noneFound: 'Nenhuma entrega com estes filtros.',
  event: 'Evento',
  webhook: 'Webhook',
  state: 'Situação',
  states: { PENDING: 'Pendente', DELIVERED: 'Entregue', FAILED: 'Falhou' },
  answer: 'Resposta',
  waiting: 'Ainda não enviada',
  noAnswer: 'Sem resposta',
  at: 'Quando',
  attempts: 'Tentativas',
  open: 'Abrir',
  allWebhooks: 'Todos',
  allStates: 'Todas',
  allEvents: 'Todos',
  from: 'De',
  to: 'Até',
  filter: 'Filtrar',
  clear: 'Limpar filtros',
  wrongDay: 'A data não existe e foi ignorada.',
  searchOn: 'Nada encontrado até aqui. A busca ainda não chegou ao fim.',
  keepSearching: 'Continuar a busca',
  deliveryOf: (event) => `Entrega: ${event}`,
  back: 'Voltar às entregas',
  redeliver: 'Enviar de novo',
  redelivered: 'A entrega será enviada de novo em instantes.',
  facts: {
    id: 'Código da entrega',
    event: 'Código do evento',
    created: 'Criada em',
    next: 'Próxima tentativa',
    finished: 'Encerrada em',
  },
  request: 'Requisição',
  requestText:
    'Todas as tentativas enviam o mesmo corpo. O horário e as assinaturas são calculados a cada tentativa e não ficam guardados.',
  headers: 'Cabeçalhos',
  body: 'Corpo',
  eachAttempt: 'calculado a cada tentativa',
  attempt: (number) => `Tentativa ${number}`,
  latency: 'Duração',
  response: 'Início do corpo da resposta',
  emptyResponse: 'A resposta não tinha corpo.',
  responseText: 'Guardamos o status e até 1 KiB do corpo de cada resposta, sem os cabeçalhos.',
  noAttempt: 'Ainda não houve tentativa.',
  inactive: 'O webhook está inativo. Ative-o para enviar de novo.',
  replayTitle: (name) => `Reenviar entregas de ${name}`,
  replayText:
    'As entregas dos eventos deste período são enviadas de novo agora. Seu servidor recebe o mesmo corpo e o mesmo webhook-id.',
  which: 'Quais entregas',
  whichStates: {
    FAILED: 'As que não chegaram (falharam ou esperam a próxima tentativa)',
    DELIVERED: 'As que já foram entregues',
    ALL: 'Todas',
  },
  count: 'Ver quantas são',
  counted: (count, isMore) =>
    count === 0
      ? 'Nenhuma entrega neste período.'
      : `${isMore ? 'Mais de ' : ''}${count.toLocaleString('pt-BR')} ${count === 1 ? 'entrega será enviada' : 'entregas serão enviadas'} de novo.`,
  replay: 'Reenviar agora',
}

const en: Texts = {
  title: 'Deliveries',
  list: 'Deliveries to the webhooks, newest first',
  none: 'When something happens, what is sent to your webhooks is shown here.',
  noneFound: 'No delivery matches these filters.',
  event: 'Event',
  webhook: 'Webhook',
  state: 'Status',
  states: { PENDING: 'Pending', DELIVERED: 'Delivered', FAILED: 'Failed' },
  answer: 'Answer',
  waiting: 'Not sent yet',
  noAnswer: 'No answer',
  at: 'When',
  attempts: 'Attempts',
  open: 'Open',
  allWebhooks: 'All',
  allStates: 'All',
  allEvents: 'All',
  from: 'From',
  to: 'To',
  filter: 'Filter',
  clear: 'Clear filters',
  wrongDay: 'This day does not exist and was ignored.',
  searchOn: 'Nothing was found so far. The search is not at its end yet.',
  keepSearching: 'Keep searching',
  deliveryOf: (event) => `Delivery: ${event}`,
  back: 'Back to the deliveries',
  redeliver: 'Send again',
  redelivered: 'The delivery will be sent again in a moment.',
  facts: {
    id: 'Delivery id',
    event: 'Event id',
    created: 'Created',
    next: 'Next attempt',
    finished: 'Finished',
  },
  request: 'Request',
  requestText:
    'All attempts send the same body. Time and signatures are made for each attempt and are not stored.',
  headers: 'Headers',
  body: 'Body',
  eachAttempt: 'made for each attempt',
  attempt: (number) => `Attempt ${number}`,
  latency: 'Duration',
  response: 'Beginning of the response body',
  emptyResponse: 'The response had no body.',
  responseText: 'We store the status and up to 1 KiB of the body of each response, no headers.',
  noAttempt: 'There was no attempt yet.',
  inactive: 'The webhook is inactive. Activate it to send again.',
  replayTitle: (name) => `Replay deliveries of ${name}`,
  replayText:
    'The deliveries of the events of this period are sent again now. Your server gets the same body and the same webhook-id.',
  which: 'Which deliveries',
  whichStates: {
    FAILED: 'Those that did not arrive (failed, or waiting for their next try)',
    DELIVERED: 'Those that were delivered',
    ALL: 'All',
  },
  count: 'See how many',
  counted: (count, isMore) =>
    count === 0
      ? 'No deliveries in this period.'
      : `${isMore ? 'More than ' : ''}${count.toLocaleString('en-US')} ${count === 1 ? 'delivery' : 'deliveries'} will be sent again.`,
  replay: 'Replay now',
}

export const DELIVERIES: Record<Language, Texts> = { pt, en }
