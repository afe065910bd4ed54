import type { Language } from '../../lib/language.ts'
import type { ProblemCode } from '../../lib/problems.ts'

type Sentence = Record<Language, string>

/** What people read for an error of the API. */
const SENTENCES: Partial<Record<ProblemCode, Sentence>> = {
  charge_not_dev_mode: {
    pt: 'Só cobranças criadas em modo de desenvolvimento podem ser pagas por simulação.',
    en: 'Only charges created in dev mode can be paid by simulation.',
  },
  otp_invalid: {
    pt: 'O código não confere. Confira o e-mail mais recente e digite de novo.',
    en: 'The code is wrong. Check the newest e-mail and type it again.',
  },
  otp_expired: {
    pt: 'O código venceu. Peça um novo código.',
    en: 'The code has expired. Ask for a new one.',
  },
  company_suspended: {
    pt: 'A empresa está suspensa: é possível consultar, mas não alterar. Fale com o suporte.',
    en: 'The company is suspended: its data can be read, and nothing can be changed. Ask support.',
  },
  insufficient_scope: {
    pt: 'Sua função não permite esta ação.',
    en: 'Your role does not allow this.',
  },
  charge_not_payable: {
    pt: 'A cobrança já foi paga, cancelada ou expirou.',
    en: 'The charge is already paid, canceled or expired.',
  },
  withdrawal_pending: {
    pt: 'Já existe um saque aguardando o código. Confirme ou cancele esse saque primeiro.',
    en: 'Another withdrawal waits for its code. Confirm or cancel it first.',
  },
  withdrawal_not_confirmable: {
    pt: 'Este saque não aguarda mais um código.',
    en: 'This withdrawal no longer waits for a code.',
  },
  withdrawal_not_approvable: {
    pt: 'Você não pode aprovar este saque: ele não aguarda aprovação ou foi solicitado por você.',
    en: 'You cannot approve this withdrawal: it waits for no approval, or you requested it.',
  },
  refund_not_possible: {
    pt: 'Não é possível devolver este valor. Confira quanto da cobrança ainda pode ser devolvido.',
    en: 'This amount cannot be refunded. Check how much of the charge is left.',
  },
  dispute_not_open: {
    pt: 'Esta disputa já terminou, já foi respondida ou passou do prazo.',
    en: 'This dispute has ended, was answered, or its deadline is over.',
  },
  payment_not_unmatched: {
    pt: 'Você já ficou com o valor deste pagamento ou já o devolveu.',
    en: 'This payment was already accepted or refunded.',
  },
  charge_not_settleable: {
    pt: 'Esta cobrança não pode ser quitada: só uma cobrança em aberto ou expirada pode.',
    en: 'This charge cannot be settled: only one that is open or expired can.',
  },
  charge_in_collection: {
    pt: 'O banco do pagador está cobrando esta cobrança da assinatura. Se a última tentativa falhar, ela expira e pode ser quitada.',
    en: 'The payer’s bank is collecting this charge of a subscription. If its last attempt fails, the charge expires and can be settled.',
  },
  payment_of_other_source: {
    pt: 'Um pagamento de teste só quita cobranças de teste, e um pagamento real, cobranças reais.',
    en: 'A test payment settles test charges only, and a real one real charges.',
  },
  recurrence_not_cancelable: {
    pt: 'A assinatura já terminou.',
    en: 'The subscription has already ended.',
  },
  clock_advancing: {
    pt: 'O relógio de testes ainda está avançando. Aguarde um instante e tente de novo.',
    en: 'The test clock is still moving. Wait a moment and try again.',
  },
  books_differ: {
    pt: 'A conferência encontrou uma diferença entre os registros e o banco. Enquanto ela existir, o banco não pode ser trocado nem desconectado. Fale com quem opera a instalação.',
    en: 'The audit found a difference between the books and the bank. While it lasts, the bank can be neither replaced nor disconnected. Ask whoever operates the installation.',
  },
  bank_changed: {
    pt: 'A conexão com o banco foi alterada enquanto este pedido esperava, e nada foi feito. Confira a conexão e tente de novo.',
    en: 'The bank connection was changed while this waited, and nothing was done. Check the connection and try again.',
  },
  insufficient_balance: {
    pt: 'O saldo disponível é menor que o valor.',
    en: 'The available balance is smaller than the amount.',
  },
  sales_limit_exceeded: {
    pt: 'O limite mensal de vendas por QR Code fixo seria ultrapassado.',
    en: 'The monthly limit of sales by static codes would be exceeded.',
  },
  sandbox_limit_exceeded: {
    pt: 'O banco simulado não paga mais: retire uma parte do saldo de testes antes.',
    en: 'The simulated bank pays no more: withdraw some of the test balance first.',
  },
  webhook_limit_exceeded: {
    pt: 'A empresa já tem o número máximo de webhooks. Exclua um que não usa mais.',
    en: 'The company has as many webhooks as it may have. Delete one that is no longer used.',
  },
  product_not_recurring: {
    pt: 'O produto não é do tipo assinatura.',
    en: 'The product is not a subscription.',
  },
  idempotency_key_reused: {
    pt: 'Este formulário já foi enviado com outros dados. Abra a página de novo.',
    en: 'This form was already sent with other data. Open the page again.',
  },
  idempotency_in_progress: {
    pt: 'O primeiro envio ainda está em andamento. Aguarde um instante.',
    en: 'The first attempt is still running. Wait a moment.',
  },
  provider_rejected: {
    pt: 'O banco recusou o pedido. Confira os dados e, se continuar, fale com o banco.',
    en: 'The bank refuses this. Check the data and, if it goes on, ask the bank.',
  },
  provider_unavailable: {
    pt: 'Não conseguimos falar com o banco agora. Nada foi feito. Tente de novo em alguns minutos.',
    en: 'The bank cannot be reached now. Nothing was done. Try again in a few minutes.',
  },
  service_unavailable: {
    pt: 'Serviço indisponível no momento. Tente de novo em alguns instantes.',
    en: 'Not available right now. Try again in a moment.',
  },
  rate_limited: {
    pt: 'Muitas tentativas. Aguarde um pouco e tente de novo.',
    en: 'Too many attempts. Wait a little and try again.',
  },
}

const OTHER: Sentence = {
  pt: 'Não foi possível concluir. Confira os dados e tente de novo.',
  en: 'This could not be done. Check the data and try again.',
}

export const problemText = (code: ProblemCode, language: Language): string =>
  (SENTENCES[code] ?? OTHER)[language]
