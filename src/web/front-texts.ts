import type { Language } from '../lib/language.ts'

const pt = {
  title: 'O Vintém está no ar',
  where: (address: string) => `Você está em ${address}`,
  intro: {
    local:
      'Tudo aqui roda na sua máquina, com dinheiro fictício. Crie uma cobrança, abra a página dela em uma aba, pague no banco simulado em outra e veja a primeira ficar verde.',
    served:
      'Este servidor recebe pagamentos via Pix. Para usar a API, peça uma chave a quem o opera.',
  },
  running: 'O que está rodando',
  names: {
    address: 'Endereço',
    version: 'Versão',
    interface: 'Versão da API',
    database: 'Banco de dados',
    mode: 'Modo',
    worker: 'Worker',
  },
  database: { embedded: 'embutido', own: 'próprio', notAnswering: 'não responde' },
  mode: { local: 'Local, só com dinheiro fictício', served: 'Servidor' },
  worker: (count: number) =>
    count === 0
      ? 'Parado: inicie um com --role worker'
      : `Rodando${count > 1 ? ` (${count})` : ''}`,
  links: 'Acesso rápido',
  link: {
    guides: {
      name: 'Guias',
      text: 'A primeira cobrança em um minuto, webhooks, assinaturas, com exemplos em quatro linguagens.',
    },
    docs: { name: 'Referência da API', text: 'Todas as operações da API, com exemplos.' },
    bank: {
      name: 'Banco simulado',
      text: 'O lado de quem paga: pague, pague com atraso, autorize uma assinatura, avance o relógio.',
    },
    mailbox: { name: 'E-mails enviados', text: 'Links de pagamento e códigos de saque.' },
  },
  dashboard: {
    title: 'Painel',
    local: 'Cobranças, saldo, clientes e webhooks da empresa de testes, sem linha de comando.',
    served: 'Cobranças, saldo, clientes e webhooks da sua empresa.',
    open: 'Abrir o painel',
  },
  key: {
    title: 'Chave da empresa de testes',
    text: 'Envie-a no cabeçalho X-API-KEY. Ela só movimenta dinheiro fictício.',
    name: 'a chave',
  },
  ownKey: 'Antes, salve a sua chave: export VINTEM_KEY=…',
  calls: {
    title: 'Três chamadas para começar',
    text: 'Cole uma de cada vez no mesmo terminal.',
    result: 'a chamada',
  },
  call: {
    create: {
      name: 'Criar uma cobrança de R$ 19,90',
      text: 'Mostra o id, o código Pix e a URL da página de pagamento. Abra a URL antes de pagar.',
    },
    pay: {
      name: 'Pagar no banco simulado',
      text: 'Como faria quem lê o QR Code. A página aberta fica verde.',
    },
    read: { name: 'Consultar a cobrança', text: 'Agora está COMPLETED e PAID.' },
  },
}

type Texts = typeof pt

const en: Texts = {
  title: 'Vintém is running',
  where: (address) => `You are at ${address}`,
  intro: {
    local:
      'Everything here runs on your machine, with play money. Create a charge, open its page in one tab, pay at the simulated bank in another, and see the first become green.',
    served:
      'This server takes payments via Pix. To use its API, ask whoever operates it for a key.',
  },
  running: 'What is running',
  names: {
    address: 'Address',
    version: 'Version',
    interface: 'API version',
    database: 'Database',
    mode: 'Mode',
    worker: 'Worker',
  },
  database: { embedded: 'embedded', own: 'your own', notAnswering: 'does not answer' },
  mode: { local: 'Local, play money only', served: 'Server' },
  worker: (count) =>
    count === 0
      ? 'Stopped: start one with --role worker'
      : `Running${count > 1 ? ` (${count})` : ''}`,
  links: 'Quick links',
  link: {
    guides: {
      name: 'Guides',
      text: 'The first charge in a minute, webhooks, subscriptions, with samples in four languages.',
    },
    docs: { name: 'API reference', text: 'Every operation of the API, with examples.' },
    bank: {
      name: 'Simulated bank',
      text: 'The payer’s side: pay, pay late, approve a subscription, move the clock forward.',
    },
    mailbox: { name: 'Sent emails', text: 'Payment links and withdrawal codes.' },
  },
  dashboard: {
    title: 'Dashboard',
    local: 'Charges, balance, customers and webhooks of the sandbox, without a command line.',
    served: 'Charges, balance, customers and webhooks of your company.',
    open: 'Open the dashboard',
  },
  key: {
    title: 'Key of the sandbox company',
    text: 'Send it as X-API-KEY. It only moves play money.',
    name: 'the key',
  },
  ownKey: 'First, save your key: export VINTEM_KEY=…',
  calls: {
    title: 'Three calls to start with',
    text: 'Paste them one at a time into the same terminal.',
    result: 'the call',
  },
  call: {
    create: {
      name: 'Create a charge of R$ 19,90',
      text: 'Shows its id, its Pix code and the URL of its payment page. Open the URL before you pay.',
    },
    pay: {
      name: 'Pay it at the simulated bank',
      text: 'As whoever scans the QR code would. The page you opened becomes green.',
    },
    read: { name: 'Read the charge', text: 'It is COMPLETED and PAID now.' },
  },
}

export const FRONT: Record<Language, Texts> = { pt, en }
