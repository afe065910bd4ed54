import type { Language } from '../companies/rules.ts'

/** What letters say, in each language. */
export type Texts = {
  amount: string
  destination: string
  automatic: string
  sandbox: string
  code: {
    subject(amount: string): string
    title: string
    intro(company: string): string
    validity(minutes: number, until: string): string
    secrecy: string
    notYou: string
  }
  completed: {
    subject(amount: string): string
    title: string
    intro: string
    at: string
    endToEndId: string
    notYou: string
  }
  failed: {
    subject(amount: string): string
    title: string
    intro: string
    reason: string
  }
  link: {
    subject(company: string, amount: string): string
    title(amount: string): string
    greeting(name: string): string
    intro(company: string): string
    andMore(count: number): string
    until: string
    pay: string
    unknown: string
  }
  webhook: {
    name: string
    address: string
  }
  failing: {
    subject(name: string): string
    title: string
    intro(since: string): string
    end(at: string): string
    mend: string
  }
  deactivated: {
    subject(name: string): string
    title: string
    gone: string
    failing: string
    kept: string
    activate: string
  }
  certificate: {
    subject(bank: string, day: string): string
    title: string
    intro(company: string): string
    bank: string
    end: string
    after: string
    renew: string
  }
}

const pt: Texts = {
  amount: 'Valor',
  destination: 'Chave Pix de destino',
  automatic: 'Mensagem automática: não é preciso responder.',
  sandbox: 'Ambiente de testes: nenhum dinheiro de verdade é movimentado.',
  code: {
    subject: (amount) => `Código para confirmar o saque de ${amount}`,
    title: 'Confirme o saque',
    intro: (company) =>
      `Foi pedido um saque da conta de ${company}. Para confirmá-lo, use este código:`,
    validity: (minutes, until) =>
      `O código vale por ${minutes} ${minutes === 1 ? 'minuto' : 'minutos'}, até ${until} (horário de Brasília), e só pode ser usado uma vez.`,
    secrecy:
      'Nunca compartilhe este código, nem por telefone, nem por mensagem. Ninguém da nossa equipe pedirá que você o informe.',
    notYou:
      'Não foi você quem pediu? Não passe o código a ninguém: sem ele, o dinheiro não sai da conta. Cancele o saque e troque as chaves de API da empresa, pois alguém pode estar usando uma delas.',
  },
  completed: {
    subject: (amount) => `Saque de ${amount} concluído`,
    title: 'Saque concluído',
    intro: 'O dinheiro foi enviado por Pix.',
    at: 'Concluído em',
    endToEndId: 'Identificador do Pix',
    notYou:
      'Não reconhece este saque? Troque já as chaves de API da empresa e fale com o banco, informando o identificador acima.',
  },
  failed: {
    subject: (amount) => `Saque de ${amount} não concluído`,
    title: 'O saque não foi concluído',
    intro: 'O valor voltou para o saldo disponível. Você pode pedir o saque de novo.',
    reason: 'Motivo',
  },
  link: {
    subject: (company, amount) => `${company}: cobrança de ${amount}`,
    title: (amount) => `Cobrança de ${amount}`,
    greeting: (name) => `Olá, ${name}!`,
    intro: (company) => `${company} enviou a você um link de pagamento.`,
    andMore: (count) => (count === 1 ? 'e mais 1 item' : `e mais ${count} itens`),
    until: 'Pague até',
    pay: 'Pagar com Pix',
    unknown:
      'Não reconhece esta cobrança? Ignore esta mensagem: nada é cobrado sem que você faça o pagamento.',
  },
  webhook: { name: 'Webhook', address: 'Endereço' },
  failing: {
    subject: (name) => `O webhook ${name} não está recebendo eventos`,
    title: 'Seu webhook não está recebendo eventos',
    intro: (since) =>
      `Desde ${since} (horário de Brasília) nenhum evento foi entregue a este webhook: o servidor não responde ou responde com erro.`,
    end: (at) =>
      `Se continuar assim, ele será desativado a partir de ${at} (horário de Brasília). Basta uma entrega bem-sucedida para que isso não aconteça.`,
    mend: 'Veja o que o servidor respondeu em GET /webhook/{id}/deliveries. Depois de corrigir o problema, reenvie o que falhou com POST /webhook/{id}/replay.',
  },
  deactivated: {
    subject: (name) => `O webhook ${name} foi desativado`,
    title: 'Seu webhook foi desativado',
    gone: 'O servidor respondeu que este endereço não existe mais (410). Nenhum evento será mais enviado a ele.',
    failing:
      'Nenhum evento foi entregue a este webhook nos últimos cinco dias. Nenhum evento será mais enviado a ele.',
    kept: 'Nada se perdeu: os eventos continuam disponíveis em GET /event, e as entregas que não foram feitas podem ser reenviadas.',
    activate:
      'Depois de corrigir o problema, reative o webhook com PUT /webhook/{id} e o status ACTIVE, e reenvie o que falhou com POST /webhook/{id}/replay.',
  },
  certificate: {
    subject: (bank, day) => `O certificado da conexão com ${bank} vence em ${day}`,
    title: 'Renove o certificado do banco',
    intro: (company) =>
      `A conexão de ${company} com o banco usa um certificado que está perto do fim.`,
    bank: 'Banco',
    end: 'Vence em (horário de Brasília)',
    after:
      'Depois disso o banco recusa a conexão: nenhuma cobrança Pix pode ser criada e nenhum pagamento é confirmado até que haja um certificado novo.',
    renew:
      'Emita um certificado novo no portal do banco e entregue-o a quem opera este serviço, que o instala com vintem bank connect. As cobranças em aberto continuam valendo.',
  },
}

const en: Texts = {
  amount: 'Amount',
  destination: 'Destination Pix key',
  automatic: 'This is an automatic message: there is no need to reply.',
  sandbox: 'Test environment: no real money is moved.',
  code: {
    subject: (amount) => `Code to confirm the withdrawal of ${amount}`,
    title: 'Confirm the withdrawal',
    intro: (company) =>
      `A withdrawal from the account of ${company} was requested. To confirm it, use this code:`,
    validity: (minutes, until) =>
      `The code is valid for ${minutes} ${minutes === 1 ? 'minute' : 'minutes'}, until ${until} (Brasília time), and can be used only once.`,
    secrecy:
      'Never share this code, neither by phone nor by message. Nobody of our team will ask you for it.',
    notYou:
      'You did not ask for it? Give the code to nobody: without it, no money leaves the account. Cancel the withdrawal and replace the company’s API keys, since somebody may be using one of them.',
  },
  completed: {
    subject: (amount) => `Withdrawal of ${amount} completed`,
    title: 'Withdrawal completed',
    intro: 'The money was sent by Pix.',
    at: 'Completed at',
    endToEndId: 'Pix identifier',
    notYou:
      'You do not recognize this withdrawal? Replace the company’s API keys now and contact the bank with the identifier above.',
  },
  failed: {
    subject: (amount) => `Withdrawal of ${amount} not completed`,
    title: 'The withdrawal was not completed',
    intro: 'The amount is back in the available balance. You can ask for the withdrawal again.',
    reason: 'Reason',
  },
  link: {
    subject: (company, amount) => `${company}: payment request of ${amount}`,
    title: (amount) => `Payment request of ${amount}`,
    greeting: (name) => `Hello, ${name}!`,
    intro: (company) => `${company} sent you a payment link.`,
    andMore: (count) => (count === 1 ? 'and 1 more item' : `and ${count} more items`),
    until: 'Pay by',
    pay: 'Pay with Pix',
    unknown:
      'You do not recognize this request? Ignore this message: nothing is charged unless you pay.',
  },
  webhook: { name: 'Webhook', address: 'Address' },
  failing: {
    subject: (name) => `The webhook ${name} is not receiving events`,
    title: 'Your webhook is not receiving events',
    intro: (since) =>
      `Since ${since} (Brasília time) no event was delivered to this webhook: its server does not answer, or answers with an error.`,
    end: (at) =>
      `If this goes on, it will be made inactive from ${at} (Brasília time) on. One delivery that succeeds is enough to prevent that.`,
    mend: 'GET /webhook/{id}/deliveries shows what the server answered. Once the problem is solved, send again what failed with POST /webhook/{id}/replay.',
  },
  deactivated: {
    subject: (name) => `The webhook ${name} was made inactive`,
    title: 'Your webhook was made inactive',
    gone: 'The server answered that this address no longer exists (410). No more events are sent to it.',
    failing:
      'No event was delivered to this webhook in the last five days. No more events are sent to it.',
    kept: 'Nothing is lost: the events are still in GET /event, and the deliveries that were not made can be sent again.',
    activate:
      'Once the problem is solved, make the webhook active with PUT /webhook/{id} and the status ACTIVE, and send again what failed with POST /webhook/{id}/replay.',
  },
  certificate: {
    subject: (bank, day) => `The certificate of the connection to ${bank} ends on ${day}`,
    title: 'Renew the bank’s certificate',
    intro: (company) =>
      `The connection of ${company} to its bank uses a certificate that is close to its end.`,
    bank: 'Bank',
    end: 'Ends at (Brasília time)',
    after:
      'From then on the bank refuses the connection: no Pix charge can be created and no payment is confirmed until there is a new certificate.',
    renew:
      'Issue a new certificate in the bank’s portal and hand it to who operates this service, who installs it with vintem bank connect. Open charges stay valid.',
  },
}

export const TEXTS: Record<Language, Texts> = { pt, en }
