import type { Language } from '../../lib/language.ts'
import type { FieldTexts } from './form-parts.ts'

export type RecipientField = 'name' | 'taxId' | 'pixKey' | 'status'

const FIELDS_PT: Record<RecipientField, FieldTexts> = {
  name: { label: 'Nome', wrong: 'Informe um nome com até 255 caracteres.' },
  taxId: { label: 'CPF ou CNPJ', wrong: 'Confira os números do CPF ou do CNPJ.' },
  pixKey: {
    label: 'Chave Pix',
    wrong: 'Informe uma chave Pix. Um CPF ou CNPJ deve ser o do próprio recebedor.',
    hint: 'CPF, CNPJ, e-mail, chave aleatória ou celular com +55',
  },
  status: { label: 'Situação', wrong: 'Escolha uma situação.' },
}

const pt = {
  title: 'Recebedores',
  make: 'Novo recebedor',
  makeButton: 'Criar recebedor',
  edit: 'Editar',
  save: 'Salvar alterações',
  none: 'Cadastre quem recebe uma parte das suas vendas, como vendedores ou parceiros.',
  details: 'Dados do recebedor',
  newKey: 'Nova chave Pix',
  keyHint:
    'Deixe em branco para manter a chave atual. Se a chave mudar, avisamos por e-mail, e novos repasses só podem ser feitos depois de 24 horas.',
  statuses: { ACTIVE: 'Ativo', INACTIVE: 'Inativo' },
  fields: FIELDS_PT,
  balance: 'Saldo',
  available: 'Disponível para repasse',
  held: 'Repasse em andamento',
  owed: 'Deve à empresa',
  owedHint:
    'É a parte dele em devoluções que a empresa já pagou. As próximas vendas abatem esse valor.',
  statement: 'Extrato',
  columns: { entry: 'Lançamento', at: 'Data', amount: 'Valor', after: 'Saldo após' },
  kinds: {
    SPLIT_SETTLED: 'Parte de uma cobrança',
    SPLIT_TAKEN: 'Parte descontada por devolução ou disputa',
    SPLIT_GIVEN: 'Parte reposta',
    WITHDRAWAL_HELD: 'Repasse',
    WITHDRAWAL_RELEASED: 'Repasse não realizado',
  } as Record<string, string>,
  empty: 'Quando uma cobrança dividida for liberada, a parte dele aparece aqui.',
  payOut: 'Fazer repasse',
  payOutTitle: (name: string) => `Repasse para ${name}`,
  payOutHint:
    'O valor vai para a chave Pix do recebedor. Enviamos um código por e-mail para confirmar, como em um saque.',
  amount: 'Valor em reais',
  amountHint: 'Por exemplo: 150,00',
  wrongAmount: 'Informe um valor em reais, como 150,00.',
  all: (amount: string) => `Repassar tudo (${amount})`,
  nothing: 'Não há valor para repassar agora.',
  done: { made: 'Recebedor criado.', saved: 'Alterações salvas.' },
}

type Texts = typeof pt

const en: Texts = {
  title: 'Recipients',
  make: 'New recipient',
  makeButton: 'Create recipient',
  edit: 'Edit',
  save: 'Save changes',
  none: 'Add those who get a part of your sales, such as sellers or partners.',
  details: 'Recipient details',
  newKey: 'New Pix key',
  keyHint:
    'Leave it empty to keep the present key. If the key changes, you get an email, and payouts to it wait for 24 hours.',
  statuses: { ACTIVE: 'Active', INACTIVE: 'Inactive' },
  fields: {
    name: { label: 'Name', wrong: 'Enter a name of at most 255 characters.' },
    taxId: { label: 'CPF or CNPJ', wrong: 'Check the digits of the CPF or CNPJ.' },
    pixKey: {
      label: 'Pix key',
      wrong: 'Enter a Pix key. A CPF or CNPJ must be the recipient’s own.',
      hint: 'CPF, CNPJ, email, random key or phone with +55',
    },
    status: { label: 'Status', wrong: 'Choose a status.' },
  },
  balance: 'Balance',
  available: 'Can be paid out',
  held: 'Payout in progress',
  owed: 'Owes the company',
  owedHint:
    'Its part of refunds that the company has paid. The next sales make up for this amount.',
  statement: 'Statement',
  columns: { entry: 'Entry', at: 'Date', amount: 'Amount', after: 'Balance after' },
  kinds: {
    SPLIT_SETTLED: 'Part of a charge',
    SPLIT_TAKEN: 'Part taken back by a refund or a dispute',
    SPLIT_GIVEN: 'Part given again',
    WITHDRAWAL_HELD: 'Payout',
    WITHDRAWAL_RELEASED: 'Payout not made',
  },
  empty: 'When a split charge settles, its part appears here.',
  payOut: 'Pay out',
  payOutTitle: (name) => `Payout to ${name}`,
  payOutHint:
    'The money goes to the Pix key of the recipient. We send a code by email to confirm it, as for a withdrawal.',
  amount: 'Amount in reais',
  amountHint: 'For example: 150,00',
  wrongAmount: 'Enter an amount in reais, such as 150,00.',
  all: (amount) => `Pay out all of it (${amount})`,
  nothing: 'There is nothing to pay out now.',
  done: { made: 'Recipient created.', saved: 'Changes saved.' },
}

export const RECIPIENTS: Record<Language, Texts> = { pt, en }
