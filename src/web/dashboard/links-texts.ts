import type { LinkState } from '../../core/links/rules.ts'
import type { Language } from '../../lib/language.ts'
import type { FieldTexts } from './form-parts.ts'

export type LinkField =
  | 'title'
  | 'amount'
  | 'description'
  | 'min'
  | 'max'
  | 'minQuantity'
  | 'maxQuantity'
  | 'lastDay'
  | 'stock'
  | 'slug'
  | 'expiresIn'
  | 'successUrl'

const FIELDS_PT: Record<LinkField, FieldTexts> = {
  title: { label: 'O que você vende', wrong: 'Informe um título com até 120 caracteres.' },
  amount: {
    label: 'Valor em reais',
    wrong: 'Informe um valor a partir de R$ 5,00, como 49,90.',
    hint: 'Por exemplo: 49,90',
  },
  description: { label: 'Descrição', wrong: 'A descrição pode ter até 2.000 caracteres.' },
  min: { label: 'Valor mínimo', wrong: 'Informe um valor a partir de R$ 5,00.' },
  max: { label: 'Valor máximo', wrong: 'Informe um valor que não seja menor que o mínimo.' },
  minQuantity: { label: 'Quantidade mínima por compra', wrong: 'Informe um número inteiro.' },
  maxQuantity: {
    label: 'Quantidade máxima por compra',
    wrong: 'Informe um número que não seja menor que o mínimo e cujo total caiba em uma cobrança.',
  },
  lastDay: { label: 'Último dia de vendas', wrong: 'Informe um dia, como 31/12/2026.' },
  stock: {
    label: 'Quantas vendas no total',
    wrong: 'Informe um número inteiro.',
    hint: 'Uma cobrança em aberto reserva uma venda até ser paga, expirar ou ser cancelada.',
  },
  slug: {
    label: 'Final do endereço',
    wrong: 'Use letras minúsculas sem acento, números e hífens. Outro link pode já ter este final.',
    hint: 'Sem preencher, é feito do título. Endereços anteriores continuam funcionando.',
  },
  expiresIn: { label: 'Prazo para pagar o Pix', wrong: 'Escolha um prazo.' },
  successUrl: {
    label: 'Para onde o cliente vai depois de pagar',
    wrong: 'Informe um endereço que comece com https:// ou http://.',
  },
}

const pt = {
  title: 'Links',
  about: 'Um link para vender a muita gente: cada cliente preenche os dados e recebe seu Pix.',
  make: 'Novo link',
  makeButton: 'Criar link',
  edit: 'Editar',
  save: 'Salvar alterações',
  turnOn: 'Ativar',
  turnOff: 'Desativar',
  more: 'Mais opções',
  openAmount: 'O cliente escolhe o valor',
  products: 'Produtos',
  productsHint: 'No lugar do valor: o link custa a soma dos produtos.',
  productRow: (row: number) => `Produto ${row}`,
  noProduct: 'Nenhum',
  quantity: 'Quantidade',
  needShipping: 'Pedir endereço de entrega',
  lifetimes: {
    '900': '15 minutos',
    '1800': '30 minutos',
    '3600': '1 hora',
    '86400': '1 dia',
    '604800': '7 dias',
  },
  seconds: (count: number) => `${count} segundos`,
  fields: FIELDS_PT,
  none: 'Crie um link com título e valor, e envie por WhatsApp.',
  noneFound: 'Nenhum link com este filtro.',
  filters: 'Filtrar links',
  all: 'Todos',
  on: 'Ativos',
  off: 'Desativados',
  name: 'Link',
  address: 'Endereço',
  copy: 'Copiar link',
  state: 'Situação',
  states: {
    OPEN: 'Ativo',
    OFF: 'Desativado',
    ENDED: 'Encerrado',
    SOLD_OUT: 'Esgotado',
  } satisfies Record<LinkState, string>,
  sold: 'Vendas',
  soldOf: (sold: string, stock: string) => `${sold} de ${stock}`,
  received: 'Recebido',
  price: 'Valor',
  open: 'O cliente escolhe',
  ofProducts: 'Soma dos produtos',
  figures: 'Resultado',
  opened: 'Aberto',
  times: (count: string) => (count === '1' ? '1 vez' : `${count} vezes`),
  created: 'Cobranças criadas',
  paid: 'Pagas',
  conversion: 'Conversão',
  conversionHint: 'Cobranças pagas entre as criadas.',
  remaining: 'Vendas restantes',
  charges: 'Cobranças deste link',
  noCharges: 'As cobranças que os clientes criarem por este link aparecem aqui.',
  payer: 'Cliente',
  madeAt: 'Criada em',
  linkMadeAt: 'Criado em',
  details: 'Detalhes',
  view: 'Ver como o cliente',
  done: {
    made: 'Link criado. Copie ou envie ao cliente.',
    saved: 'Alterações salvas.',
    on: 'Link ativado.',
    off: 'Link desativado: ninguém mais compra por ele.',
  } as Record<string, string>,
}

const en: typeof pt = {
  title: 'Links',
  about: 'One link to sell to many: each customer fills in a form and gets a Pix of their own.',
  make: 'New link',
  makeButton: 'Create link',
  edit: 'Edit',
  save: 'Save changes',
  turnOn: 'Switch on',
  turnOff: 'Switch off',
  more: 'More options',
  openAmount: 'The customer chooses the amount',
  products: 'Products',
  productsHint: 'Instead of the amount: the link costs the sum of the products.',
  productRow: (row) => `Product ${row}`,
  noProduct: 'None',
  quantity: 'Quantity',
  needShipping: 'Ask for a shipping address',
  lifetimes: {
    '900': '15 minutes',
    '1800': '30 minutes',
    '3600': '1 hour',
    '86400': '1 day',
    '604800': '7 days',
  },
  seconds: (count) => `${count} seconds`,
  fields: {
    title: { label: 'What you sell', wrong: 'Enter a title of at most 120 characters.' },
    amount: {
      label: 'Amount in reais',
      wrong: 'Enter an amount of at least R$ 5,00, such as 49,90.',
      hint: 'For example: 49,90',
    },
    description: { label: 'Description', wrong: 'The description may have 2.000 characters.' },
    min: { label: 'Lowest amount', wrong: 'Enter an amount of at least R$ 5,00.' },
    max: { label: 'Highest amount', wrong: 'Enter an amount that is not below the lowest.' },
    minQuantity: { label: 'Lowest quantity per purchase', wrong: 'Enter a whole number.' },
    maxQuantity: {
      label: 'Highest quantity per purchase',
      wrong: 'Enter a number that is not below the lowest, and whose total fits into a charge.',
    },
    lastDay: { label: 'Last day of sales', wrong: 'Enter a day.' },
    stock: {
      label: 'How many sales in all',
      wrong: 'Enter a whole number.',
      hint: 'An open charge reserves a sale until it is paid, expires or is canceled.',
    },
    slug: {
      label: 'End of the address',
      wrong:
        'Use small letters without accents, digits and hyphens. Another link may have this end.',
      hint: 'If it is empty, it is made of the title. Former addresses go on working.',
    },
    expiresIn: { label: 'Time to pay the Pix', wrong: 'Choose a time.' },
    successUrl: {
      label: 'Where the customer goes after paying',
      wrong: 'Enter an address that starts with https:// or http://.',
    },
  },
  none: 'Create a link with a title and an amount, and send it by WhatsApp.',
  noneFound: 'No link matches this filter.',
  filters: 'Filter links',
  all: 'All',
  on: 'On',
  off: 'Off',
  name: 'Link',
  address: 'Address',
  copy: 'Copy link',
  state: 'Status',
  states: { OPEN: 'On', OFF: 'Off', ENDED: 'Ended', SOLD_OUT: 'Sold out' },
  sold: 'Sales',
  soldOf: (sold, stock) => `${sold} of ${stock}`,
  received: 'Received',
  price: 'Amount',
  open: 'The customer chooses',
  ofProducts: 'Sum of the products',
  figures: 'Results',
  opened: 'Opened',
  times: (count) => (count === '1' ? 'once' : `${count} times`),
  created: 'Charges created',
  paid: 'Paid',
  conversion: 'Conversion',
  conversionHint: 'Paid charges among those created.',
  remaining: 'Sales left',
  charges: 'Charges of this link',
  noCharges: 'Charges that customers create by this link appear here.',
  payer: 'Customer',
  madeAt: 'Created at',
  linkMadeAt: 'Created at',
  details: 'Details',
  view: 'View as the customer',
  done: {
    made: 'Link created. Copy it or send it to the customer.',
    saved: 'Changes saved.',
    on: 'The link is on.',
    off: 'The link is off: nobody can buy by it.',
  },
}

export const LINKS: Record<Language, typeof pt> = { pt, en }
