import type { FastifyInstance } from 'fastify'
import { countLiveWorkers } from '../core/deliveries/workers.ts'
import type { FullApp, FullFront } from '../core/full-app.ts'
import { hasAnySandbox } from '../core/places/across.ts'
import type { Language } from '../lib/language.ts'
import { VERSION } from '../lib/version.ts'
import { LATEST } from '../versions/history.ts'
import { copyButton, isLocalHost, sendDeveloperPage } from './developer.ts'
import { type Html, html } from './html.ts'
import { chosenLanguage } from './language.ts'
import { icon, inLanguage, languageOf } from './layout.ts'
import { resetForm, resetNotice } from './sandbox-reset.ts'
import { OPEN_PATH } from './sandbox-sign-in.ts'
import type { Site } from './site.ts'

/** The front page: what this is, what runs, links to the other pages, and first calls. */
export function registerFront(scope: FastifyInstance, site: Site): void {
  const { app } = site
  scope.get('/', async (request, reply) => {
    const language = languageOf(request)
    const texts = FRONT[language]
    const state = await readState(app)
    const key = isLocalHost(site, request) ? (site.sandbox()?.apiKey ?? null) : null
    const body = html`<section class="card all">
<h1>${texts.title}</h1>
<p>${app.config.local ? texts.intro.local : texts.intro.served}</p>
</section>
<div class="column">
${dashboardCard(key !== null, language)}
${linksCard(app, state, language, chosenLanguage(request.query))}
${runningCard(app, state, language)}
</div>
<div class="column">
${key !== null && keyCard(key, resetNotice(request.query, language), language)}
${callsCard(app, key, language)}
</div>`
    return sendDeveloperPage(site, request, reply, 'front', {
      title: texts.title,
      language,
      body,
    })
  })
}

/** In local mode one click opens the dashboard of the sandbox. */
function dashboardCard(isLocal: boolean, language: Language): Html {
  const { title, local, served, open } = FRONT[language].dashboard
  const action = isLocal
    ? html`<form method="post" action="${OPEN_PATH}"><button class="button">${open}</button></form>`
    : html`<a class="button" href="/dashboard">${open}</a>`
  return html`<section class="card" aria-labelledby="dashboard">
<h2 id="dashboard">${title}</h2>
<p class="soft small">${isLocal ? local : served}</p>
${action}
</section>`
}

type State = { database: string | null; workers: number; hasBank: boolean }

/** What is running. If the database does not answer, the page says so. */
async function readState(app: FullFront): Promise<State> {
  const { db, config } = app
  try {
    const [row] = await db.query<{ version: string }>({
      text: `select current_setting('server_version') as version`,
    })
    const hasSandbox = hasAnySandbox(app).catch(() => false)
    const [workers, isBank] = await Promise.all([countLiveWorkers(db), hasSandbox])
    const hasBank = config.local || isBank
    return { database: row!.version.split(' ')[0]!, workers, hasBank }
  } catch {
    return { database: null, workers: 0, hasBank: config.local }
  }
}

function runningCard({ config, publicUrl }: FullApp, state: State, language: Language): Html {
  const { running, names, database, mode, worker } = FRONT[language]
  const kind = config.local ? database.embedded : database.own
  const facts: [string, string][] = [
    [names.address, publicUrl],
    [names.version, VERSION],
    [names.interface, LATEST.name],
    [
      names.database,
      state.database === null ? database.notAnswering : `PostgreSQL ${state.database}, ${kind}`,
    ],
    [names.mode, config.local ? mode.local : mode.served],
    [names.worker, worker(state.workers)],
  ]
  return html`<section class="card" aria-labelledby="running">
<h2 id="running">${running}</h2>
<dl class="facts">${facts.map(([name, value]) => html`<div><dt>${name}</dt><dd>${value}</dd></div>`)}</dl>
</section>`
}

function linksCard(
  { config }: FullApp,
  { hasBank }: State,
  language: Language,
  chosen: Language | null,
): Html {
  const { links, link } = FRONT[language]
  const shown = [
    ...(hasBank ? [{ path: inLanguage('/bank', chosen), ...link.bank }] : []),
    ...(config.local ? [{ path: inLanguage('/mailbox', chosen), ...link.mailbox }] : []),
    { path: inLanguage('/guides', chosen), ...link.guides },
    { path: '/docs', ...link.docs },
  ]
  return html`<section class="card" aria-labelledby="links">
<h2 id="links">${links}</h2>
<ul class="rows">${shown.map(
    ({ path, name, text }) =>
      html`<li><a class="row" href="${path}"><span><strong>${name}</strong><span class="soft small">${text}</span></span>${icon('next')}</a></li>`,
  )}</ul>
</section>`
}

function keyCard(key: string, notice: Html | null, language: Language): Html {
  const { title, text, name } = FRONT[language].key
  return html`<section class="card" aria-labelledby="key">
<h2 id="key">${title}</h2>
${notice}
<div class="copied"><code class="key">${key}</code>${copyButton(key, name, language)}</div>
<p class="soft small">${text}</p>
${resetForm(language)}
</section>`
}

type Calls = { create: string; pay: string; read: string }

const FIELD = (name: string) => `$(echo "$CHARGE" | sed -E 's/.*"${name}":"([^"]+)".*/\\1/')`
const JSON_TYPE = "-H 'Content-Type: application/json'"

/** Calls that can be pasted into a shell. Later ones use the answer of the first. */
function callsOf(url: string, key: string | null): Calls {
  const auth = key === null ? '-H "X-API-KEY: $VINTEM_KEY"' : `-H 'X-API-KEY: ${key}'`
  const customer = '{"name":"Maria da Silva","taxId":"52998224725","email":"maria@example.com"}'
  // The key of the visitor may belong to a live company, so the charge is in dev mode.
  const trial = key === null ? '"devMode":true,' : ''
  return {
    create: `CHARGE=$(curl -s ${url}/charge/pix \\
  ${auth} \\
  ${JSON_TYPE} \\
  -d '{"amount":1990,${trial}"customer":${customer}}')
echo "$CHARGE" | grep -oE '"(id|brCode|url|description)":"[^"]+"'`,
    pay: `curl -s ${url}/bank/pix \\
  ${JSON_TYPE} \\
  -d "{\\"brCode\\":\\"${FIELD('brCode')}\\"}"`,
    read: `curl -s ${url}/charge/${FIELD('id')}/status \\
  ${auth}`,
  }
}

function callsCard(app: FullApp, key: string | null, language: Language): Html {
  const { calls, call, ownKey } = FRONT[language]
  const texts = callsOf(app.publicUrl, key)
  const names = ['create', 'pay', 'read'] as const
  return html`<section class="card" aria-labelledby="calls">
<h2 id="calls">${calls.title}</h2>
<p class="soft small">${calls.text}${key === null && html` ${ownKey}`}</p>
<ol class="calls">${names.map(
    (name) => html`<li>
<div class="between"><h3>${call[name].name}</h3>${copyButton(texts[name], calls.result, language)}</div>
<p class="soft small">${call[name].text}</p>
<pre tabindex="0"><code>${texts[name]}</code></pre>
</li>`,
  )}</ol>
</section>`
}

const pt = {
  title: 'O Vintém está no ar',
  where: (address: string) => `Você está em ${address}`,
  intro: {
    local:
      'Tudo aqui roda na sua máquina, com dinheiro fictício. Crie uma cobrança, abra a página dela em uma aba, pague no banco simulado em outra e veja a primeira ficar verde.',
    served:
      'Este servidor recebe pagamentos via Pix. Para usar a API, peça uma chave a quem o opera.',
  },
  running: 'O que está rodando',
  names: {
    address: 'Endereço',
    version: 'Versão',
    interface: 'Versão da API',
    database: 'Banco de dados',
    mode: 'Modo',
    worker: 'Worker',
  },
  database: { embedded: 'embutido', own: 'próprio', notAnswering: 'não responde' },
  mode: { local: 'Local, só com dinheiro fictício', served: 'Servidor' },
  worker: (count: number) =>
    count === 0
      ? 'Parado: inicie um com --role worker'
      : `Rodando${count > 1 ? ` (${count})` : ''}`,
  links: 'Acesso rápido',
  link: {
    guides: {
      name: 'Guias',
      text: 'A primeira cobrança em um minuto, webhooks, assinaturas, com exemplos em quatro linguagens.',
    },
    docs: { name: 'Referência da API', text: 'Todas as operações da API, com exemplos.' },
    bank: {
      name: 'Banco simulado',
      text: 'O lado de quem paga: pague, pague com atraso, autorize uma assinatura, avance o relógio.',
    },
    mailbox: { name: 'E-mails enviados', text: 'Links de pagamento e códigos de saque.' },
  },
  dashboard: {
    title: 'Painel',
    local: 'Cobranças, saldo, clientes e webhooks da empresa de testes, sem linha de comando.',
    served: 'Cobranças, saldo, clientes e webhooks da sua empresa.',
    open: 'Abrir o painel',
  },
  key: {
    title: 'Chave da empresa de testes',
    text: 'Envie-a no cabeçalho X-API-KEY. Ela só movimenta dinheiro fictício.',
    name: 'a chave',
  },
  ownKey: 'Antes, salve a sua chave: export VINTEM_KEY=…',
  calls: {
    title: 'Três chamadas para começar',
    text: 'Cole uma de cada vez no mesmo terminal.',
    result: 'a chamada',
  },
  call: {
    create: {
      name: 'Criar uma cobrança de R$ 19,90',
      text: 'Mostra o id, o código Pix e a URL da página de pagamento. Abra a URL antes de pagar.',
    },
    pay: {
      name: 'Pagar no banco simulado',
      text: 'Como faria quem lê o QR Code. A página aberta fica verde.',
    },
    read: { name: 'Consultar a cobrança', text: 'Agora está COMPLETED e PAID.' },
  },
}

type Texts = typeof pt

const en: Texts = {
  title: 'Vintém is running',
  where: (address) => `You are at ${address}`,
  intro: {
    local:
      'Everything here runs on your machine, with play money. Create a charge, open its page in one tab, pay at the simulated bank in another, and see the first become green.',
    served:
      'This server takes payments via Pix. To use its API, ask whoever operates it for a key.',
  },
  running: 'What is running',
  names: {
    address: 'Address',
    version: 'Version',
    interface: 'API version',
    database: 'Database',
    mode: 'Mode',
    worker: 'Worker',
  },
  database: { embedded: 'embedded', own: 'your own', notAnswering: 'does not answer' },
  mode: { local: 'Local, play money only', served: 'Server' },
  worker: (count) =>
    count === 0
      ? 'Stopped: start one with --role worker'
      : `Running${count > 1 ? ` (${count})` : ''}`,
  links: 'Quick links',
  link: {
    guides: {
      name: 'Guides',
      text: 'The first charge in a minute, webhooks, subscriptions, with samples in four languages.',
    },
    docs: { name: 'API reference', text: 'Every operation of the API, with examples.' },
    bank: {
      name: 'Simulated bank',
      text: 'The payer’s side: pay, pay late, approve a subscription, move the clock forward.',
    },
    mailbox: { name: 'Sent emails', text: 'Payment links and withdrawal codes.' },
  },
  dashboard: {
    title: 'Dashboard',
    local: 'Charges, balance, customers and webhooks of the sandbox, without a command line.',
    served: 'Charges, balance, customers and webhooks of your company.',
    open: 'Open the dashboard',
  },
  key: {
    title: 'Key of the sandbox company',
    text: 'Send it as X-API-KEY. It only moves play money.',
    name: 'the key',
  },
  ownKey: 'First, save your key: export VINTEM_KEY=…',
  calls: {
    title: 'Three calls to start with',
    text: 'Paste them one at a time into the same terminal.',
    result: 'the call',
  },
  call: {
    create: {
      name: 'Create a charge of R$ 19,90',
      text: 'Shows its id, its Pix code and the URL of its payment page. Open the URL before you pay.',
    },
    pay: {
      name: 'Pay it at the simulated bank',
      text: 'As whoever scans the QR code would. The page you opened becomes green.',
    },
    read: { name: 'Read the charge', text: 'It is COMPLETED and PAID now.' },
  },
}

const FRONT: Record<Language, Texts> = { pt, en }
