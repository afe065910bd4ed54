import type { Uuid } from '../../lib/ids.ts'
import { type Cents, formatDecimal } from '../../lib/money.ts'
import { amountOn, type DueAmount, type DueTerms } from '../../pix/due-amount.ts'
import { localDateOf } from '../../pix/local-time.ts'
import { AGREEMENT_STATUS } from '../callback.ts'
import type { Frequency, Payee } from '../port.ts'
import { chargeTxid } from '../txid.ts'
import type { AgreementRecord } from './agreement-records.ts'
import { statusOf } from './agreements.ts'
import { ISPB } from './scheme.ts'

/** The fields of a charge that its payload shows. */
type Payable = {
  id: Uuid
  amount: Cents
  status: 'OPEN' | 'COMPLETED' | 'EXPIRED' | 'CANCELED'
  createdAt: Date
  expiresAt: Date
  description: string | null
  due: { terms: DueTerms; paid: DueAmount | null } | null
}

const CHARGE_STATUS: Record<Payable['status'], string> = {
  OPEN: 'ATIVA',
  // The scheme has no status for expiry; the times show it.
  EXPIRED: 'ATIVA',
  COMPLETED: 'CONCLUIDA',
  CANCELED: 'REMOVIDA_PELO_USUARIO_RECEBEDOR',
}

/** What is to be paid on the day, and how it comes about. What is nothing is left out. */
function dueValue({ original, fine, interest, discount, rebate, total }: DueAmount) {
  const parts = { multa: fine, juros: interest, desconto: discount, abatimento: rebate }
  const added = Object.entries(parts).filter(([, value]) => value > 0)
  return {
    original: formatDecimal(original),
    ...Object.fromEntries(added.map(([name, value]) => [name, formatDecimal(value)])),
    final: formatDecimal(total),
  }
}

/**
 * The payload at the location of a charge's code, in the form of the scheme. Anybody who has the
 * code can read it, so it does not name the payer.
 */
export const chargePayload = (
  { pixKey: chave }: Pick<Payee, 'pixKey'>,
  { id, amount, status, createdAt, expiresAt, description, due }: Payable,
  now: Date,
) => ({
  revisao: 0,
  calendario: {
    criacao: createdAt.toISOString(),
    apresentacao: now.toISOString(),
    ...(due
      ? {
          dataDeVencimento: due.terms.dueDate,
          validadeAposVencimento: due.terms.daysAfterDue,
        }
      : { expiracao: Math.round((expiresAt.getTime() - createdAt.getTime()) / 1000) }),
  },
  txid: chargeTxid(id),
  status: CHARGE_STATUS[status],
  valor: due
    ? dueValue(due.paid ?? amountOn(amount, due.terms, localDateOf(now)))
    : { original: formatDecimal(amount) },
  chave,
  ...(description === null ? {} : { solicitacaoPagador: description }),
})

const PERIODS: Record<Frequency, string> = {
  WEEKLY: 'SEMANAL',
  MONTHLY: 'MENSAL',
  SEMIANNUAL: 'SEMESTRAL',
  ANNUAL: 'ANUAL',
}

/** The payload at the location of an agreement's code. */
export function agreementPayload(
  { name: nome }: Pick<Payee, 'name'>,
  agreement: AgreementRecord,
  now: Date,
) {
  const { id, externalId: idRec, value, frequency, retries, createdAt, decidedAt } = agreement
  const status = statusOf(agreement, now)
  const changes = [{ status: 'CRIADA', data: createdAt.toISOString() }]
  const since = status === 'EXPIRED' ? agreement.expiresAt : decidedAt
  if (since) changes.push({ status: AGREEMENT_STATUS[status], data: since.toISOString() })
  return {
    idRec,
    vinculo: { contrato: chargeTxid(id) },
    valor: { valorRec: formatDecimal(value) },
    calendario: { dataInicial: localDateOf(createdAt), periodicidade: PERIODS[frequency] },
    recebedor: { nome, ispbParticipante: ISPB },
    politicaRetentativa: retries ? 'PERMITE_3R_7D' : 'NAO_PERMITE',
    atualizacao: changes,
  }
}
