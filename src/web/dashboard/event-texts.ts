import type { AnyEventType } from '../../core/events.ts'
import type { Language } from '../../lib/language.ts'

/** What each event says, in words. */
export const EVENT_WORDS: Record<Language, Record<AnyEventType, string>> = {
  pt: {
    'charge.pending': 'Cobrança criada',
    'charge.processing': 'Pagamento em processamento',
    'charge.paid': 'Cobrança paga',
    'charge.received': 'Valor da cobrança disponível',
    'charge.expired': 'Cobrança expirada',
    'charge.canceled': 'Cobrança cancelada',
    'charge.refunded': 'Cobrança devolvida',
    'payment.unmatched': 'Pagamento não identificado',
    'payment.returned': 'Pagamento devolvido pelo banco',
    'subscription.authorized': 'Assinatura autorizada',
    'subscription.rejected': 'Assinatura recusada',
    'subscription.canceled': 'Assinatura cancelada',
    'subscription.charge.paid': 'Cobrança de assinatura paga',
    'subscription.charge.failed': 'Cobrança de assinatura não paga',
    'withdrawal.completed': 'Saque concluído',
    'withdrawal.failed': 'Saque não realizado',
    'webhook.test': 'Teste de webhook',
  },
  en: {
    'charge.pending': 'Charge created',
    'charge.processing': 'Payment in progress',
    'charge.paid': 'Charge paid',
    'charge.received': 'Money of the charge available',
    'charge.expired': 'Charge expired',
    'charge.canceled': 'Charge canceled',
    'charge.refunded': 'Charge refunded',
    'payment.unmatched': 'Unmatched payment',
    'payment.returned': 'Payment returned by the bank',
    'subscription.authorized': 'Subscription authorized',
    'subscription.rejected': 'Subscription rejected',
    'subscription.canceled': 'Subscription canceled',
    'subscription.charge.paid': 'Subscription charge paid',
    'subscription.charge.failed': 'Subscription charge not paid',
    'withdrawal.completed': 'Withdrawal completed',
    'withdrawal.failed': 'Withdrawal failed',
    'webhook.test': 'Webhook test',
  },
}
