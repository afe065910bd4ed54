import type { Language } from '../../lib/language.ts'
import type { FieldTexts } from './form-parts.ts'

export type NewKind = 'charge' | 'link' | 'plan' | 'batch' | 'code' | 'subscription'
/** The fields of a due date. */
export const DUE_FIELDS = [
  'dueDate',
  'daysAfterDue',
  'fine',
  'interest',
  'discount',
  'discountUntil',
] as const
type DueField = (typeof DUE_FIELDS)[number]

export type NewField =
  | 'amount'
  | 'total'
  | 'description'
  | 'externalId'
  | 'expiresIn'
  | DueField
  | 'planTotal'
  | 'count'
  | 'firstDueDate'
  | 'earlyDiscount'
  | 'successUrl'
  | 'failedUrl'
  | 'product'

const LIFETIMES_PT: Record<number, string> = {
  1800: '30 minutos',
  3600: '1 hora',
  86400: '1 dia',
  259200: '3 dias',
  604800: '7 dias',
  2592000: '30 dias',
}

const LIFETIMES_EN = {
  1800: '30 minutes',
  3600: '1 hour',
  86400: '1 day',
  259200: '3 days',
  604800: '7 days',
  2592000: '30 days',
}

const FIELDS_PT: Record<NewField, FieldTexts> = {
  amount: {
    label: 'Valor em reais',
    wrong: 'Informe um valor como 19,90. Uma cobrança é de R$ 5,00 ou mais.',
    hint: 'Por exemplo: 19,90',
  },
  total: {
    label: 'Total em reais',
    wrong: 'Informe um total de R$ 5,00 ou mais, como 19,90, ou escolha produtos.',
    hint: 'Em branco: a soma dos produtos.',
  },
  description: {
    label: 'Descrição',
    wrong: 'A descrição pode ter até 140 caracteres.',
    hint: 'O cliente lê na página de pagamento e no aplicativo do banco.',
  },
  externalId: {
    label: 'Sua referência',
    wrong: 'A referência pode ter até 255 caracteres.',
    hint: 'Por exemplo, o número do pedido.',
  },
  expiresIn: { label: 'Validade', wrong: 'Escolha uma validade.' },
  dueDate: {
    label: 'Vencimento',
    wrong: 'Escolha hoje ou um dia depois de hoje.',
    hint: 'Em branco: sem vencimento, vale a validade acima.',
  },
  daysAfterDue: {
    label: 'Dias após o vencimento',
    wrong: 'Informe um número de 0 a 365.',
    hint: 'Por quantos dias ainda pode ser paga. Em branco: 30.',
  },
  fine: {
    label: 'Multa em %',
    wrong: 'Informe uma porcentagem como 2,00.',
    hint: 'Uma vez, se o pagamento atrasar. Por exemplo: 2,00',
  },
  interest: {
    label: 'Juros em % ao mês',
    wrong: 'Informe uma porcentagem como 1,00.',
    hint: 'Proporcional aos dias de atraso. Por exemplo: 1,00',
  },
  discount: {
    label: 'Desconto em %',
    wrong: 'Informe uma porcentagem menor que 100, como 5,00, e o dia até o qual ela vale.',
  },
  discountUntil: {
    label: 'Desconto até',
    wrong: 'Escolha um dia de hoje até o vencimento.',
  },
  planTotal: {
    label: 'Total em reais',
    wrong: 'Informe um total em que cada parcela tenha R$ 5,00 ou mais.',
    hint: 'As parcelas são iguais, e a primeira tem os centavos que sobram.',
  },
  count: { label: 'Parcelas', wrong: 'Escolha de 2 a 60 parcelas.' },
  firstDueDate: {
    label: 'Primeiro vencimento',
    wrong: 'Escolha hoje ou um dia depois de hoje.',
    hint: 'As outras vencem no mesmo dia dos meses seguintes.',
  },
  earlyDiscount: {
    label: 'Desconto por antecipação em % ao dia',
    wrong: 'Informe uma porcentagem pequena, como 0,03: hoje deve sobrar algo a pagar.',
    hint: 'Para cada dia antes do vencimento. Por exemplo: 0,03',
  },
  successUrl: {
    label: 'Página depois de pagar',
    wrong: 'Informe um endereço que comece com https:// ou http://.',
    hint: 'Para onde o cliente volta. Por exemplo: https://minhaloja.com.br/obrigado',
  },
  failedUrl: {
    label: 'Página se não pagar',
    wrong: 'Informe um endereço que comece com https:// ou http://.',
  },
  product: { label: 'Produto', wrong: 'Escolha um produto ativo, com preço de R$ 1,00 ou mais.' },
}

const pt = {
  title: 'Cobrar',
  choose: 'Como você quer receber?',
  counter: {
    title: 'Venda no balcão',
    text: 'Digite o valor e mostre o QR Code na tela do celular.',
  },
  kinds: {
    charge: {
      title: 'Cobrança Pix',
      text: 'Um QR Code e um código copia e cola para uma pessoa pagar agora.',
      make: 'Cobrar',
    },
    link: {
      title: 'Link de pagamento',
      text: 'Uma página com produtos ou um total, para enviar por mensagem ou e-mail.',
      make: 'Criar link',
    },
    plan: {
      title: 'Carnê',
      text: 'Uma venda em parcelas com vencimento, em uma página só para o cliente.',
      make: 'Criar carnê',
    },
    batch: {
      title: 'Várias cobranças',
      text: 'Até 1.000 cobranças de uma vez, de um arquivo CSV.',
      make: 'Criar cobranças',
    },
    code: {
      title: 'QR Code fixo',
      text: 'Um valor que se repete, como o cafezinho. Imprima a placa e deixe no balcão.',
      make: 'Criar QR Code',
    },
    subscription: {
      title: 'Assinatura',
      text: 'O cliente autoriza uma vez, e o banco paga cada cobrança com Pix Automático.',
      make: 'Criar assinatura',
    },
  } satisfies Record<NewKind, { title: string; text: string; make: string }>,
  payer: 'Quem paga',
  find: 'Buscar cliente por nome, CPF, CNPJ, e-mail ou telefone com DDD',
  findButton: 'Buscar',
  nobodyFound: 'Nenhum cliente encontrado. Preencha os dados abaixo.',
  chooseWho: 'Escolha quem paga',
  somebodyNew: 'Outra pessoa',
  sale: 'O que será cobrado',
  more: 'Mais opções',
  due: 'Vencimento, multa, juros e desconto',
  devMode: 'Modo de desenvolvimento',
  devModeHint: 'Para testes: nenhum valor real é movimentado.',
  lifetimes: LIFETIMES_PT,
  products: 'Produtos',
  productsHint: 'Escolha produtos, ou deixe em branco e informe só o total.',
  productRow: (number: number) => `Produto ${number}`,
  quantity: 'Quantidade',
  wrongQuantity: 'Informe uma quantidade de 1 a 1.000.000.',
  noProduct: 'Nenhum',
  addRows: 'Adicionar produtos',
  newestProducts: (count: number) =>
    `Aparecem aqui os ${count} produtos mais recentes. Para outro, abra-o em Produtos e escolha “Criar link com este produto”.`,
  totalDiffers: (total: string, sum: string) =>
    `O total é ${total}, mas os produtos somam ${sum}. O cliente vai pagar ${total}. Se é isso mesmo, crie o link; se não, corrija o total ou deixe-o em branco para cobrar a soma.`,
  makeWithTotal: 'Criar link com este total',
  needShipping: 'Pedir o endereço de entrega',
  needShippingHint: 'Quem paga informa para onde enviar antes de ver o código.',
  notify: 'Enviar o link por e-mail ao cliente',
  notifyPlan: 'Enviar a página das parcelas por e-mail ao cliente',
  installments: (count: number) => `${count} parcelas`,
  notifyHint: 'O cliente precisa ter um e-mail.',
  preview: 'Ver prévia',
  previewTitle: 'O que o cliente vai ver',
  previewHint: 'Nada foi criado ainda.',
  previewFrame: 'Prévia da página de pagamento',
  sampleCode: 'PREVIA: o codigo Pix aparece aqui depois de criar a cobranca',
  fields: FIELDS_PT,
}

type Texts = typeof pt

const en: Texts = {
  title: 'New charge',
  choose: 'How do you want to be paid?',
  counter: {
    title: 'Sell at the counter',
    text: 'Type the amount and show the QR code on the screen of your phone.',
  },
  kinds: {
    charge: {
      title: 'Pix charge',
      text: 'A QR code and a copy-and-paste code for one person to pay now.',
      make: 'Create charge',
    },
    link: {
      title: 'Payment link',
      text: 'A page with products or a total, to send by message or e-mail.',
      make: 'Create link',
    },
    plan: {
      title: 'Installments',
      text: 'A sale in charges with due dates, on one page for the customer.',
      make: 'Create plan',
    },
    batch: {
      title: 'Many charges',
      text: 'Up to 1.000 charges at once, from a CSV file.',
      make: 'Create charges',
    },
    code: {
      title: 'Static QR code',
      text: 'An amount that repeats, such as a coffee. Print the sign and put it on the counter.',
      make: 'Create QR code',
    },
    subscription: {
      title: 'Subscription',
      text: 'The customer authorizes it once, and the bank pays each charge by Pix Automático.',
      make: 'Create subscription',
    },
  },
  payer: 'Who pays',
  find: 'Search customers by name, CPF, CNPJ, e-mail or phone with area code',
  findButton: 'Search',
  nobodyFound: 'No customer found. Fill in the details below.',
  chooseWho: 'Choose who pays',
  somebodyNew: 'Somebody else',
  sale: 'What is charged',
  more: 'More options',
  due: 'Due date, fine, interest and discount',
  devMode: 'Dev mode',
  devModeHint: 'For tests: no real money moves.',
  lifetimes: LIFETIMES_EN,
  products: 'Products',
  productsHint: 'Choose products, or leave them empty and enter only the total.',
  productRow: (number) => `Product ${number}`,
  quantity: 'Quantity',
  wrongQuantity: 'Enter a quantity from 1 to 1.000.000.',
  noProduct: 'None',
  addRows: 'Add products',
  newestProducts: (count) =>
    `These are the ${count} newest products. For another one, open it in Products and choose “Create a link with this product”.`,
  totalDiffers: (total, sum) =>
    `The total is ${total}, but the products add up to ${sum}. The customer will pay ${total}. If that is right, create the link; if not, correct the total, or leave it empty to charge the sum.`,
  makeWithTotal: 'Create link with this total',
  needShipping: 'Ask for the shipping address',
  needShippingHint: 'Whoever pays says where to send it before they see the code.',
  notify: 'Send the link to the customer by e-mail',
  notifyPlan: 'Send the page with the installments to the customer by e-mail',
  installments: (count) => `${count} installments`,
  notifyHint: 'The customer needs an e-mail address.',
  preview: 'Preview',
  previewTitle: 'What the customer will see',
  previewHint: 'Nothing is created yet.',
  previewFrame: 'Preview of the payment page',
  sampleCode: 'PREVIEW: the Pix code appears here when the charge is created',
  fields: {
    amount: {
      label: 'Amount in reais',
      wrong: 'Enter an amount such as 19,90. A charge is of R$ 5,00 or more.',
      hint: 'For example: 19,90',
    },
    total: {
      label: 'Total in reais',
      wrong: 'Enter a total of R$ 5,00 or more, such as 19,90, or choose products.',
      hint: 'Empty: the sum of the products.',
    },
    description: {
      label: 'Description',
      wrong: 'The description may have 140 characters.',
      hint: 'The customer reads it on the payment page and in the app of their bank.',
    },
    externalId: {
      label: 'Your reference',
      wrong: 'The reference may have 255 characters.',
      hint: 'For example, the number of the order.',
    },
    expiresIn: { label: 'Valid for', wrong: 'Choose how long it is valid.' },
    dueDate: {
      label: 'Due date',
      wrong: 'Choose today or a later day.',
      hint: 'Empty: no due date, it is valid as long as you chose above.',
    },
    daysAfterDue: {
      label: 'Days after the due date',
      wrong: 'Enter a number from 0 to 365.',
      hint: 'For how many days it can still be paid. Empty: 30.',
    },
    fine: {
      label: 'Fine in %',
      wrong: 'Enter a percentage such as 2,00.',
      hint: 'Once, if it is paid late. For example: 2,00',
    },
    interest: {
      label: 'Interest in % per month',
      wrong: 'Enter a percentage such as 1,00.',
      hint: 'In proportion to the days that it is late. For example: 1,00',
    },
    discount: {
      label: 'Discount in %',
      wrong: 'Enter a percentage below 100, such as 5,00, and the day until which it holds.',
    },
    discountUntil: {
      label: 'Discount until',
      wrong: 'Choose a day from today until the due date.',
    },
    planTotal: {
      label: 'Total in reais',
      wrong: 'Enter a total in which each installment has R$ 5,00 or more.',
      hint: 'Installments are equal, and the first has the cents that are left.',
    },
    count: { label: 'Installments', wrong: 'Choose 2 to 60 installments.' },
    firstDueDate: {
      label: 'First due date',
      wrong: 'Choose today or a later day.',
      hint: 'The others are due on the same day of the next months.',
    },
    earlyDiscount: {
      label: 'Discount for paying early, in % a day',
      wrong: 'Enter a small percentage such as 0,03: something must be left to pay today.',
      hint: 'For each day before the due date. For example: 0,03',
    },
    successUrl: {
      label: 'Page after paying',
      wrong: 'Enter an address that starts with https:// or http://.',
      hint: 'Where the customer returns to. For example: https://mystore.com/thanks',
    },
    failedUrl: {
      label: 'Page if it is not paid',
      wrong: 'Enter an address that starts with https:// or http://.',
    },
    product: {
      label: 'Product',
      wrong: 'Choose an active product with a price of R$ 1,00 or more.',
    },
  },
}

export const NEW: Record<Language, Texts> = { pt, en }
