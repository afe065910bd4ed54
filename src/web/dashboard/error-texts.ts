import type { Language } from '../../lib/language.ts'
import { CATALOGUE, type ProblemCode } from '../../lib/problems.ts'

/** What a developer does about an error. */
type Advice = Record<Language, string>

const ADVICE: Record<ProblemCode, Advice> = {
  invalid_json: {
    pt: 'Envie um único objeto JSON em UTF-8 e confira aspas e vírgulas.',
    en: 'Send one JSON object in UTF-8, and check quotes and commas.',
  },
  invalid_value: {
    pt: 'A resposta lista os campos e as regras. Corrija-os e envie de novo.',
    en: 'The answer lists the fields and their rules. Correct them and send it again.',
  },
  invalid_api_version: {
    pt: 'Use uma versão publicada ou deixe o cabeçalho de fora.',
    en: 'Use a published version, or leave the header out.',
  },
  unknown_placeholder: {
    pt: 'Use {nome}, {valor}, {vencimento}, {link} ou {empresa}.',
    en: 'Use {nome}, {valor}, {vencimento}, {link} or {empresa}.',
  },
  charge_not_dev_mode: {
    pt: 'Crie a cobrança com devMode=true ou pague-a no banco simulado.',
    en: 'Create the charge with devMode=true, or pay it in the simulated bank.',
  },
  otp_invalid: {
    pt: 'Peça o código mais recente a quem recebe os e-mails da empresa.',
    en: 'Ask whoever gets the mails of the company for the newest code.',
  },
  missing_api_key: {
    pt: 'Envie a chave da empresa em X-API-KEY.',
    en: 'Send the key of the company in X-API-KEY.',
  },
  invalid_api_key: {
    pt: 'Use uma chave ativa desta empresa.',
    en: 'Use an active key of this company.',
  },
  company_suspended: {
    pt: 'Fale com quem opera este serviço. As consultas continuam, e pagamentos que chegam são registrados.',
    en: 'Ask whoever operates this service. Reading goes on, and payments that arrive are recorded.',
  },
  sandbox_only: {
    pt: 'Use a chave de uma empresa de testes: a operação movimenta dinheiro fictício.',
    en: 'Use the key of a sandbox company: the operation moves play money.',
  },
  insufficient_scope: {
    pt: 'Use outra chave ou crie uma com a permissão que a resposta indica.',
    en: 'Use another key, or create one with the scope that the answer names.',
  },
  client_certificate_required: {
    pt: 'Este endereço é só para os avisos do banco.',
    en: 'This address is only for the callbacks of the bank.',
  },
  route_not_found: {
    pt: 'Confira o método e o caminho na documentação.',
    en: 'Check the method and the path in the documentation.',
  },
  charge_not_found: {
    pt: 'Confira o ID e se a chave é da empresa certa.',
    en: 'Check the ID, and whether the key is of the right company.',
  },
  plan_not_found: {
    pt: 'Confira o ID e se a chave é da empresa certa.',
    en: 'Check the ID, and whether the key is of the right company.',
  },
  link_not_found: {
    pt: 'Confira o ID e se a chave é da empresa certa.',
    en: 'Check the ID, and whether the key is of the right company.',
  },
  link_closed: {
    pt: 'Ligue o link, mude a data final ou aumente o estoque.',
    en: 'Switch the link on, move its end or raise its stock.',
  },
  link_changed: {
    pt: 'Abra o link de novo e confira o valor.',
    en: 'Open the link again and check the amount.',
  },
  plan_not_cancelable: {
    pt: 'Para devolver o que foi pago, faça a devolução de cada cobrança.',
    en: 'To give back what was paid, refund each charge.',
  },
  customer_not_found: {
    pt: 'Confira o ID: o cliente pode ter sido excluído.',
    en: 'Check the ID: the customer may have been deleted.',
  },
  product_not_found: {
    pt: 'Confira o ID: o produto pode ter sido excluído.',
    en: 'Check the ID: the product may have been deleted.',
  },
  webhook_not_found: {
    pt: 'Confira o ID: o webhook pode ter sido excluído.',
    en: 'Check the ID: the webhook may have been deleted.',
  },
  event_not_found: {
    pt: 'Confira o ID e se a chave é da empresa certa.',
    en: 'Check the ID, and whether the key is of the right company.',
  },
  recurrence_not_found: {
    pt: 'Confira o ID e se a chave é da empresa certa.',
    en: 'Check the ID, and whether the key is of the right company.',
  },
  payment_not_found: {
    pt: 'Confira o endToEndId na lista de Pix sem cobrança.',
    en: 'Check the endToEndId in the list of unmatched payments.',
  },
  dispute_not_found: {
    pt: 'Confira o ID e se a chave é da empresa certa.',
    en: 'Check the ID, and whether the key is of the right company.',
  },
  withdrawal_not_found: {
    pt: 'Confira o ID e se a chave é da empresa certa.',
    en: 'Check the ID, and whether the key is of the right company.',
  },
  recipient_not_found: {
    pt: 'Confira o ID e se a chave é da empresa certa.',
    en: 'Check the ID, and whether the key is of the right company.',
  },
  recipient_key_changed: {
    pt: 'Espere até o horário indicado para fazer o repasse.',
    en: 'Wait until the stated time to make the payout.',
  },
  clock_not_found: {
    pt: 'Use uma empresa de testes para adiantar o tempo.',
    en: 'Use a sandbox company to move the time.',
  },
  charge_not_payable: {
    pt: 'Consulte a cobrança e, se preciso, crie outra.',
    en: 'Read the charge and, if needed, create another one.',
  },
  charge_without_code: {
    pt: 'Crie a cobrança com POST /charge/pix, ou leve o pagador à url da cobrança.',
    en: 'Create the charge with POST /charge/pix, or send the payer to the url of the charge.',
  },
  withdrawal_pending: {
    pt: 'Confirme ou cancele o saque que a resposta indica antes de iniciar outro.',
    en: 'Confirm or cancel the withdrawal that the answer names before you start another.',
  },
  idempotency_in_progress: {
    pt: 'Aguarde um segundo e repita com a mesma chave.',
    en: 'Wait a second and repeat it with the same key.',
  },
  withdrawal_not_confirmable: {
    pt: 'Consulte o saque: ele pode ter sido confirmado, cancelado ou ter expirado.',
    en: 'Read the withdrawal: it may be confirmed, canceled or expired.',
  },
  withdrawal_not_approvable: {
    pt: 'Consulte o saque: outra pessoa precisa aprová-lo, ou ele já foi decidido.',
    en: 'Read the withdrawal: another person has to approve it, or it is decided already.',
  },
  refund_not_possible: {
    pt: 'Consulte quanto já foi devolvido e se o prazo de 90 dias passou.',
    en: 'Check how much was refunded already, and whether 90 days have passed.',
  },
  dispute_not_open: {
    pt: 'Veja a situação com GET /dispute/{id}.',
    en: 'See its status with GET /dispute/{id}.',
  },
  payment_not_unmatched: {
    pt: 'Não é preciso fazer nada.',
    en: 'There is nothing to do.',
  },
  charge_not_settleable: {
    pt: 'Escolha outra cobrança, ou fique com o valor sem informar chargeId.',
    en: 'Choose another charge, or keep the money without chargeId.',
  },
  charge_in_collection: {
    pt: 'Espere o resultado. Se a última tentativa falhar, a cobrança expira e pode ser quitada.',
    en: 'Wait for the outcome. If the last attempt fails, the charge expires and can be settled.',
  },
  payment_of_other_source: {
    pt: 'Escolha uma cobrança do mesmo tipo: de teste (devMode) ou real.',
    en: 'Choose a charge of the same kind: a test (devMode) or a real one.',
  },
  recurrence_not_cancelable: {
    pt: 'Não é preciso fazer nada.',
    en: 'There is nothing to do.',
  },
  clock_advancing: {
    pt: 'Aguarde até que o relógio mostre READY e tente de novo.',
    en: 'Wait until the clock is READY and try again.',
  },
  recurrence_not_decidable: {
    pt: 'Consulte o estado da assinatura.',
    en: 'Read the state of the subscription.',
  },
  books_differ: {
    pt: 'Fale com quem opera este serviço. Até lá, o banco não pode ser trocado nem desconectado.',
    en: 'Ask whoever operates this service. Until then the bank can be neither replaced nor disconnected.',
  },
  bank_changed: {
    pt: 'Confira a conexão com o banco e tente de novo.',
    en: 'Check the bank connection and try again.',
  },
  otp_expired: {
    pt: 'Peça um novo código ou inicie outro saque.',
    en: 'Ask for a new code, or start another withdrawal.',
  },
  payload_too_large: {
    pt: 'Divida o pedido em requisições menores.',
    en: 'Divide it into smaller requests.',
  },
  unsupported_media_type: {
    pt: 'Envie Content-Type: application/json.',
    en: 'Send Content-Type: application/json.',
  },
  idempotency_key_reused: {
    pt: 'Use uma chave nova para cada operação e repita a mesma só em novas tentativas.',
    en: 'Use a new key for each operation, and the same one only to retry it.',
  },
  insufficient_balance: {
    pt: 'Consulte o saldo e use um valor menor ou aguarde a liberação.',
    en: 'Read the balance, and use a smaller value or wait until more is available.',
  },
  sales_limit_exceeded: {
    pt: 'Crie uma cobrança em vez de um QR Code fixo ou aguarde o próximo mês.',
    en: 'Create a charge instead of a static code, or wait for the next month.',
  },
  sandbox_limit_exceeded: {
    pt: 'Faça um saque no ambiente de testes.',
    en: 'Withdraw some of it in the sandbox.',
  },
  webhook_limit_exceeded: {
    pt: 'Exclua um webhook que não é mais usado.',
    en: 'Delete a webhook that is no longer used.',
  },
  product_not_recurring: {
    pt: 'Use um produto de assinatura.',
    en: 'Use a product of type RECURRING.',
  },
  provider_rejected: {
    pt: 'A resposta traz o motivo do banco. Corrija o que ele indica.',
    en: 'The answer has the reason of the bank. Correct what it names.',
  },
  rate_limited: {
    pt: 'Aguarde os segundos de Retry-After e envie menos por segundo.',
    en: 'Wait for the seconds of Retry-After, and send fewer per second.',
  },
  headers_too_large: {
    pt: 'Envie menos cabeçalhos.',
    en: 'Send fewer headers.',
  },
  internal_error: {
    pt: 'Repita com a mesma Idempotency-Key. Se continuar, envie o ID da requisição ao suporte.',
    en: 'Repeat it with the same Idempotency-Key. If it goes on, send us the request ID.',
  },
  provider_unavailable: {
    pt: 'Repita em alguns minutos com a mesma Idempotency-Key e confira a conexão com o banco.',
    en: 'Repeat it in some minutes with the same Idempotency-Key, and check the bank connection.',
  },
  service_unavailable: {
    pt: 'Repita em alguns segundos com a mesma Idempotency-Key.',
    en: 'Repeat it in some seconds with the same Idempotency-Key.',
  },
}

/** What an error of the catalogue means and what to do about it, or null if it is not there. */
export function explainError(
  code: string,
  language: Language,
): { means: string; advice: string } | null {
  if (!Object.hasOwn(ADVICE, code)) return null
  const [, en, pt] = CATALOGUE[code as ProblemCode]
  return { means: { en, pt }[language], advice: ADVICE[code as ProblemCode][language] }
}
