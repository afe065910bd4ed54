import type { Language } from '../../lib/language.ts'

const pt = {
  /** The setting. */
  title: 'Aprovação de saques',
  intro:
    'Saques acima de um valor podem precisar da aprovação de uma segunda pessoa. O valor vale para cada saque e para a soma do dia: vários saques pequenos não passam dele. Quem solicita o saque nunca pode aprová-lo.',
  noLimit: 'Hoje nenhum saque precisa de aprovação.',
  limit: (amount: string) =>
    `Saques acima de ${amount}, sozinhos ou somados aos do dia que saíram sem aprovação, precisam da aprovação de uma segunda pessoa.`,
  setBy: (name: string, at: string) => `Definido por ${name} em ${at}.`,
  amount: 'Exigir aprovação para saques acima de',
  amountHint:
    'Em reais, por exemplo 5.000,00. Com 0,00, todo saque precisa de aprovação. Saques já solicitados não mudam.',
  wrongAmount: 'Digite um valor em reais, como 5.000,00.',
  save: 'Salvar',
  remove: 'Não exigir aprovação',
  scope:
    'A regra vale para saques pelo painel e por chaves de API. Podem aprovar: funções Responsável e Financeiro.',
  tooFew:
    'Só uma pessoa da empresa pode aprovar saques. Convide outra com a função Responsável ou Financeiro; senão, os saques que ela solicitar acima do valor não poderão ser aprovados.',
  /** A withdrawal that needs an approval. */
  approval: 'Aprovação',
  awaitsApproval: 'Aguardando aprovação',
  waits:
    'O código foi confirmado. Falta a aprovação de uma segunda pessoa para o saque ser enviado.',
  until: (at: string) =>
    `Sem aprovação até ${at}, o saque expira e o valor volta para o saldo disponível.`,
  held: 'O código foi confirmado. A conexão com o banco foi alterada há pouco, então o saque espera um tempo ou a aprovação de uma segunda pessoa.',
  heldUntil: (at: string) => `Sem aprovação, o saque é enviado em ${at}.`,
  mine: 'Você solicitou este saque. Outra pessoa precisa aprová-lo.',
  others: (names: string) => `Podem aprovar: ${names}.`,
  nobody:
    'Ninguém mais na empresa pode aprovar. Convide uma pessoa com a função Responsável ou Financeiro, ou cancele o saque.',
  nobodyHeld:
    'Ninguém mais pode aprovar este saque: quem alterou o banco e quem entrou na empresa há pouco não podem.',
  ask: 'Este saque precisa da aprovação de uma segunda pessoa. Confira o valor, a chave de destino e quem solicitou.',
  approve: 'Aprovar saque',
  reject: 'Recusar saque',
  rejected: 'O saque foi recusado por quem podia aprovar.',
  moved: 'O destino do dinheiro foi alterado enquanto o saque esperava.',
  notYet: 'Ainda não aprovado',
  requestedBy: 'Solicitado por',
  approvedBy: 'Aprovado por',
  apiKey: 'Chave de API',
  needed: (amount: string) =>
    `Saques acima de ${amount}, sozinhos ou somados aos do dia que saíram sem aprovação, precisam também da aprovação de uma segunda pessoa.`,
  prove: 'Para aprovar, confirme antes que é você.',
  proveLink: 'Confirmar identidade',
  done: {
    saved: 'Valor salvo.',
    removed: 'Os saques não precisam mais de aprovação.',
    approved: 'Saque aprovado.',
    rejected: 'Saque recusado. O valor voltou para o saldo disponível.',
  },
}

type Texts = typeof pt

const en: Texts = {
  title: 'Withdrawal approvals',
  intro:
    'Withdrawals above an amount can need the approval of a second person. The amount counts for each withdrawal and for the sum of a day, so many small ones do not get past it. Whoever requests a withdrawal can never approve it.',
  noLimit: 'No withdrawal needs an approval now.',
  limit: (amount) =>
    `Withdrawals above ${amount}, alone or together with those of the day that left without an approval, need the approval of a second person.`,
  setBy: (name, at) => `Set by ${name} at ${at}.`,
  amount: 'Require approval for withdrawals above',
  amountHint:
    'In reais, for example 5.000,00. With 0,00 every withdrawal needs an approval. Withdrawals already requested do not change.',
  wrongAmount: 'Enter an amount in reais, such as 5.000,00.',
  save: 'Save',
  remove: 'Require no approval',
  scope:
    'The rule is for withdrawals from the dashboard and with API keys. Owner and Finance can approve.',
  tooFew:
    'Only one person of the company can approve withdrawals. Invite another Owner or Finance; otherwise nobody can approve what that person requests above the amount.',
  approval: 'Approval',
  awaitsApproval: 'Waiting for approval',
  waits: 'The code is confirmed. A second person must approve the withdrawal before it is sent.',
  until: (at) =>
    `If nobody approves it by ${at}, the withdrawal expires and the amount is available again.`,
  held: 'The code is confirmed. The bank connection was changed a short time ago, so the withdrawal waits for a while or for the approval of a second person.',
  heldUntil: (at) => `If nobody approves it, the withdrawal is sent at ${at}.`,
  mine: 'You requested this withdrawal. Another person must approve it.',
  others: (names) => `These people can approve it: ${names}.`,
  nobody:
    'Nobody else in the company can approve it. Invite somebody as Owner or Finance, or cancel the withdrawal.',
  nobodyHeld:
    'Nobody else can approve this withdrawal: neither whoever changed the bank nor who joined the company a short time ago.',
  ask: 'This withdrawal needs the approval of a second person. Check the amount, the destination key and who requested it.',
  approve: 'Approve withdrawal',
  reject: 'Refuse withdrawal',
  rejected: 'Somebody who could approve the withdrawal refused it.',
  moved: 'Where the money goes was changed while the withdrawal waited.',
  notYet: 'Not approved yet',
  requestedBy: 'Requested by',
  approvedBy: 'Approved by',
  apiKey: 'API key',
  needed: (amount) =>
    `Withdrawals above ${amount}, alone or together with those of the day that left without an approval, also need the approval of a second person.`,
  prove: 'To approve it, first confirm that it is you.',
  proveLink: 'Confirm your identity',
  done: {
    saved: 'Amount saved.',
    removed: 'Withdrawals need no approval any more.',
    approved: 'Withdrawal approved.',
    rejected: 'Withdrawal refused. The amount is available again.',
  },
}

export const APPROVALS: Record<Language, Texts> = { pt, en }
