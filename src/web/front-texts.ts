import type { Language } from '../core/companies/rules.ts'

type Texts = {
  title: string
  where(address: string): string
  intro: { local: string; served: string }
  running: string
  names: Record<'address' | 'version' | 'interface' | 'database' | 'mode' | 'worker', string>
  database: { embedded: string; own: string; silent: string }
  mode: { local: string; served: string }
  worker(count: number): string
  links: string
  link: Record<'docs' | 'bank' | 'mailbox', { name: string; text: string }>
  key: { title: string; text: string; name: string }
  ownKey: string
  calls: { title: string; text: string; result: string }
  call: Record<'create' | 'pay' | 'read', { name: string; text: string }>
}

const pt: Texts = {
  title: 'O Vintém está no ar',
  where: (address) => `Você está em ${address}`,
  intro: {
    local:
      'Tudo aqui roda na sua máquina e com dinheiro de mentira. Crie uma cobrança, abra a página dela em uma aba, pague no banco simulado em outra e veja a primeira ficar verde.',
    served: 'Este servidor recebe pagamentos por Pix. A API pede uma chave, que o operador cria.',
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
  database: { embedded: 'embutido', own: 'próprio', silent: 'não responde' },
  mode: { local: 'Local, só com dinheiro de mentira', served: 'Servidor' },
  worker: (count) =>
    count === 0
      ? 'Parado: inicie um com --role worker'
      : `Rodando${count > 1 ? ` (${count})` : ''}`,
  links: 'Para onde ir',
  link: {
    docs: { name: 'Documentação', text: 'Cada operação da API, com exemplos.' },
    bank: {
      name: 'Banco simulado',
      text: 'O lado de quem paga: pagar, pagar atrasado, autorizar uma assinatura, avançar o relógio.',
    },
    mailbox: { name: 'E-mails enviados', text: 'Links de pagamento e códigos de saque.' },
  },
  key: {
    title: 'Chave da empresa de testes',
    text: 'Mande-a no cabeçalho X-API-KEY. Ela só movimenta dinheiro de mentira.',
    name: 'a chave',
  },
  ownKey: 'Antes, guarde a sua chave: export VINTEM_KEY=…',
  calls: {
    title: 'Três chamadas para começar',
    text: 'Cole uma depois da outra no mesmo terminal.',
    result: 'a chamada',
  },
  call: {
    create: {
      name: 'Criar uma cobrança de R$ 19,90',
      text: 'Mostra o id, o código Pix e a url da página de pagamento. Abra a url antes de pagar.',
    },
    pay: {
      name: 'Pagar no banco simulado',
      text: 'Como faria quem lê o QR code. A página aberta fica verde.',
    },
    read: { name: 'Consultar a cobrança', text: 'Agora está COMPLETED e PAID.' },
  },
}

const en: Texts = {
  title: 'Vintém is running',
  where: (address) => `You are at ${address}`,
  intro: {
    local:
      'Everything here runs on your machine, with play money. Create a charge, open its page in one tab, pay at the simulated bank in another, and see the first turn green.',
    served: 'This server takes payments by Pix. Its API needs a key, which the operator makes.',
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
  database: { embedded: 'embedded', own: 'your own', silent: 'does not answer' },
  mode: { local: 'Local, play money only', served: 'Server' },
  worker: (count) =>
    count === 0
      ? 'Stopped: start one with --role worker'
      : `Running${count > 1 ? ` (${count})` : ''}`,
  links: 'Where to go',
  link: {
    docs: { name: 'Documentation', text: 'Every operation of the API, with examples.' },
    bank: {
      name: 'Simulated bank',
      text: 'The payer’s side: pay, pay late, approve a subscription, move the clock forward.',
    },
    mailbox: { name: 'Mails sent', text: 'Payment links and withdrawal codes.' },
  },
  key: {
    title: 'Key of the sandbox company',
    text: 'Send it as X-API-KEY. It moves nothing but play money.',
    name: 'the key',
  },
  ownKey: 'First keep your key: export VINTEM_KEY=…',
  calls: {
    title: 'Three calls to start with',
    text: 'Paste one after the other into the same terminal.',
    result: 'the call',
  },
  call: {
    create: {
      name: 'Create a charge of R$ 19,90',
      text: 'Shows its id, its Pix code and the url of its page. Open the url before you pay.',
    },
    pay: {
      name: 'Pay it at the simulated bank',
      text: 'As whoever reads the QR code would. The page that you opened turns green.',
    },
    read: { name: 'Read the charge', text: 'It is COMPLETED and PAID now.' },
  },
}

export const FRONT: Record<Language, Texts> = { pt, en }
