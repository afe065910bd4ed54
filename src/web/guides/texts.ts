import type { Language } from '../../lib/language.ts'

const GROUPS_PT: Record<string, string> = {
  Start: 'Primeiros passos',
  Guides: 'Guias',
  Concepts: 'Conceitos',
  Reference: 'Referência',
  Operation: 'Operação',
  Decisions: 'Decisões',
}

const pt = {
  menu: 'Guias',
  contents: 'Nesta página',
  search: 'Buscar nos guias',
  find: 'Buscar',
  previous: 'Anterior',
  next: 'Próxima',
  pages: 'Página anterior e próxima',
  api: 'Referência da API',
  groups: GROUPS_PT,
  found: (count: number, query: string) =>
    count === 0
      ? `Nada encontrado para “${query}”`
      : `${count} ${count === 1 ? 'resultado' : 'resultados'} para “${query}”`,
  more: (shown: number) =>
    `Estes são os ${shown} primeiros. Use mais palavras para encontrar menos.`,
  hint: 'Tente menos palavras ou parte de uma palavra.',
  note: 'Esta página ainda está só em inglês.',
  inOther: 'Read in English',
  markdown: 'Ver como Markdown',
  copy: 'Copiar',
  copied: 'Copiado',
  list: {
    about:
      'Serviço de pagamentos Pix que você mesmo hospeda: cobranças, links de pagamento, assinaturas no Pix Automático, webhooks assinados, devoluções, saldo e saques.',
    other: 'In English',
    api: (url: string) => [
      `- [OpenAPI](${url}/openapi.json): todas as operações da API, com exemplos`,
      `- [Coleção](${url}/collection.json): as mesmas requisições para Postman e Bruno`,
      `- [MCP](${url}/mcp): as ferramentas para agentes`,
    ],
  },
}

type Texts = typeof pt

const en: Texts = {
  menu: 'Guides',
  contents: 'On this page',
  search: 'Search the guides',
  find: 'Search',
  previous: 'Previous',
  next: 'Next',
  pages: 'Previous and next page',
  api: 'API reference',
  groups: {
    Start: 'First steps',
    Guides: 'Guides',
    Concepts: 'Concepts',
    Reference: 'Reference',
    Operation: 'Operation',
    Decisions: 'Decisions',
  },
  found: (count, query) =>
    count === 0
      ? `Nothing found for “${query}”`
      : `${count} ${count === 1 ? 'result' : 'results'} for “${query}”`,
  more: (shown) => `These are the first ${shown}. Use more words to find fewer.`,
  hint: 'Try fewer words, or a part of a word.',
  note: 'This page is in Portuguese only.',
  inOther: 'Ler em português',
  markdown: 'View as Markdown',
  copy: 'Copy',
  copied: 'Copied',
  list: {
    about:
      'A self-hosted Pix payment service: charges, payment links, subscriptions with Pix Automático, signed webhooks, refunds, balance and withdrawals.',
    other: 'Em português',
    api: (url) => [
      `- [OpenAPI](${url}/openapi.json): every operation of the API, with examples`,
      `- [Collection](${url}/collection.json): the same requests for Postman and Bruno`,
      `- [MCP](${url}/mcp): the tools for agents`,
    ],
  },
}

/** The texts around the guides. */
export const GUIDES = { pt, en } as const satisfies Record<Language, Texts>
