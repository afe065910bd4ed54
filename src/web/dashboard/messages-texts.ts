import type { MessageSort } from '../../core/letters/messages.ts'
import type { Language } from '../../lib/language.ts'

const SORTS_PT: Record<MessageSort, { title: string; when: string }> = {
  charge: { title: 'Cobrança', when: 'Ao enviar uma cobrança em aberto.' },
  link: { title: 'Link de pagamento', when: 'Ao enviar um link em aberto.' },
  overdue: { title: 'Cobrança vencida', when: 'Ao enviar uma cobrança depois do vencimento.' },
  receipt: { title: 'Comprovante', when: 'Ao enviar o comprovante de uma cobrança paga.' },
  plan: { title: 'Carnê', when: 'Ao enviar a página das parcelas.' },
  reusable: { title: 'Link para vários clientes', when: 'Ao enviar um link da página Links.' },
  subscription: { title: 'Assinatura', when: 'Ao enviar um link de assinatura.' },
}

const SORTS_EN: typeof SORTS_PT = {
  charge: { title: 'Charge', when: 'When you send an open charge.' },
  link: { title: 'Payment link', when: 'When you send an open link.' },
  overdue: { title: 'Overdue charge', when: 'When you send a charge after its due date.' },
  receipt: { title: 'Receipt', when: 'When you send the receipt of a paid charge.' },
  plan: { title: 'Installments', when: 'When you send the page of the installments.' },
  reusable: { title: 'Link for many customers', when: 'When you send a link of the page Links.' },
  subscription: { title: 'Subscription', when: 'When you send the link of a subscription.' },
}

const braced = (names: readonly string[]): string => names.map((name) => `{${name}}`).join(', ')

const pt = {
  title: 'Mensagens',
  one: 'Mensagem',
  intro:
    'O texto que vai com o link no WhatsApp, no e-mail e ao compartilhar. Nada é enviado sem você.',
  own: 'Sua mensagem',
  ours: 'Padrão',
  change: 'Editar',
  text: 'Mensagem',
  placeholders: (known: readonly string[]) =>
    `Use ${braced(known)}. A linha cujo dado não existe é omitida. Sem {link}, o link vai no fim.`,
  wrong: (max: number) => `Escreva de 1 a ${max} caracteres.`,
  unknown: (names: readonly string[], known: readonly string[]) =>
    `${braced(names)} não existe nesta mensagem. Use ${braced(known)}.`,
  save: 'Salvar',
  preview: 'Pré-visualizar',
  /** Sold in the sample. */
  product: 'Bolo de cenoura',
  previewTitle: 'Prévia',
  reset: 'Restaurar padrão',
  sorts: SORTS_PT,
  done: {
    saved: 'Mensagem salva.',
    reset: 'Mensagem padrão restaurada.',
  } as Record<string, string>,
}

const en: typeof pt = {
  title: 'Messages',
  one: 'Message',
  intro:
    'The text that goes with the link by WhatsApp, by e-mail and when you share it. Nothing is sent without you.',
  own: 'Your message',
  ours: 'Standard',
  change: 'Edit',
  text: 'Message',
  placeholders: (known) =>
    `Use ${braced(known)}. A line about something that there is not is left out. Without {link} the link comes last.`,
  wrong: (max) => `Write 1 to ${max} characters.`,
  unknown: (names, known) => `There is no ${braced(names)} in this message. Use ${braced(known)}.`,
  save: 'Save',
  preview: 'Preview',
  product: 'Carrot cake',
  previewTitle: 'Preview',
  reset: 'Back to the standard',
  sorts: SORTS_EN,
  done: { saved: 'Message saved.', reset: 'Standard message restored.' },
}

export const MESSAGES: Record<Language, typeof pt> = { pt, en }
