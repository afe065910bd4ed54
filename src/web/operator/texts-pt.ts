import type { MailReason } from '../../core/mails/rules.ts'

export type Section =
  | 'overview'
  | 'companies'
  | 'banks'
  | 'work'
  | 'webhooks'
  | 'mails'
  | 'people'
  | 'activity'

const TASKS_PT: Record<string, string> = {
  'expire charges': 'Expirar cobranças',
  'receive charges': 'Liberar saldo de cobranças',
  'settle callbacks': 'Processar avisos de bancos',
  'carry out refunds': 'Enviar devoluções',
  'expire withdrawals': 'Encerrar saques sem código',
  'pay out withdrawals': 'Enviar saques',
  'follow agreements': 'Consultar autorizações de assinaturas',
  'generate charges': 'Gerar cobranças de assinaturas',
  'bill charges': 'Agendar cobranças de assinaturas',
  'collect at the simulated bank': 'Cobrar no banco simulado',
  reconcile: 'Conferir recebimentos com bancos',
  'remove orphans': 'Remover cobranças inacabadas em bancos',
  'watch webhooks': 'Acompanhar webhooks com falha',
  'send mail': 'Enviar e-mails',
  'deliver webhooks': 'Entregar webhooks',
}

const KINDS_PT: Record<string, string> = {
  'withdrawal-code': 'Código de saque',
  'payment-link': 'Link de pagamento',
  receipt: 'Comprovante',
  'withdrawal-completed': 'Saque enviado',
  'withdrawal-failed': 'Saque não enviado',
  'webhook-failing': 'Webhook com falha',
  'webhook-deactivated': 'Webhook desativado',
  'bank-return': 'Devolução feita pelo banco',
  'bank-changed': 'Conexão com o banco alterada',
  'certificate-ending': 'Certificado perto do fim',
  'email-changed': 'E-mail alterado',
  'email-confirmed': 'E-mail confirmado',
  'withdrawal-approval': 'Aprovação de saque',
  'access-changed': 'Acesso alterado',
  invitation: 'Convite',
  'new-password': 'Nova senha',
  'sign-in-link': 'Link de entrada',
  'password-changed': 'Senha alterada',
  'factor-changed': 'Verificação em duas etapas alterada',
}

export const pt = {
  menu: 'Menu da operação',
  sections: {
    overview: 'Visão geral',
    companies: 'Empresas',
    banks: 'Bancos',
    work: 'Tarefas e filas',
    webhooks: 'Webhooks com falha',
    mails: 'E-mails',
    people: 'Pessoas',
    activity: 'Atividades',
  } satisfies Record<Section, string>,
  activity:
    'Quem passou a operar ou deixou de operar o serviço, entradas de quem o opera, verificações em duas etapas de todas as pessoas e tentativas com senha ou código errado, somadas por conta e hora quando a hora termina. Nada aqui pode ser alterado ou apagado.',
  company: 'Empresa',
  find: 'Buscar',
  never: 'nunca',
  fine: 'Tudo certo',
  upTo: (count: number) => `${count} ou mais`,
  about: (count: string) => `cerca de ${count}`,
  /** One of several databases does not answer. */
  unreached: (place: number) =>
    `O lugar ${place} não responde: as empresas dele não aparecem aqui.`,
  overview: {
    attention: 'Precisa de atenção',
    allFine: 'Nenhum problema conhecido nesta instalação.',
    differing: (count: number) =>
      count === 1
        ? 'A contabilidade de 1 empresa não confere: os saques dela estão parados'
        : `A contabilidade de ${count} empresas não confere: os saques delas estão parados`,
    failingWebhooks: 'Há webhooks que não recebem',
    setAside: (count: number) =>
      count === 1 ? 'O trabalho de 1 empresa falha' : `O trabalho falha ${count} vezes`,
    failedMails: 'Há e-mails que não foram aceitos',
    certificates: (count: number) =>
      count === 1
        ? '1 certificado de banco vence em 30 dias'
        : `${count} certificados de bancos vencem em 30 dias`,
    byHand: (count: number) =>
      count === 1 ? '1 saque aguarda envio manual' : `${count} saques aguardam envio manual`,
    versions: 'Versões',
    software: 'Vintém',
    node: 'Node.js',
    database: 'PostgreSQL',
    migrations: 'Migrações aplicadas',
    pinned: (version: string) => `Empresas na versão ${version} da API`,
    companies: (count: number) => (count === 1 ? '1 empresa' : `${count} empresas`),
    databaseTitle: 'Banco de dados',
    /** One of several databases that companies are divided among. */
    place: 'lugar',
    size: 'Tamanho',
    connections: 'Conexões',
    ofMost: (used: number, most: number) => `${used} de ${most}`,
    /** Connections of the process that shows the page, by what they are for. */
    pools: {
      requests: 'Deste processo, para chamadas e páginas',
      tasks: 'Deste processo, para tarefas',
      hot: 'Deste processo, para cobranças',
      light: 'Deste processo, para consultas rápidas',
      long: 'Deste processo, sempre abertas',
    },
    pool: (open: number, idle: number, waiting: number) =>
      `${open === 1 ? '1 aberta' : `${open} abertas`}, ${idle === 1 ? '1 livre' : `${idle} livres`}, ${waiting} na espera`,
    tables: 'Maiores tabelas',
    tablesHint: 'O número de linhas é a estimativa do PostgreSQL.',
    table: 'Tabela',
    rows: 'Linhas (estimativa)',
    bytes: 'Tamanho',
  },
  companies: {
    placeholder: 'Nome, CNPJ, CPF ou id da empresa',
    mode: 'Ambiente',
    modes: { sandbox: 'Testes', live: 'Produção' },
    volume: 'Recebido em 30 dias',
    balance: 'Saldo',
    audit: 'Auditoria',
    lastActive: 'Última atividade',
    differs: 'Não confere',
    audited: 'Confere',
    notAudited: 'Ainda não feita',
    created: 'Criada em',
    version: 'Versão da API',
    taxId: 'CNPJ ou CPF',
    id: 'Id',
    members: 'Pessoas',
    differenceHint: 'Enquanto houver diferença, nenhum saque sai desta empresa.',
    suspended: 'Suspensa',
    suspendedSince: 'Suspensa desde',
    meaning:
      'As chaves só consultam, os pagadores veem que a loja não pode receber agora, assinaturas não são cobradas e nenhum saque sai. Pagamentos que chegam são registrados.',
    suspend: {
      link: 'Suspender',
      title: (name: string) => `Suspender ${name}?`,
      text: 'As chaves passam a só consultar, os pagadores veem que a loja não pode receber agora, assinaturas não são cobradas e nenhum saque sai. Pagamentos que chegarem são registrados, devoluções já pedidas e webhooks continuam. Você pode reativar a empresa a qualquer momento.',
      button: 'Suspender',
    },
    resume: {
      link: 'Reativar',
      title: (name: string) => `Reativar ${name}?`,
      text: 'A empresa volta a cobrar, a sacar e a alterar dados. O que esperou continua de onde parou.',
      button: 'Reativar',
    },
    done: { suspend: 'A empresa está suspensa.', resume: 'A empresa está ativa de novo.' },
  },
  banks: {
    profile: 'Banco',
    payouts: 'Saques',
    byHand: 'Manuais',
    byBank: 'Pelo banco',
    asked: 'Consultado até',
    callbacks: 'Avisos na fila',
    certificate: 'Certificado até',
    state: 'Situação',
    ok: 'Funciona',
    failing: (times: number) => (times === 1 ? 'Falhou 1 vez' : `Falhou ${times} vezes`),
    ending: 'Certificado vence logo',
    ended: 'Certificado vencido',
    empty: 'Nenhuma empresa tem um banco conectado. As de teste usam o banco simulado.',
  },
  work: {
    queues: 'Filas',
    queuesHint: 'O que já deveria ter sido feito, e desde quando o item mais antigo espera.',
    task: 'Tarefa',
    due: 'Pendentes',
    oldest: 'Atraso',
    late: (minutes: number) => (minutes === 1 ? '1 min' : `${minutes} min`),
    onTime: 'Em dia',
    setbacks: 'Falhas por empresa',
    setbacksHint: 'A tarefa deixa estas empresas de lado por um tempo e continua com as outras.',
    noSetbacks: 'Nenhuma tarefa falha agora.',
    error: 'Erro',
    times: 'Vezes',
    since: 'Desde',
    differences: 'Diferenças na contabilidade',
    noDifferences: 'A contabilidade de todas as empresas confere.',
    difference: 'Diferença',
    at: 'Verificada em',
    tasks: TASKS_PT,
  },
  webhooks: {
    name: 'Webhook',
    host: 'Servidor',
    since: 'Falha desde',
    failures: 'Falhas seguidas',
    state: 'Situação',
    paused: 'Em pausa',
    retrying: 'Tentando',
    inactive: 'Desativado',
    empty: 'Todos os webhooks recebem.',
  },
  mails: {
    waiting: 'Na fila',
    failed: 'Não aceitos',
    kind: 'Tipo',
    reason: 'Motivo',
    reasons: {
      PLAY_MONEY: 'Teste para quem é de fora da empresa',
      RECIPIENT: 'Limite do destinatário',
      COMPANY: 'Limite da empresa',
      ALL: 'Limite do serviço',
    } satisfies Record<MailReason, string>,
    attempts: 'Tentativas',
    created: 'Criado em',
    next: 'Próxima tentativa',
    given: 'Desistiu em',
    noWaiting: 'Nenhum e-mail na fila.',
    noFailed: 'Nenhum e-mail falhou nos últimos 30 dias.',
    hint: 'Os destinatários e o conteúdo não são mostrados.',
    kinds: KINDS_PT,
  },
  people: {
    placeholder: 'Nome ou e-mail',
    person: 'Pessoa',
    all: 'Todas',
    operators: 'Operadores',
    operator: 'Operador',
    companies: 'Empresas',
    secondFactor: 'Segundo fator',
    yes: 'Sim',
    no: 'Não',
    lastSeen: 'Último acesso',
    created: 'Desde',
    lists: 'Listas de pessoas',
  },
}

/** The texts of the operator's pages, in each language. */
export type OperatorTexts = typeof pt
