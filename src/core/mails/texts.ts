import type { Language } from '../../lib/language.ts'
import type { ReturnReason } from '../../provider/port.ts'

const pt = {
  amount: 'Valor',
  destination: 'Chave Pix de destino',
  automatic: 'Mensagem automática. Não é necessário responder.',
  sandbox: 'Ambiente de testes: nenhum valor real é movimentado.',
  code: {
    subject: (amount: string) => `Código para confirmar o saque de ${amount}`,
    title: 'Confirme o saque',
    intro: (company: string) =>
      `Um saque foi solicitado na conta de ${company}. Para confirmar, use este código:`,
    validity: (minutes: number, until: string) =>
      `O código vale por ${minutes} ${minutes === 1 ? 'minuto' : 'minutos'}, até ${until} (horário de Brasília), e só pode ser usado uma vez.`,
    secrecy:
      'Nunca compartilhe este código, nem por telefone, nem por mensagem. Ninguém da nossa equipe vai pedir este código.',
    notYou:
      'Não foi você quem pediu? Não informe o código a ninguém: sem ele, o dinheiro não sai da conta. Cancele o saque e troque as chaves de API da empresa: alguém pode estar usando uma delas.',
  },
  completed: {
    subject: (amount: string) => `Saque de ${amount} concluído`,
    title: 'Saque concluído',
    intro: 'O valor foi enviado por Pix.',
    at: 'Concluído em',
    endToEndId: 'ID da transação',
    notYou:
      'Não reconhece este saque? Troque imediatamente as chaves de API da empresa e fale com o banco, informando o ID da transação.',
  },
  failed: {
    subject: (amount: string) => `Saque de ${amount} não concluído`,
    title: 'O saque não foi concluído',
    intro: 'O valor voltou para o saldo disponível. Você pode solicitar o saque novamente.',
    reason: 'Motivo',
  },
  returned: {
    subject: (amount: string) => `O banco devolveu ${amount} de um pagamento recebido`,
    title: 'O banco devolveu um pagamento',
    intro:
      'O banco devolveu ao pagador um valor que você havia recebido, sem que você tenha pedido a devolução por aqui. O valor já foi descontado do seu saldo.',
    reason: 'Motivo',
    reasons: {
      FRAUD: 'Suspeita de fraude, informada pelo pagador (MED)',
      OPERATIONAL_FAILURE: 'Falha operacional de um dos bancos (MED)',
      SUBSCRIPTION_CLAIM: 'Contestação de uma cobrança do Pix Automático (MED)',
      OTHER: 'Feita diretamente no banco, ou não informado',
    } satisfies Record<ReturnReason, string>,
    at: 'Devolvido em (horário de Brasília)',
    payment: 'ID do pagamento',
    return: 'ID da devolução',
    charge: 'Cobrança',
    below: (amount: string) =>
      `O saldo disponível ficou negativo: ${amount}. Os próximos recebimentos cobrem essa diferença antes de um novo saque.`,
    unknown:
      'Não concorda com esta devolução? Fale com o banco e informe o ID da devolução. Se o pedido ainda não foi entregue, confira antes de enviar.',
  },
  link: {
    subject: (company: string, amount: string) => `${company}: cobrança de ${amount}`,
    title: (amount: string) => `Cobrança de ${amount}`,
    greeting: (name: string | null) => (name === null ? 'Olá!' : `Olá, ${name}!`),
    intro: (company: string) => `${company} enviou um link de pagamento para você.`,
    andMore: (count: number) => (count === 1 ? 'e mais 1 item' : `e mais ${count} itens`),
    discount: 'Desconto',
    addition: 'Acréscimo',
    description: 'Descrição',
    until: 'Pague até',
    pay: 'Pagar com Pix',
    unknown:
      'Não reconhece esta cobrança? Ignore esta mensagem: nada será cobrado se você não pagar.',
  },
  webhook: { name: 'Webhook', address: 'Endereço' },
  failing: {
    subject: (name: string) => `O webhook ${name} não está recebendo eventos`,
    title: 'Seu webhook não está recebendo eventos',
    intro: (since: string) =>
      `Desde ${since} (horário de Brasília) nenhum evento é entregue a este webhook: o servidor não responde ou responde com erro.`,
    end: (at: string) =>
      `Se continuar assim, ele será desativado a partir de ${at} (horário de Brasília). Uma única entrega bem-sucedida evita isso.`,
    repair:
      'Veja o que o servidor respondeu em GET /webhook/{id}/deliveries. Depois de corrigir o problema, reenvie o que falhou com POST /webhook/{id}/replay.',
  },
  deactivated: {
    subject: (name: string) => `O webhook ${name} foi desativado`,
    title: 'Seu webhook foi desativado',
    gone: 'O servidor respondeu que este endereço não existe mais (410). Não enviaremos mais eventos a ele.',
    failing:
      'Nenhum evento foi entregue a este webhook nos últimos cinco dias. Não enviaremos mais eventos a ele.',
    kept: 'Nada se perdeu: os eventos continuam disponíveis em GET /event, e as entregas que falharam podem ser reenviadas.',
    activate:
      'Depois de corrigir o problema, reative o webhook com PUT /webhook/{id} e o status ACTIVE, e reenvie o que falhou com POST /webhook/{id}/replay.',
  },
  certificate: {
    subject: (bank: string, day: string) => `O certificado da conexão com ${bank} vence em ${day}`,
    title: 'Renove o certificado do banco',
    intro: (company: string) =>
      `A conexão de ${company} com o banco usa um certificado que está prestes a vencer.`,
    bank: 'Banco',
    end: 'Vence em (horário de Brasília)',
    after:
      'Depois disso, o banco recusa a conexão: nenhuma cobrança Pix pode ser criada e nenhum pagamento é confirmado até a instalação de um certificado novo.',
    renew:
      'Emita um certificado novo no portal do banco e envie-o a quem opera este serviço, para instalar com vintem bank connect. As cobranças em aberto continuam válidas.',
  },
}

/** The texts of letters in each language. */
type Texts = typeof pt

const en: Texts = {
  amount: 'Amount',
  destination: 'Destination Pix key',
  automatic: 'This is an automatic message. There is no need to reply.',
  sandbox: 'Test environment: no real money is moved.',
  code: {
    subject: (amount) => `Code to confirm the withdrawal of ${amount}`,
    title: 'Confirm the withdrawal',
    intro: (company) =>
      `A withdrawal was requested from the account of ${company}. To confirm it, use this code:`,
    validity: (minutes, until) =>
      `The code is valid for ${minutes} ${minutes === 1 ? 'minute' : 'minutes'}, until ${until} (Brasília time), and can be used only once.`,
    secrecy:
      'Never share this code, by phone or by message. No one on our team will ask you for it.',
    notYou:
      'You did not ask for it? Do not give the code to anyone: without it, no money leaves the account. Cancel the withdrawal and replace the company’s API keys: someone may be using one of them.',
  },
  completed: {
    subject: (amount) => `Withdrawal of ${amount} completed`,
    title: 'Withdrawal completed',
    intro: 'The money was sent by Pix.',
    at: 'Completed at',
    endToEndId: 'Transaction ID',
    notYou:
      'You do not recognize this withdrawal? Replace the company’s API keys now and contact the bank with the transaction ID above.',
  },
  failed: {
    subject: (amount) => `Withdrawal of ${amount} not completed`,
    title: 'The withdrawal was not completed',
    intro: 'The amount is back in the available balance. You can request the withdrawal again.',
    reason: 'Reason',
  },
  returned: {
    subject: (amount) => `The bank returned ${amount} of a payment`,
    title: 'The bank returned a payment',
    intro:
      'The bank returned money to a payer that you had received, without a refund that you asked for here. The amount has been taken off your balance.',
    reason: 'Reason',
    reasons: {
      FRAUD: 'The payer reported fraud (MED)',
      OPERATIONAL_FAILURE: 'A failure at one of the banks (MED)',
      SUBSCRIPTION_CLAIM: 'The payer objected to a Pix Automático payment (MED)',
      OTHER: 'Made at the bank itself, or without a stated reason',
    },
    at: 'Returned at (Brasília time)',
    payment: 'Payment ID',
    return: 'Return ID',
    charge: 'Charge',
    below: (amount) =>
      `The available balance is now negative: ${amount}. The next money you receive makes up for it before another withdrawal.`,
    unknown:
      'You do not agree with this return? Contact the bank with the return ID above. If the order has not been delivered yet, check before you ship it.',
  },
  link: {
    subject: (company, amount) => `${company}: payment request of ${amount}`,
    title: (amount) => `Payment request of ${amount}`,
    greeting: (name) => (name === null ? 'Hello!' : `Hello, ${name}!`),
    intro: (company) => `${company} sent you a payment link.`,
    andMore: (count) => (count === 1 ? 'and 1 more item' : `and ${count} more items`),
    discount: 'Discount',
    addition: 'Surcharge',
    description: 'Description',
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
      `Since ${since} (Brasília time) no event has been delivered to this webhook: its server does not answer, or answers with an error.`,
    end: (at) =>
      `If this goes on, it will be deactivated from ${at} (Brasília time) on. A single successful delivery prevents that.`,
    repair:
      'GET /webhook/{id}/deliveries shows what the server answered. Once the problem is fixed, resend what failed with POST /webhook/{id}/replay.',
  },
  deactivated: {
    subject: (name) => `The webhook ${name} was deactivated`,
    title: 'Your webhook was deactivated',
    gone: 'The server answered that this address no longer exists (410). No more events will be sent to it.',
    failing:
      'No event was delivered to this webhook in the last five days. No more events will be sent to it.',
    kept: 'Nothing is lost: the events are still in GET /event, and the deliveries that failed can be sent again.',
    activate:
      'Once the problem is fixed, reactivate the webhook with PUT /webhook/{id} and the status ACTIVE, and resend what failed with POST /webhook/{id}/replay.',
  },
  certificate: {
    subject: (bank, day) => `The certificate of the connection to ${bank} expires on ${day}`,
    title: 'Renew the bank’s certificate',
    intro: (company) =>
      `The connection of ${company} to its bank uses a certificate that is about to expire.`,
    bank: 'Bank',
    end: 'Expires at (Brasília time)',
    after:
      'After that the bank refuses the connection: no Pix charge can be created and no payment is confirmed until a new certificate is installed.',
    renew:
      'Issue a new certificate in the bank’s portal and give it to whoever operates this service, to install it with vintem bank connect. Open charges stay valid.',
  },
}

export const TEXTS: Record<Language, Texts> = { pt, en }
