import type { Language } from '../lib/language.ts'

/** One thing that answers do otherwise since a version. */
export type Change = {
  /** A short name that stays the same. */
  name: string
  /** Where clients see it: around every success, in errors, or in the value of a field. */
  in: 'frame' | 'errors' | { field: string; before: string; after: string }
  /** What is different, in a sentence. */
  summary: Record<Language, string>
}

/** What version 2026-08-16 does otherwise than 2025-01-01. */
export const CHANGES_2026_08_16: Change[] = [
  {
    name: 'envelope',
    in: 'frame',
    summary: {
      en: 'A success is in `data`, with `status`, `message` and an empty `errors` around it; before it was the bare resource or list.',
      pt: 'A resposta passa a vir em `data`, com `status`, `message` e `errors` ao redor; antes era o próprio recurso ou a lista.',
    },
  },
  {
    name: 'errors',
    in: 'errors',
    summary: {
      en: 'An error is `{status, message, data: null, errors}` and lists each violation in `errors` with its `code`; before it was `{statusCode, message, error}` with the code in `error`.',
      pt: 'Um erro passa a ser `{status, message, data: null, errors}` e lista cada violação em `errors` com seu `code`; antes era `{statusCode, message, error}`, com o código em `error`.',
    },
  },
  {
    name: 'received',
    in: { field: 'paymentStatus', before: 'RECIEVED', after: 'RECEIVED' },
    summary: {
      en: 'The payment status RECIEVED becomes RECEIVED, in answers and in the filter `paymentStatus`.',
      pt: 'O status de pagamento RECIEVED passa a ser RECEIVED, nas respostas e no filtro `paymentStatus`.',
    },
  },
]
