import type { OwnAction } from '../../core/activity/rules.ts'
import type { Language } from '../../lib/language.ts'

type Words = Record<Language, string>

/** What operations of the API change, in words, by their operationIds. */
const OPERATIONS: Record<string, Words> = {
  createPixCharge: { pt: 'Cobrança Pix criada', en: 'Pix charge created' },
  createPaymentLink: { pt: 'Link de pagamento criado', en: 'Payment link created' },
  createStaticCode: { pt: 'Código estático criado', en: 'Static code created' },
  simulatePayment: { pt: 'Pagamento simulado', en: 'Payment simulated' },
  cancelCharge: { pt: 'Cobrança cancelada', en: 'Charge canceled' },
  duplicateCharge: { pt: 'Cobrança duplicada', en: 'Charge duplicated' },
  refundCharge: { pt: 'Cobrança devolvida', en: 'Charge refunded' },
  acceptPayment: { pt: 'Pagamento não identificado aceito', en: 'Unmatched payment accepted' },
  refundPayment: { pt: 'Pagamento não identificado devolvido', en: 'Unmatched payment refunded' },
  createCustomer: { pt: 'Cliente criado', en: 'Customer created' },
  changeCustomer: { pt: 'Cliente alterado', en: 'Customer changed' },
  deleteCustomer: { pt: 'Cliente excluído', en: 'Customer deleted' },
  createProduct: { pt: 'Produto criado', en: 'Product created' },
  changeProduct: { pt: 'Produto alterado', en: 'Product changed' },
  deleteProduct: { pt: 'Produto excluído', en: 'Product deleted' },
  createRecurrence: { pt: 'Assinatura criada', en: 'Subscription created' },
  createRecurrenceTemplate: { pt: 'Link de assinatura criado', en: 'Subscription link created' },
  cancelRecurrence: { pt: 'Assinatura cancelada', en: 'Subscription canceled' },
  createWebhook: { pt: 'Webhook criado', en: 'Webhook created' },
  changeWebhook: { pt: 'Webhook alterado', en: 'Webhook changed' },
  deleteWebhook: { pt: 'Webhook excluído', en: 'Webhook deleted' },
  rotateWebhookSecret: { pt: 'Segredo do webhook trocado', en: 'Secret of a webhook replaced' },
  testWebhook: { pt: 'Webhook testado', en: 'Webhook tested' },
  replayDeliveries: { pt: 'Entregas reenviadas', en: 'Deliveries sent again' },
  redeliver: { pt: 'Entrega reenviada', en: 'Delivery sent again' },
  startWithdrawal: { pt: 'Saque solicitado', en: 'Withdrawal started' },
  confirmWithdrawal: {
    pt: 'Saque confirmado com o código',
    en: 'Withdrawal confirmed by its code',
  },
  cancelWithdrawal: { pt: 'Saque cancelado', en: 'Withdrawal canceled' },
  resendWithdrawalCode: { pt: 'Código do saque reenviado', en: 'Code of a withdrawal sent again' },
  changeCompany: { pt: 'Dados da empresa alterados', en: 'Company changed' },
  moveClock: { pt: 'Relógio de testes adiantado', en: 'Test clock moved' },
  receivePayment: {
    pt: 'Pix de teste sem cobrança recebido',
    en: 'Test Pix for no charge received',
  },
  returnPayment: {
    pt: 'Pix devolvido pelo banco simulado',
    en: 'Pix returned by the simulated bank',
  },
  makeWithdrawalCode: {
    pt: 'Código de teste do saque gerado',
    en: 'Test code of a withdrawal made',
  },
}

/** Everything else that people change. */
const OWN: Record<OwnAction, Words> = {
  'approval.change-limit': {
    pt: 'Limite para segunda aprovação alterado',
    en: 'Limit for a second approval changed',
  },
  'bank.connect': { pt: 'Banco conectado', en: 'Bank connected' },
  'bank.disconnect': { pt: 'Banco desconectado', en: 'Bank disconnected' },
  'bank.reconcile': { pt: 'Conciliação com o banco', en: 'Reconciled with the bank' },
  'charge.send-mail': { pt: 'E-mail da cobrança reenviado', en: 'Mail of a charge sent again' },
  'charge.settle': {
    pt: 'Cobrança quitada com pagamento não identificado',
    en: 'Charge settled with an unmatched payment',
  },
  'company.create': { pt: 'Empresa criada', en: 'Company created' },
  'company.pin-version': { pt: 'Versão da API escolhida', en: 'API version chosen' },
  'company.resume': { pt: 'Empresa reativada', en: 'Company resumed' },
  'company.move': {
    pt: 'Empresa movida para outro banco de dados',
    en: 'Company moved to another database',
  },
  'company.suspend': { pt: 'Empresa suspensa', en: 'Company suspended' },
  'company.update': { pt: 'Dados da empresa alterados', en: 'Company changed' },
  'invitation.cancel': { pt: 'Convite cancelado', en: 'Invitation canceled' },
  'invitation.resend': { pt: 'Convite reenviado', en: 'Invitation sent again' },
  'key.create': { pt: 'Chave de API criada', en: 'API key created' },
  'key.revoke': { pt: 'Chave de API revogada', en: 'API key revoked' },
  'key.rotate': { pt: 'Chave de API trocada', en: 'API key replaced' },
  'member.change-role': { pt: 'Perfil de membro alterado', en: 'Role of a member changed' },
  'member.invite': { pt: 'Pessoa convidada', en: 'Person invited' },
  'member.join': { pt: 'Pessoa entrou na empresa', en: 'Person joined the company' },
  'member.remove': { pt: 'Membro removido', en: 'Member removed' },
  'operator.invite': {
    pt: 'Pessoa convidada para operar o serviço',
    en: 'Person invited to operate the service',
  },
  'operator.join': { pt: 'Pessoa entrou na operação', en: 'Person became an operator' },
  'operator.remove': { pt: 'Pessoa removida da operação', en: 'Operator removed' },
  'passkey.add': { pt: 'Chave de acesso adicionada', en: 'Passkey added' },
  'passkey.remove': { pt: 'Chave de acesso removida', en: 'Passkey removed' },
  'password.change': { pt: 'Senha alterada', en: 'Password changed' },
  'password.reset': { pt: 'Senha redefinida por e-mail', en: 'Password reset by mail' },
  'recovery-codes.create': {
    pt: 'Códigos de recuperação criados',
    en: 'Recovery codes created',
  },
  'sandbox.reset': { pt: 'Ambiente de testes reiniciado', en: 'Sandbox reset' },
  'session.end': { pt: 'Sessão encerrada', en: 'Session ended' },
  'session.start': { pt: 'Entrada no painel', en: 'Signed in' },
  'sign-in-link.create': { pt: 'Link de entrada criado', en: 'Sign-in link created' },
  'sign-in.unknown': {
    pt: 'Senha errada para e-mails sem conta ou contas bloqueadas',
    en: 'Wrong password for unknown emails or locked accounts',
  },
  'sign-in.wrong-code': {
    pt: 'Código errado da verificação em duas etapas',
    en: 'Wrong code of two-step verification',
  },
  'sign-in.wrong-password': { pt: 'Senha errada ao entrar', en: 'Wrong password at sign-in' },
  'two-factor.disable': {
    pt: 'Verificação em duas etapas desativada',
    en: 'Two-factor authentication disabled',
  },
  'two-factor.enable': {
    pt: 'Verificação em duas etapas ativada',
    en: 'Two-factor authentication enabled',
  },
  'two-factor.reset': {
    pt: 'Verificação em duas etapas removida por quem cuida da equipe',
    en: 'Two-factor authentication reset for somebody',
  },
  'withdrawal.approve': { pt: 'Saque aprovado', en: 'Withdrawal approved' },
  'withdrawal.complete': { pt: 'Saque marcado como enviado', en: 'Withdrawal marked as sent' },
  'withdrawal.fail': { pt: 'Saque marcado como não enviado', en: 'Withdrawal marked as failed' },
  'withdrawal.reject': { pt: 'Saque recusado', en: 'Withdrawal rejected' },
}

const WORDS: Record<string, Words> = { ...OPERATIONS, ...OWN }

/** All actions, for a filter. */
export const ACTIONS = Object.keys(WORDS)

/** An action in words. If it is of a version that is gone, its name. */
export const actionText = (action: string, language: Language): string =>
  WORDS[action]?.[language] ?? action
