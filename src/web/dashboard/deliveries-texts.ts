import type { DeliveryState } from '../../core/deliveries/rules.ts'
import type { Language } from '../../lib/language.ts'
import { formatCount } from './parts.ts'

const ERRORS_PT: Record<string, string> = {
  'address not valid': 'Endereço inválido',
  'address not allowed': 'Endereço não permitido',
  'answer not understood': 'Resposta não compreendida',
  'certificate not valid': 'Certificado inválido',
  'connection closed': 'Conexão encerrada',
  'connection failed': 'Falha na conexão',
  'connection refused': 'Conexão recusada',
  'connection reset': 'Conexão interrompida',
  'could not be sent': 'Não foi possível enviar',
  'host not found': 'Servidor não encontrado',
  'host not reachable': 'Servidor inacessível',
  'no answer within 30 s': 'Sem resposta em 30 s',
  'TLS not possible': 'TLS não foi possível',
  'no connection in time': 'Sem conexão a tempo',
  'redirects are not followed': 'Redirecionamentos não são seguidos',
}

const pt = {
  title: 'Entregas',
  list: 'Entregas aos webhooks, da mais recente à mais antiga',
  none: 'Quando algo acontece, cada envio aos seus webhooks aparece aqui.',
  noneFound: 'Nenhuma entrega com estes filtros.',
  event: 'Evento',
  webhook: 'Webhook',
  state: 'Situação',
  states: {
    PENDING: 'Pendente',
    DELIVERED: 'Entregue',
    FAILED: 'Falhou',
  } satisfies Record<DeliveryState, string>,
  answer: 'Resposta',
  waiting: 'Ainda não enviada',
  noAnswer: 'Sem resposta',
  /** What the sender reports, where it is not the same in this language. */
  errors: ERRORS_PT,
  at: 'Quando',
  attempts: 'Tentativas',
  allWebhooks: 'Todos',
  allStates: 'Todas',
  allEvents: 'Todos',
  from: 'De',
  to: 'Até',
  searchOn: 'Nada encontrado até aqui. A busca ainda não chegou ao fim.',
  deliveryOf: (event: string) => `Entrega: ${event}`,
  redeliver: 'Enviar de novo',
  redelivered: 'A entrega será enviada de novo em instantes.',
  facts: {
    id: 'ID da entrega',
    event: 'ID do evento',
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
  attempt: (number: number) => `Tentativa ${number}`,
  response: 'Início do corpo da resposta',
  emptyResponse: 'A resposta não tinha corpo.',
  responseText: 'Guardamos o status e até 1 KiB do corpo de cada resposta, sem os cabeçalhos.',
  noAttempt: 'Ainda não houve tentativa.',
  inactive: 'O webhook está inativo. Ative-o para enviar de novo.',
  replayTitle: (name: string) => `Reenviar entregas de ${name}`,
  replayText:
    'As entregas dos eventos deste período são enviadas de novo agora: as que falharam ou aguardam a próxima tentativa, as já entregues, ou todas. Seu servidor recebe o mesmo corpo e o mesmo webhook-id.',
  which: 'Quais entregas',
  whichStates: {
    FAILED: 'As que não chegaram',
    DELIVERED: 'As que já foram entregues',
    ALL: 'Todas',
  },
  count: 'Ver quantas são',
  counted: (count: number, isMore: boolean) =>
    count === 0
      ? 'Nenhuma entrega neste período.'
      : `${isMore ? 'Mais de ' : ''}${formatCount(count)} ${count === 1 ? 'entrega será enviada' : 'entregas serão enviadas'} de novo.`,
  replay: 'Reenviar agora',
}

type Texts = typeof pt

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
  errors: {},
  at: 'When',
  attempts: 'Attempts',
  allWebhooks: 'All',
  allStates: 'All',
  allEvents: 'All',
  from: 'From',
  to: 'To',
  searchOn: 'Nothing was found so far. The search is not at its end yet.',
  deliveryOf: (event) => `Delivery: ${event}`,
  redeliver: 'Send again',
  redelivered: 'The delivery will be sent again in a moment.',
  facts: {
    id: 'Delivery ID',
    event: 'Event ID',
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
  response: 'Beginning of the response body',
  emptyResponse: 'The response had no body.',
  responseText: 'We store the status and up to 1 KiB of the body of each response, no headers.',
  noAttempt: 'There was no attempt yet.',
  inactive: 'The webhook is inactive. Activate it to send again.',
  replayTitle: (name) => `Replay deliveries of ${name}`,
  replayText:
    'The deliveries of the events of this period are sent again now: those that failed or wait for their next try, those that were delivered, or all. Your server gets the same body and the same webhook-id.',
  which: 'Which deliveries',
  whichStates: {
    FAILED: 'Those that did not arrive',
    DELIVERED: 'Those that were delivered',
    ALL: 'All',
  },
  count: 'See how many',
  counted: (count, isMore) =>
    count === 0
      ? 'No deliveries in this period.'
      : `${isMore ? 'More than ' : ''}${formatCount(count)} ${count === 1 ? 'delivery' : 'deliveries'} will be sent again.`,
  replay: 'Replay now',
}

export const DELIVERIES: Record<Language, Texts> = { pt, en }
