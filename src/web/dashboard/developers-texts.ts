import type { Language } from '../../lib/language.ts'

const pt = {
  title: 'Desenvolvedores',
  pages: 'Páginas para desenvolvedores',
  overview: 'Visão geral',
  keys: {
    title: 'Chaves de API',
    text: 'Crie, troque e revogue as chaves que os seus sistemas usam.',
  },
  webhooks: {
    title: 'Webhooks',
    text: 'Receba um aviso no seu servidor quando algo acontece.',
  },
  deliveries: {
    title: 'Entregas',
    text: 'Veja cada envio aos seus webhooks, com a resposta, e envie de novo.',
  },
  events: { title: 'Eventos', text: 'Tudo o que aconteceu, do mais recente ao mais antigo.' },
  requests: {
    title: 'Requisições',
    text: 'As chamadas dos últimos 7 dias à API, com status e código de erro.',
  },
  docs: { title: 'Documentação', text: 'Guia de início, referência da API e exemplos.' },
  address: 'Endereço da API',
  addressText: 'Todas as operações ficam neste endereço.',
  example: 'Primeira chamada',
  exampleText: 'Substitua SUA_CHAVE por uma chave de API desta empresa.',
  version: 'Versão da API desta empresa',
  changeVersion: 'Ver versões',
  copyAddress: 'o endereço',
  copyExample: 'o exemplo',
}

type Texts = typeof pt

const en: Texts = {
  title: 'Developers',
  pages: 'Pages for developers',
  overview: 'Overview',
  keys: { title: 'API keys', text: 'Create, rotate and revoke the keys that your systems use.' },
  webhooks: { title: 'Webhooks', text: 'Have your server notified when something happens.' },
  deliveries: {
    title: 'Deliveries',
    text: 'See what was sent to your webhooks and what they answered, and send it again.',
  },
  events: { title: 'Events', text: 'Everything that has happened, newest first.' },
  requests: {
    title: 'Requests',
    text: 'The API calls of the last 7 days, with their status and error code.',
  },
  docs: { title: 'Documentation', text: 'How to start, the API reference and examples.' },
  address: 'API address',
  addressText: 'All operations are at this address.',
  example: 'First call',
  exampleText: 'Replace YOUR_KEY with an API key of this company.',
  version: 'API version of this company',
  changeVersion: 'See the versions',
  copyAddress: 'the address',
  copyExample: 'the example',
}

export const DEVELOPERS: Record<Language, Texts> = { pt, en }
