import type { OwnAction } from '../../core/activity/rules.ts'
import type { Operation } from '../../core/operate.ts'
import type { Language } from '../../lib/language.ts'

type Words = Record<Language, string>

/** Actions in words, by their names. */
export type ActionWords = Record<string, Words>

/** Everything else that people change. */
const OWN: Record<OwnAction, Words> = {
  'approval.change-limit': {
    pt: 'Limite para segunda aprovação alterado',
    en: 'Limit for a second approval changed',
  },
  'backup.create': { pt: 'Cópia de segurança feita', en: 'Backup made' },
  'backup.restore': {
    pt: 'Banco de dados restaurado de uma cópia',
    en: 'Database restored from a backup',
  },
  'bank.connect': { pt: 'Banco conectado', en: 'Bank connected' },
  'bank.disconnect': { pt: 'Banco desconectado', en: 'Bank disconnected' },
  'bank.reconcile': { pt: 'Conciliação com o banco', en: 'Reconciled with the bank' },
  'charge.send-mail': { pt: 'E-mail da cobrança reenviado', en: 'Mail of a charge sent again' },
  'charge.settle': {
    pt: 'Cobrança quitada com Pix sem cobrança',
    en: 'Charge settled with an unmatched payment',
  },
  'charge.settle-by-rule': {
    pt: 'Cobrança quitada pela regra de pagamentos exatos',
    en: 'Charge settled by the rule for exact payments',
  },
  'charge.sell-at-counter': { pt: 'Venda no balcão criada', en: 'Sale at the counter created' },
  'company.change-message': {
    pt: 'Mensagem ao cliente alterada',
    en: 'Message to customers changed',
  },
  'company.create': { pt: 'Empresa criada', en: 'Company created' },
  'company.pin-version': { pt: 'Versão da API escolhida', en: 'API version chosen' },
  'company.resume': { pt: 'Empresa reativada', en: 'Company resumed' },
  'company.move': {
    pt: 'Empresa movida para outro banco de dados',
    en: 'Company moved to another database',
  },
  'company.suspend': { pt: 'Empresa suspensa', en: 'Company suspended' },
  'company.update': {
    pt: 'Dados da empresa alterados fora da API',
    en: 'Company changed outside of the API',
  },
  'file.download': {
    pt: 'Arquivo com dados de clientes baixado',
    en: 'File with data of customers downloaded',
  },
  'invitation.cancel': { pt: 'Convite cancelado', en: 'Invitation canceled' },
  'invitation.resend': { pt: 'Convite reenviado', en: 'Invitation sent again' },
  'key.create': { pt: 'Chave de API criada', en: 'API key created' },
  'key.revoke': { pt: 'Chave de API revogada', en: 'API key revoked' },
  'key.rotate': { pt: 'Nova chave gerada no lugar de outra', en: 'API key replaced' },
  'member.change-role': { pt: 'Função de membro alterada', en: 'Role of a member changed' },
  'member.invite': { pt: 'Pessoa convidada', en: 'Person invited' },
  'member.join': { pt: 'Pessoa entrou na empresa', en: 'Person joined the company' },
  'member.remove': { pt: 'Membro removido', en: 'Member removed' },
  'note.add': { pt: 'Nota da equipe adicionada', en: 'Team note added' },
  'note.delete': { pt: 'Nota da equipe excluída', en: 'Team note deleted' },
  'payer.erase': {
    pt: 'Dados de um pagador apagados (LGPD)',
    en: 'Data of a payer erased (LGPD)',
  },
  'payer.export': {
    pt: 'Dados de um pagador exportados (LGPD)',
    en: 'Data of a payer exported (LGPD)',
  },
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
  'secret.rotate': { pt: 'Segredo do serviço substituído', en: 'Secret of the service replaced' },
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

/** The words of operations and of everything else that people change. */
export function wordsOf(operations: readonly Operation[]): ActionWords {
  const changing = operations.flatMap(({ operationId, changes }) =>
    changes ? [[operationId, changes] as const] : [],
  )
  return { ...Object.fromEntries(changing), ...OWN }
}

/** An action in words. If it is of a version that is gone, its name. */
export const actionText = (words: ActionWords, action: string, language: Language): string =>
  words[action]?.[language] ?? action
