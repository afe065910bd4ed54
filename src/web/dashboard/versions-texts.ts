import type { Language } from '../../lib/language.ts'

const VERSIONS_PT: Record<string, string> = {
  '2025-01-01':
    'A primeira. Uma resposta é o próprio recurso ou lista; um erro tem statusCode, message e error; o status RECEIVED é escrito RECIEVED.',
  '2026-08-16':
    'Toda resposta tem status, message, data e errors. Um erro lista cada campo errado em errors. O status é escrito RECEIVED.',
}

const pt = {
  title: 'Versão da API',
  intro:
    'As respostas da API têm a forma da versão em que a empresa está fixada. Nada muda até você trocar.',
  pinned: 'Versão desta empresa',
  history: 'Versões',
  /** What each version is, in words. */
  versions: VERSIONS_PT,
  newest: 'Mais recente',
  here: 'Em uso',
  document: 'OpenAPI',
  wouldChange: (version: string) => `O que muda com a versão ${version}`,
  usedOnly: 'Somente as operações que esta empresa usou nos últimos 7 dias.',
  allOperations: 'Todas as operações, pois nenhuma foi usada nos últimos 7 dias.',
  nothing: 'Nenhuma resposta que esta empresa usa mudaria.',
  operations: 'Operações cujas respostas mudam',
  operation: 'Operação',
  change: 'O que muda',
  example: 'Um registro recente, antes e depois (dados pessoais ocultos)',
  pin: (version: string) => `Fixar na versão ${version}`,
  pinTitle: (version: string) => `Fixar a empresa na versão ${version}?`,
  pinText:
    'Todas as chamadas sem o cabeçalho X-Api-Version passam a ser respondidas nesta versão, na hora. Os webhooks não mudam. Você pode voltar à versão anterior.',
  back: 'Manter a versão atual',
  done: 'A versão da API foi alterada.',
  tryFirst: 'Para experimentar antes, envie o cabeçalho X-Api-Version em uma chamada.',
  isNewest: 'A empresa já usa a versão mais recente.',
}

type Texts = typeof pt

const en: Texts = {
  title: 'API version',
  intro:
    'Answers of the API have the form of the version that the company is pinned to. Nothing changes until you change it.',
  pinned: 'Version of this company',
  history: 'Versions',
  versions: {
    '2025-01-01':
      'The first one. An answer is the bare resource or list; an error has statusCode, message and error; the status RECEIVED is spelled RECIEVED.',
    '2026-08-16':
      'Every answer has status, message, data and errors. An error lists each wrong field in errors. The status is spelled RECEIVED.',
  },
  newest: 'Newest',
  here: 'In use',
  document: 'OpenAPI',
  wouldChange: (version) => `What changes with version ${version}`,
  usedOnly: 'Only the operations that this company used in the last 7 days.',
  allOperations: 'All operations, because none was used in the last 7 days.',
  nothing: 'No answer that this company uses would change.',
  operations: 'Operations whose answers change',
  operation: 'Operation',
  change: 'What changes',
  example: 'A recent record, before and after (personal data masked)',
  pin: (version) => `Pin to version ${version}`,
  pinTitle: (version) => `Pin the company to version ${version}?`,
  pinText:
    'All calls without the header X-Api-Version are answered in this version, at once. Webhooks do not change. You can go back to the former version.',
  back: 'Keep the present version',
  done: 'The API version is changed.',
  tryFirst: 'To try it first, send the header X-Api-Version with a call.',
  isNewest: 'The company uses the newest version already.',
}

export const VERSION_PAGES: Record<Language, Texts> = { pt, en }
