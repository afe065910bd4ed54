import { foldedWords } from '../../core/customers/rules.ts'
import { type Needs, ROLES } from '../../core/people/rules.ts'
import type { Language } from '../../lib/language.ts'
import type { Visit } from './visit.ts'

type FoundPage = { path: string; needs: Needs; title: Record<Language, string>; words: string }

const PAYMENTS = 'payments:read'
const MAKES = 'payments:write'
const OWNERS = ['owner'] as const

/**
 * The pages that people look for, with words that they may write in either language. Those of the
 * account begin with "//", because they are of no company. A test compares what they need with the
 * table of routes.
 */
export const FOUND_PAGES: FoundPage[] = [
  of('', PAYMENTS, 'Hoje', 'Today', 'inicio resumo painel home dashboard recebido vendas sales'),
  of('/charges', PAYMENTS, 'Cobranças', 'Charges', 'pix vendas lista list payments'),
  of(
    '/charges?status=COMPLETED',
    PAYMENTS,
    'Devolver um pagamento',
    'Refund a payment',
    'devolucao estorno estornar reembolso reembolsar devolver refund money back',
  ),
  of('/new', MAKES, 'Cobrar', 'New charge', 'criar nova novo receber vender make create sell'),
  of('/new/charge', MAKES, 'Nova cobrança Pix', 'New Pix charge', 'criar cobrar qr code create'),
  of('/new/link', MAKES, 'Novo link de pagamento', 'New payment link', 'criar whatsapp create'),
  of('/links', PAYMENTS, 'Links', 'Links', 'reutilizavel vender estoque whatsapp sell stock'),
  of(
    '/counter',
    MAKES,
    'Venda no balcão',
    'Counter',
    'caixa celular qr maquininha turno till phone',
  ),
  of('/new/code', MAKES, 'QR Code fixo', 'Static code', 'placa balcao estatico sign counter'),
  of('/new/batch', MAKES, 'Cobranças por planilha', 'Charges from a file', 'lote csv excel batch'),
  of('/new/plan', MAKES, 'Novo carnê', 'New payment plan', 'parcelas parcelamento installments'),
  of('/plans', PAYMENTS, 'Carnês', 'Payment plans', 'parcelas parcelamento installments'),
  of('/customers', PAYMENTS, 'Clientes', 'Customers', 'pagadores pessoas cadastro payers people'),
  of('/products', 'catalog:read', 'Produtos', 'Products', 'catalogo preco itens catalog price'),
  of(
    '/subscriptions',
    PAYMENTS,
    'Assinaturas',
    'Subscriptions',
    'recorrencia pix automatico mensalidade debito recurring monthly',
  ),
  of('/balance', 'balance:read', 'Saldo e extrato', 'Balance', 'dinheiro statement movimentos'),
  of(
    '/balance/withdrawals',
    'balance:read',
    'Saques',
    'Withdrawals',
    'retiradas transferir sacar withdraw payout',
  ),
  of(
    '/closing',
    'balance:read',
    'Fechamento do mês',
    'Month closing',
    'fechar mes contador contabilidade relatorio accountant close',
  ),
  of('/refunds', PAYMENTS, 'Devoluções', 'Refunds', 'estornos reembolsos devolver returned'),
  of(
    '/reports',
    'balance:read',
    'Relatórios',
    'Reports',
    'vendas faturamento periodo grafico ticket mrr conversao sales revenue',
  ),
  of('/recipients', 'balance:read', 'Recebedores', 'Recipients', 'split divisao repasse parceiros'),
  of(
    '/unmatched',
    PAYMENTS,
    'Pix sem cobrança',
    'Unmatched payments',
    'nao identificados pagamentos duplicado devolver avulso unknown',
  ),
  of('/disputes', PAYMENTS, 'Disputas', 'Disputes', 'med contestacao fraude chargeback fraud'),
  of(
    '/developers/keys',
    ['owner', 'developer'],
    'Chaves da API',
    'API keys',
    'chave token acesso integracao secret',
  ),
  of('/developers/webhooks', 'webhooks:read', 'Webhooks', 'Webhooks', 'notificacao callback url'),
  of('/developers/deliveries', 'webhooks:read', 'Entregas de webhooks', 'Deliveries', 'envios'),
  of('/developers/events', 'webhooks:read', 'Eventos', 'Events', 'historico log'),
  of('/developers/requests', 'webhooks:read', 'Requisições', 'Requests', 'api log erros errors'),
  of('/settings', 'company:read', 'Empresa', 'Company', 'configuracoes perfil dados nome settings'),
  of('/settings/logo', 'company:read', 'Logo', 'Logo', 'imagem marca image brand'),
  of(
    '/settings/messages',
    'company:read',
    'Mensagens',
    'Messages',
    'texto whatsapp e-mail modelo personalizar template',
  ),
  of('/settings/reminders', 'company:read', 'Lembretes', 'Reminders', 'aviso vencimento mensagem'),
  of(
    '/settings/bank',
    ['owner', 'finance'],
    'Banco',
    'Bank',
    'conta conectar certificado connect account',
  ),
  of('/settings/approvals', OWNERS, 'Aprovação de saques', 'Withdrawal approvals', 'limite limit'),
  of('/settings/version', 'company:read', 'Versão da API', 'API version', 'atualizar update'),
  of(
    '/settings/members',
    OWNERS,
    'Pessoas',
    'People',
    'equipe usuarios convidar team invite users',
  ),
  of('/settings/activity', OWNERS, 'Atividade', 'Activity', 'auditoria historico quem audit log'),
  of(
    '//account',
    ROLES,
    'Minha conta e senha',
    'My account and password',
    'perfil idioma nome trocar sair sessoes profile language change',
  ),
  of(
    '//account/security',
    ROLES,
    'Segurança da conta',
    'Account security',
    'verificacao duas etapas dois fatores 2fa codigo celular passkey factor',
  ),
]

function of(path: string, needs: Needs, pt: string, en: string, words: string): FoundPage {
  return { path, needs, title: { pt, en }, words }
}

/**
 * Pages that the person may see, for which each word of the text begins one of their words. Pages
 * in whose name they are come first.
 */
export function findPages({ can }: Pick<Visit, 'can'>, text: string): FoundPage[] {
  const sought = foldedWords(text)
  if (sought.join('').length < 3) return []
  const has = (names: string) => {
    const words = foldedWords(names)
    return sought.every((word) => words.some((one) => one.startsWith(word)))
  }
  const allowed = FOUND_PAGES.filter(({ needs }) => can(needs))
  const named = allowed.filter(({ title }) => has(title.pt) || has(title.en))
  const others = allowed.filter(
    (page) => !named.includes(page) && has(`${page.title.pt} ${page.title.en} ${page.words}`),
  )
  return [...named, ...others]
}
