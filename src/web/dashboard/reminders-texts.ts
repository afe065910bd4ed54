import type { Channel } from '../../core/reminders/rules.ts'
import type { Language } from '../../lib/language.ts'

const pt = {
  title: 'Lembretes',
  when: 'Quando',
  day: (day: number) => {
    const days = Math.abs(day) === 1 ? '1 dia' : `${Math.abs(day)} dias`
    if (day === 0) return 'No dia do vencimento'
    return day < 0 ? `${days} antes do vencimento` : `${days} depois do vencimento`
  },
  failedRule: 'Quando um débito falha',
  channel: 'Envio',
  channelHint: 'O evento charge.reminder é sempre enviado aos webhooks, para WhatsApp ou SMS.',
  channels: { EMAIL: 'E-mail e webhook', WEBHOOK: 'Só webhook' } satisfies Record<Channel, string>,
  state: 'Situação',
  on: 'Ativo',
  off: 'Desativado',
  due: 'Cobranças com vencimento',
  failed: 'Assinaturas',
  intro:
    'Enviados às 9h, uma vez cada, enquanto a cobrança estiver em aberto. Quem paga não recebe mais.',
  failedIntro:
    'Enviados a cada vez que o banco não consegue debitar, e quando não há mais tentativas.',
  none: 'Sem lembretes, os pagadores não são avisados do vencimento.',
  suggestion: 'Sugestão: 3 dias antes, no dia, 1 e 5 dias depois. Você ativa cada um.',
  suggest: 'Usar a sugestão',
  make: 'Novo lembrete',
  enabled: 'Ativo',
  languages: { pt: 'português', en: 'inglês' } satisfies Record<Language, string>,
  subject: (language: string) => `Assunto em ${language}`,
  text: (language: string) => `Texto em ${language}`,
  placeholders: 'Use {nome}, {valor}, {vencimento}, {link} e {empresa}. Somente texto.',
  wrongSubject: 'Use só {nome}, {valor}, {vencimento} e {empresa}, em até 150 caracteres.',
  wrongText: 'Use só {nome}, {valor}, {vencimento}, {link} e {empresa}, em até 2.000 caracteres.',
  dayTaken: 'Já existe um lembrete para este dia.',
  save: 'Salvar',
  preview: 'Pré-visualizar',
  previewIn: (language: string) => `Prévia em ${language}`,
  asMail: 'Ver como e-mail',
  remove: 'Excluir',
  done: {
    saved: 'Lembrete salvo. As cobranças em aberto seguem a regra em cerca de um minuto.',
    removed: 'Lembrete excluído.',
    suggested: 'Lembretes criados, desativados. Ative os que quiser.',
  },
}

const en: typeof pt = {
  title: 'Reminders',
  when: 'When',
  day: (day) => {
    const days = Math.abs(day) === 1 ? '1 day' : `${Math.abs(day)} days`
    if (day === 0) return 'On the due date'
    return day < 0 ? `${days} before the due date` : `${days} after the due date`
  },
  failedRule: 'When a debit fails',
  channel: 'Sent by',
  channelHint: 'The event charge.reminder always goes to webhooks, for WhatsApp or SMS.',
  channels: { EMAIL: 'E-mail and webhook', WEBHOOK: 'Webhook only' },
  state: 'State',
  on: 'On',
  off: 'Off',
  due: 'Charges with a due date',
  failed: 'Subscriptions',
  intro: 'Sent at 9:00 in São Paulo, once each, while the charge is open. Who pays gets no more.',
  failedIntro: 'When the bank cannot debit a charge of a subscription, at each attempt.',
  none: 'Without reminders, payers are not told of the due date.',
  suggestion:
    'Suggested: 3 days before, on the day, 1 and 5 days after. You switch each of them on.',
  suggest: 'Use the suggestion',
  make: 'New reminder',
  enabled: 'On',
  languages: { pt: 'Portuguese', en: 'English' },
  subject: (language) => `Subject in ${language}`,
  text: (language) => `Text in ${language}`,
  placeholders: 'Use {nome}, {valor}, {vencimento}, {link} and {empresa}. Plain text only.',
  wrongSubject: 'Use only {nome}, {valor}, {vencimento} and {empresa}, up to 150 characters.',
  wrongText:
    'Use only {nome}, {valor}, {vencimento}, {link} and {empresa}, up to 2.000 characters.',
  dayTaken: 'There is a reminder for this day already.',
  save: 'Save',
  preview: 'Preview',
  previewIn: (language) => `Preview in ${language}`,
  asMail: 'See it as an e-mail',
  remove: 'Delete',
  done: {
    saved: 'Reminder saved. Open charges follow the rule within about a minute.',
    removed: 'Reminder deleted.',
    suggested: 'Reminders created, switched off. Switch on those that you want.',
  },
}

/** The texts of the pages of reminders. */
export const REMINDERS: Record<Language, typeof pt> = { pt, en }
