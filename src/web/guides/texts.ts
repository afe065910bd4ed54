import type { Language } from '../../lib/language.ts'

const GROUPS_PT: Record<string, string> = {
  Start: 'Primeiros passos',
  Guides: 'Guias (em inglês)',
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
  hint: 'Tente menos palavras, ou em inglês: os guias estão em inglês.',
  copy: 'Copiar',
  copied: 'Copiado',
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
  copy: 'Copy',
  copied: 'Copied',
}

export const GUIDES = { pt, en } as const satisfies Record<Language, Texts>
