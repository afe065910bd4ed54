import type { Language } from '../../lib/language.ts'
import type { FieldTexts } from './form-parts.ts'

export type CustomerField =
  | 'name'
  | 'taxId'
  | 'email'
  | 'phone'
  | 'postalCode'
  | 'address'
  | 'number'
  | 'line1'
  | 'district'
  | 'status'

const FIELDS_PT: Record<CustomerField, FieldTexts> = {
  name: { label: 'Nome', wrong: 'Informe um nome com até 255 caracteres.' },
  taxId: { label: 'CPF ou CNPJ', wrong: 'CPF ou CNPJ inválido. Confira os dígitos.' },
  email: { label: 'E-mail', wrong: 'Informe um e-mail como maria@exemplo.com.br.' },
  phone: { label: 'Celular com DDD', wrong: 'Informe o DDD e o número: 10 ou 11 dígitos.' },
  postalCode: { label: 'CEP', wrong: 'CEP inválido: informe 8 dígitos.' },
  address: { label: 'Rua', wrong: 'A rua pode ter até 255 caracteres.' },
  number: { label: 'Número', wrong: 'O número pode ter até 255 caracteres.' },
  line1: { label: 'Complemento', wrong: 'O complemento pode ter até 255 caracteres.' },
  district: { label: 'Bairro', wrong: 'O bairro pode ter até 255 caracteres.' },
  status: { label: 'Situação', wrong: 'Escolha uma situação.' },
}

const pt = {
  csv: 'Baixar CSV',
  title: 'Clientes',
  make: 'Novo cliente',
  makeButton: 'Criar cliente',
  save: 'Salvar alterações',
  edit: 'Editar',
  remove: 'Excluir',
  removeTitle: (name: string) => `Excluir ${name}?`,
  removeText:
    'O cadastro é apagado. As cobranças feitas guardam os dados de quem pagou, e as assinaturas em andamento continuam.',
  search: 'Parte do nome, telefone ou e-mail, ou CPF ou CNPJ',
  searchButton: 'Buscar',
  none: 'Quem paga uma cobrança aparece aqui. Você também pode cadastrar clientes.',
  noneFound: (text: string) => `Nenhum cliente encontrado para “${text}”`,
  details: 'Cadastro',
  address: 'Endereço',
  addressHint: 'Preencha se precisar do endereço do cliente.',
  phone: 'Celular',
  reminders: 'Lembretes por e-mail',
  noReminders: 'O pagador pediu para não receber',
  since: 'Cliente desde',
  paid: 'Total pago',
  lastPaid: 'Último pagamento',
  newestOnly: 'Nas 100 cobranças mais recentes',
  paidCount: (count: number, isMore: boolean) =>
    `${count === 1 ? '1 pagamento' : `${count} pagamentos`}, sem as devoluções${isMore ? ', entre as cobranças mais recentes' : ''}`,
  charges: 'Cobranças',
  noCharges: 'Este cliente ainda não tem cobranças.',
  charge: 'Cobrança',
  madeAt: 'Criada em',
  paidAt: 'Paga em',
  amount: 'Valor',
  state: 'Situação',
  description: 'Descrição',
  subscriptions: 'Assinaturas',
  product: 'Produto',
  chargeThem: 'Cobrar',
  sendLink: 'Enviar link',
  masked: 'Sua função vê os dados do cliente só em parte.',
  statuses: { ACTIVE: 'Ativo', INACTIVE: 'Inativo' },
  fields: FIELDS_PT,
  done: {
    noted: 'Nota adicionada.',
    'note-deleted': 'Nota excluída.',
    made: 'Cliente criado.',
    saved: 'Alterações salvas.',
    deleted: 'Cliente excluído.',
    erased: 'Os dados do pagador estão sendo apagados. Em alguns minutos nada mais diz quem é.',
  },
}

type Texts = typeof pt

const en: Texts = {
  csv: 'Download CSV',
  title: 'Customers',
  make: 'New customer',
  makeButton: 'Create customer',
  save: 'Save changes',
  edit: 'Edit',
  remove: 'Delete',
  removeTitle: (name) => `Delete ${name}?`,
  removeText:
    'The record is erased. Past charges keep the details of who paid, and running subscriptions go on.',
  search: 'Part of a name, phone or e-mail, or CPF or CNPJ',
  searchButton: 'Search',
  none: 'Whoever pays a charge appears here. You can also add customers.',
  noneFound: (text) => `No customer found for “${text}”`,
  details: 'Details',
  address: 'Address',
  addressHint: 'If you need the customer’s address.',
  phone: 'Phone',
  reminders: 'Reminders by e-mail',
  noReminders: 'The payer wants none',
  since: 'Customer since',
  paid: 'Total paid',
  lastPaid: 'Last payment',
  newestOnly: 'In the newest 100 charges',
  paidCount: (count, isMore) =>
    `${count === 1 ? '1 payment' : `${count} payments`}, without refunds${isMore ? ', in the newest charges' : ''}`,
  charges: 'Charges',
  noCharges: 'This customer has no charges yet.',
  charge: 'Charge',
  madeAt: 'Created at',
  paidAt: 'Paid at',
  amount: 'Amount',
  state: 'Status',
  description: 'Description',
  subscriptions: 'Subscriptions',
  product: 'Product',
  chargeThem: 'Charge',
  sendLink: 'Send a link',
  masked: 'Your role sees the customer’s details only in part.',
  statuses: { ACTIVE: 'Active', INACTIVE: 'Inactive' },
  fields: {
    name: { label: 'Name', wrong: 'Enter a name of at most 255 characters.' },
    taxId: { label: 'CPF or CNPJ', wrong: 'This CPF or CNPJ is not valid. Check its digits.' },
    email: { label: 'E-mail', wrong: 'Enter an address such as maria@example.com.' },
    phone: { label: 'Phone with area code', wrong: 'Enter area code and number: 10 or 11 digits.' },
    postalCode: { label: 'CEP', wrong: 'Enter a valid 8-digit CEP.' },
    address: { label: 'Street', wrong: 'The street may have 255 characters.' },
    number: { label: 'Number', wrong: 'The number may have 255 characters.' },
    line1: { label: 'Apt, suite, etc.', wrong: 'This may have 255 characters.' },
    district: { label: 'Neighborhood', wrong: 'The neighborhood may have 255 characters.' },
    status: { label: 'Status', wrong: 'Choose a status.' },
  },
  done: {
    noted: 'Note added.',
    'note-deleted': 'Note deleted.',
    made: 'Customer created.',
    saved: 'Changes saved.',
    deleted: 'Customer deleted.',
    erased: 'The data of the payer are being erased. In a few minutes nothing says who it is.',
  },
}

export const CUSTOMERS: Record<Language, Texts> = { pt, en }
