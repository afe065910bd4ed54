import type { Frequency } from '../../core/products/rules.ts'
import type { Language } from '../../lib/language.ts'
import type { FieldTexts } from './form-parts.ts'

export type ProductField =
  | 'name'
  | 'description'
  | 'price'
  | 'type'
  | 'frequency'
  | 'dayDue'
  | 'dayGenerateCharge'
  | 'sku'
  | 'imageUrl'
  | 'status'

const FIELDS_PT: Record<ProductField, FieldTexts> = {
  name: { label: 'Nome', wrong: 'Informe um nome com até 255 caracteres.' },
  description: {
    label: 'Descrição',
    wrong: 'A descrição pode ter até 4.096 caracteres.',
  },
  price: {
    label: 'Preço em reais',
    wrong: 'Informe o preço em reais, como 19,90.',
    hint: 'Por exemplo: 19,90',
  },
  type: { label: 'Tipo', wrong: 'Escolha um tipo.' },
  frequency: { label: 'Frequência', wrong: 'Escolha de quanto em quanto tempo cobrar.' },
  dayDue: { label: 'Prazo para pagar', wrong: 'Escolha de 1 a 7 dias.' },
  dayGenerateCharge: { label: 'Dia da cobrança', wrong: 'Escolha um dia de 1 a 28.' },
  sku: {
    label: 'Código interno (SKU)',
    wrong: 'O código pode ter até 255 caracteres.',
  },
  imageUrl: {
    label: 'Endereço da imagem',
    wrong: 'Informe um endereço que comece com https:// ou http://.',
  },
  status: { label: 'Situação', wrong: 'Escolha uma situação.' },
}

const pt = {
  title: 'Produtos',
  one: 'Produto',
  make: 'Novo produto',
  makeButton: 'Criar produto',
  save: 'Salvar alterações',
  edit: 'Editar',
  remove: 'Excluir',
  removeTitle: (name: string) => `Excluir ${name}?`,
  removeText:
    'O produto sai do catálogo e não poderá mais ser vendido. As vendas já feitas e as assinaturas em andamento continuam como estão.',
  all: 'Todos',
  price: 'Preço',
  filters: 'Filtrar produtos',
  none: 'Cadastre o que você vende para montar links de pagamento e assinaturas.',
  noneFound: 'Nenhum produto com este filtro.',
  details: 'Dados do produto',
  more: 'Mais opções',
  sell: 'Criar link com este produto',
  subscribe: 'Criar link de assinatura',
  types: { ONE_TIME: 'Venda única', RECURRING: 'Assinatura' },
  statuses: { ACTIVE: 'Ativo', INACTIVE: 'Inativo' },
  frequencies: {
    WEEKLY: 'Semanal',
    MONTHLY: 'Mensal',
    SEMIANNUAL: 'Semestral',
    ANNUAL: 'Anual',
  } satisfies Record<Frequency, string>,
  noFrequency: 'Selecione',
  days: (days: number) => (days === 1 ? '1 dia' : `${days} dias`),
  anyDay: 'No dia da autorização',
  dayOfMonth: (day: number) => `Dia ${day}`,
  needShipping: 'Precisa de entrega',
  needShippingHint: 'Serve de lembrete para quem prepara os pedidos.',
  categories: 'Categorias',
  subscriptionTitle: 'Cobrança da assinatura',
  subscriptionHint: 'Preencha apenas se o produto for uma assinatura.',
  fields: FIELDS_PT,
  done: {
    made: 'Produto criado.',
    saved: 'Alterações salvas.',
    deleted: 'Produto excluído.',
  },
  yes: 'Sim',
  no: 'Não',
}

type Texts = typeof pt

const en: Texts = {
  title: 'Products',
  one: 'Product',
  make: 'New product',
  makeButton: 'Create product',
  save: 'Save changes',
  edit: 'Edit',
  remove: 'Delete',
  removeTitle: (name) => `Delete ${name}?`,
  removeText:
    'The product leaves the catalog and can no longer be sold. Past sales and running subscriptions stay as they are.',
  all: 'All',
  price: 'Price',
  filters: 'Filter products',
  none: 'Add what you sell, to make payment links and subscriptions of it.',
  noneFound: 'No product matches this filter.',
  details: 'Product details',
  more: 'More options',
  sell: 'Create a link with this product',
  subscribe: 'Create a subscription link',
  types: { ONE_TIME: 'One-time', RECURRING: 'Subscription' },
  statuses: { ACTIVE: 'Active', INACTIVE: 'Inactive' },
  frequencies: {
    WEEKLY: 'Weekly',
    MONTHLY: 'Monthly',
    SEMIANNUAL: 'Half-yearly',
    ANNUAL: 'Yearly',
  },
  noFrequency: 'Choose',
  days: (days) => (days === 1 ? '1 day' : `${days} days`),
  anyDay: 'The day it is authorized',
  dayOfMonth: (day) => `Day ${day}`,
  needShipping: 'Needs shipping',
  needShippingHint: 'A reminder for whoever prepares the orders.',
  categories: 'Categories',
  subscriptionTitle: 'How the subscription is charged',
  subscriptionHint: 'Only for products that are subscriptions.',
  fields: {
    name: { label: 'Name', wrong: 'Enter a name of at most 255 characters.' },
    description: {
      label: 'Description',
      wrong: 'The description may have 4,096 characters.',
    },
    price: {
      label: 'Price in reais',
      wrong: 'Enter the price in reais, such as 19,90.',
      hint: 'For example: 19,90',
    },
    type: { label: 'Type', wrong: 'Choose a type.' },
    frequency: { label: 'Frequency', wrong: 'Choose how often it is charged.' },
    dayDue: { label: 'Time to pay', wrong: 'Choose 1 to 7 days.' },
    dayGenerateCharge: { label: 'Day of the charge', wrong: 'Choose a day from 1 to 28.' },
    sku: { label: 'Internal code (SKU)', wrong: 'The code may have 255 characters.' },
    imageUrl: {
      label: 'Address of the image',
      wrong: 'Enter an address that starts with https:// or http://.',
    },
    status: { label: 'Status', wrong: 'Choose a status.' },
  },
  done: {
    made: 'Product created.',
    saved: 'Changes saved.',
    deleted: 'Product deleted.',
  },
  yes: 'Yes',
  no: 'No',
}

export const PRODUCTS: Record<Language, Texts> = { pt, en }
