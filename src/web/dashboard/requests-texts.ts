import type { StatusClass } from '../../core/request-log/rules.ts'
import type { Language } from '../../lib/language.ts'

const pt = {
  title: 'Requisições',
  about:
    'As chamadas à API nos últimos 7 dias. O corpo das requisições e os dados dos pagadores não são guardados aqui. O id de cada uma está no cabeçalho X-Request-Id da resposta.',
  caption: 'Requisições, as mais recentes primeiro',
  empty: 'As chamadas que suas chaves fizerem à API aparecem aqui.',
  emptyFiltered: 'Nenhuma requisição com estes filtros.',
  searchOn: 'Nada encontrado até aqui. A busca ainda não chegou ao fim: veja as mais antigas.',
  /** A moment follows. */
  searchedUntil: 'A busca chegou até',
  notFound: 'Nenhuma requisição dos últimos 7 dias tem este id.',
  columns: {
    operation: 'Operação',
    status: 'Status',
    time: 'Duração',
    key: 'Chave',
    at: 'Quando',
    id: 'Id da requisição',
  },
  statuses: {
    ok: 'Sucesso (2xx)',
    refused: 'Recusadas (4xx)',
    failed: 'Falhas do serviço (5xx)',
  } satisfies Record<StatusClass, string>,
  filters: {
    id: 'Id da requisição',
    status: 'Status',
    allStatuses: 'Todos',
    operation: 'Operação',
    allOperations: 'Todas',
    key: 'Chave',
    allKeys: 'Todas',
    from: 'De',
    to: 'Até',
  },
  one: {
    title: 'Requisição',
    back: 'Requisições',
    request: 'Chamada',
    operation: 'Operação',
    status: 'Status',
    error: 'Código do erro',
    meaning: 'O que aconteceu',
    advice: 'O que fazer',
    copyId: 'o id da requisição',
    callerId: 'X-Request-Id enviado',
    noBody: 'O corpo da requisição e o da resposta não são guardados.',
    reference: 'Ver na documentação',
  },
  unknownKey: 'Chave desconhecida',
}

type Texts = typeof pt

const en: Texts = {
  title: 'Requests',
  about:
    'The API calls of the last 7 days. Bodies of requests and data of payers are not kept here. The id of each is in the header X-Request-Id of its answer.',
  caption: 'Requests, newest first',
  empty: 'Calls that your keys send to the API are shown here.',
  emptyFiltered: 'No request matches these filters.',
  searchOn: 'Nothing was found so far. The search is not at its end yet: see older ones.',
  searchedUntil: 'Searched back to',
  notFound: 'No request of the last 7 days has this id.',
  columns: {
    operation: 'Operation',
    status: 'Status',
    time: 'Duration',
    key: 'Key',
    at: 'When',
    id: 'Request id',
  },
  statuses: {
    ok: 'Success (2xx)',
    refused: 'Refused (4xx)',
    failed: 'Faults of the service (5xx)',
  },
  filters: {
    id: 'Request id',
    status: 'Status',
    allStatuses: 'All',
    operation: 'Operation',
    allOperations: 'All',
    key: 'Key',
    allKeys: 'All',
    from: 'From',
    to: 'To',
  },
  one: {
    title: 'Request',
    back: 'Requests',
    request: 'Call',
    operation: 'Operation',
    status: 'Status',
    error: 'Error code',
    meaning: 'What happened',
    advice: 'What to do',
    copyId: 'the request id',
    callerId: 'X-Request-Id as sent',
    noBody: 'The bodies of the request and of the answer are not kept.',
    reference: 'See the documentation',
  },
  unknownKey: 'Unknown key',
}

export const REQUESTS: Record<Language, Texts> = { pt, en }
