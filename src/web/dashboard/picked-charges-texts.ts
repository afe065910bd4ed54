import type { Language } from '../../lib/language.ts'

const cobrancas = (count: number) => (count === 1 ? '1 cobrança' : `${count} cobranças`)
const chargesOf = (count: number) => (count === 1 ? '1 charge' : `${count} charges`)

const pt = {
  pick: (what: string) => `Selecionar ${what}`,
  all: 'Selecionar todas desta página',
  picked: 'Com as selecionadas:',
  one: '1 selecionada',
  many: '# selecionadas',
  csvButton: 'Baixar CSV',
  mailButton: 'Reenviar',
  cancelButton: ['Cancelar', 'cobranças'],
  why: 'Motivo',
  refused: (count: number) =>
    count === 1
      ? '1 cobrança foi recusada e ficou como estava.'
      : `${count} cobranças foram recusadas e ficaram como estavam.`,
  none: {
    none: 'Selecione ao menos uma cobrança.',
    'none-cancel': 'Nenhuma das cobranças selecionadas está em aberto.',
    'none-mail': 'Nenhuma das cobranças selecionadas pode ser enviada por e-mail.',
  },
  cancel: {
    title: (count: number) => `Cancelar ${cobrancas(count)}?`,
    text: (count: string, sum: string) =>
      `Em aberto: ${count}, somando ${sum}. Quem ainda não pagou não poderá mais pagar. Não é possível desfazer.`,
    others: (count: number) =>
      count === 1
        ? 'A outra selecionada não está em aberto e fica como está.'
        : `As outras ${count} selecionadas não estão em aberto e ficam como estão.`,
    button: (count: number) => `Cancelar ${cobrancas(count)}`,
    result: 'Cancelamento de cobranças',
    done: (count: number, sum: string) =>
      count === 1 ? `1 cobrança cancelada (${sum}).` : `${count} cobranças canceladas (${sum}).`,
  },
  mail: {
    title: (count: number) => `Enviar ${count === 1 ? '1 e-mail' : `${count} e-mails`}?`,
    text: (count: string, sum: string) =>
      `Cada pagador recebe um e-mail por cobrança: o link, se está em aberto, ou o comprovante, se foi paga. São ${count}, somando ${sum}.`,
    others: (count: number) =>
      count === 1
        ? 'A outra selecionada não tem e-mail ou não pode ser enviada.'
        : `As outras ${count} selecionadas não têm e-mail ou não podem ser enviadas.`,
    button: (count: number) => `Enviar ${count === 1 ? '1 e-mail' : `${count} e-mails`}`,
    result: 'Envio por e-mail',
    done: (count: number, _sum: string) =>
      count === 1 ? '1 e-mail na fila de envio.' : `${count} e-mails na fila de envio.`,
  },
}

type Texts = typeof pt

const en: Texts = {
  pick: (what) => `Select ${what}`,
  all: 'Select all of this page',
  picked: 'With the selected ones:',
  one: '1 selected',
  many: '# selected',
  csvButton: 'Download CSV',
  mailButton: 'Send again',
  cancelButton: ['Cancel', 'charges'],
  why: 'Reason',
  refused: (count) =>
    count === 1
      ? '1 charge was refused and is as it was.'
      : `${count} charges were refused and are as they were.`,
  none: {
    none: 'Select at least one charge.',
    'none-cancel': 'None of the selected charges is open.',
    'none-mail': 'None of the selected charges can be sent by e-mail.',
  },
  cancel: {
    title: (count) => `Cancel ${chargesOf(count)}?`,
    text: (count, sum) =>
      `Open: ${count}, ${sum} together. Who has not paid yet can no longer pay. This cannot be undone.`,
    others: (count) =>
      count === 1
        ? 'The other selected one is not open and stays as it is.'
        : `The other ${count} selected ones are not open and stay as they are.`,
    button: (count) => `Cancel ${chargesOf(count)}`,
    result: 'Canceling charges',
    done: (count, sum) => `${chargesOf(count)} canceled (${sum}).`,
  },
  mail: {
    title: (count) => `Send ${count === 1 ? '1 e-mail' : `${count} e-mails`}?`,
    text: (count, sum) =>
      `Each payer gets an e-mail for each charge: the link if it is open, the receipt if it was paid. There are ${count}, ${sum} together.`,
    others: (count) =>
      count === 1
        ? 'The other selected one has no e-mail address or cannot be sent.'
        : `The other ${count} selected ones have no e-mail address or cannot be sent.`,
    button: (count) => `Send ${count === 1 ? '1 e-mail' : `${count} e-mails`}`,
    result: 'Sending by e-mail',
    done: (count) => (count === 1 ? '1 e-mail queued.' : `${count} e-mails queued.`),
  },
}

export const PICKED: Record<Language, Texts> = { pt, en }
