import type { Language } from '../../lib/language.ts'

const pt = {
  title: 'Conexão com o banco',
  state: 'Situação',
  connected: 'Conectado',
  none: 'Sem banco',
  simulated: 'Banco simulado',
  noneText: 'Esta empresa ainda não tem um banco conectado e não pode receber por Pix.',
  simulatedText:
    'No ambiente de testes as cobranças são pagas no banco simulado. Nada precisa ser conectado.',
  bank: 'Banco',
  since: 'Conectado desde',
  certificate: 'Certificado',
  days: (count: number) => (count === 1 ? 'Termina em 1 dia' : `Termina em ${count} dias`),
  ended: 'Já terminou',
  endsOn: 'Válido até',
  soon: 'Peça um novo certificado ao banco agora: alguns bancos levam dias para emitir.',
  payouts: 'Quem envia os saques',
  payoutsBy: { manual: 'Quem opera a instalação, manualmente', bank: 'O banco, automaticamente' },
  payoutKey: 'Chave Pix que recebe os saques',
  reconciled: 'Pagamentos conferidos com o banco até',
  audited: 'Última auditoria',
  checkedUntil: 'Auditado com o banco até',
  never: 'Ainda não',
  audit: 'Auditoria',
  fine: 'Sem diferenças',
  differs: 'Há uma diferença',
  differsText:
    'Enquanto houver diferença, nenhum dinheiro sai da empresa. Fale com quem opera a instalação.',
}

type Texts = typeof pt

const en: Texts = {
  title: 'Connection to the bank',
  state: 'Status',
  connected: 'Connected',
  none: 'No bank',
  simulated: 'Simulated bank',
  noneText: 'This company has no bank yet and cannot be paid by Pix.',
  simulatedText:
    'In the sandbox, charges are paid in the simulated bank. Nothing has to be connected.',
  bank: 'Bank',
  since: 'Connected since',
  certificate: 'Certificate',
  days: (count) => (count === 1 ? 'Ends in 1 day' : `Ends in ${count} days`),
  ended: 'Has ended',
  endsOn: 'Valid until',
  soon: 'Ask the bank for a new certificate now: some banks take days to issue one.',
  payouts: 'Who sends withdrawals',
  payoutsBy: { manual: 'Whoever operates the installation, by hand', bank: 'The bank, by itself' },
  payoutKey: 'Pix key that withdrawals go to',
  reconciled: 'Payments compared with the bank until',
  audited: 'Last audit',
  checkedUntil: 'Audited with the bank until',
  never: 'Not yet',
  audit: 'Audit',
  fine: 'No differences',
  differs: 'There is a difference',
  differsText:
    'While there is a difference, no money leaves the company. Ask whoever operates the installation.',
}

export const BANK: Record<Language, Texts> = { pt, en }
