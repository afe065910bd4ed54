import { join } from 'node:path'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import type { Language } from '../lib/language.ts'
import { problem } from '../lib/problems.ts'
import { formatMoment } from '../pix/local-time.ts'
import { copyButton, isLocalHost, sendDeveloperPage } from './developer.ts'
import { type Html, html } from './html.ts'
import { chosenLanguage, type PageLanguage } from './language.ts'
import { icon, inLanguage, languageOf } from './layout.ts'
import { SANDBOX, sendContent } from './letter-content.ts'
import { listMails, readMail, type SentMail } from './mails.ts'
import type { Site } from './site.ts'

const TEXTS = {
  pt: {
    title: 'E-mails enviados',
    intro:
      'Os e-mails que o Vintém enviou, do mais recente ao mais antigo. Nada saiu desta máquina.',
    sent: 'Com SMTP_URL configurado, os e-mails vão para o servidor de e-mail e não aparecem aqui.',
    empty: 'Nenhum e-mail ainda',
    emptyText: 'Solicite um saque ou crie um link com notifyCustomer, e o e-mail aparece aqui.',
    code: 'Código mais recente',
    codeOf: 'Código',
    older: 'Mais antigos',
    all: 'Todos os e-mails',
    to: 'Para',
    from: 'De',
    at: 'Enviado em',
    content: 'Conteúdo do e-mail',
    asText: 'Somente texto',
  },
  en: {
    title: 'Sent emails',
    intro: 'What Vintém has sent, newest first. Nothing has left this machine.',
    sent: 'With SMTP_URL set, emails go to the mail server and are not shown here.',
    empty: 'No emails yet',
    emptyText:
      'Request a withdrawal or create a link with notifyCustomer, and the email appears here.',
    code: 'Latest code',
    codeOf: 'Code',
    older: 'Older emails',
    all: 'All emails',
    to: 'To',
    from: 'From',
    at: 'Sent at',
    content: 'Content of the email',
    asText: 'Text only',
  },
} as const satisfies Record<Language, Record<string, string>>

const MAX_SHOWN = 30

type MailRequest = FastifyRequest<{ Params: { id: string }; Querystring: { before?: string } }>

/** Shows the mails that were written to files, in local mode. */
export function registerMailbox(scope: FastifyInstance, site: Site): void {
  const folder = join(site.app.config.dataDir, 'mail')
  const requireLocalHost = (request: FastifyRequest) => {
    if (!isLocalHost(site, request)) throw problem('route_not_found')
  }
  const find = async (request: MailRequest) => {
    requireLocalHost(request)
    const mail = await readMail(folder, request.params.id)
    if (!mail) throw problem('route_not_found')
    return mail
  }
  scope.get('/mailbox', async (request: MailRequest, reply) => {
    requireLocalHost(request)
    const ids = await listMails(folder)
    const { before } = request.query
    const from = typeof before === 'string' ? ids.filter((id) => id < before) : ids
    const read = await Promise.all(from.slice(0, MAX_SHOWN).map((id) => readMail(folder, id)))
    const mails = read.filter((mail) => mail !== null)
    const hasMore = from.length > MAX_SHOWN
    return sendList(site, request, reply, mails, hasMore)
  })
  scope.get('/mailbox/:id', async (request: MailRequest, reply) =>
    sendMail(site, request, reply, await find(request)),
  )
  scope.get('/mailbox/:id/content', async (request: MailRequest, reply) => {
    const { html } = await find(request)
    return sendContent(reply, html)
  })
}

function sendList(
  site: Site,
  request: FastifyRequest,
  reply: FastifyReply,
  mails: SentMail[],
  hasMore: boolean,
): FastifyReply {
  const language = languageOf(request)
  const texts = TEXTS[language]
  const newest = mails.find(({ code }) => code !== null)
  const chosen = chosenLanguage(request.query)
  const older = inLanguage(`/mailbox?before=${mails.at(-1)?.id}`, chosen)
  const body = html`<section class="card all">
<h1>${texts.title}</h1>
<p class="soft">${texts.intro} ${site.app.config.smtpUrl !== null && texts.sent}</p>
${newest && codeBox(newest, texts.code, language)}
</section>
<section class="card all" aria-label="${texts.title}">
${mails.length === 0 ? empty(language) : html`<ul class="rows">${mails.map((mail) => row(mail, { language, chosen }))}</ul>`}
${hasMore && html`<p><a href="${older}">${texts.older}</a></p>`}
</section>`
  return sendDeveloperPage(site, request, reply, 'mailbox', { title: texts.title, language, body })
}

const empty = (language: Language): Html =>
  html`<div class="nothing">${icon('mail')}<p><strong>${TEXTS[language].empty}</strong></p><p class="soft">${TEXTS[language].emptyText}</p></div>`

function codeBox({ code, at }: SentMail, name: string, language: Language): Html {
  return html`<div class="otp"><p><span class="soft small">${name} · ${formatMoment(at)}</span><strong class="digits">${code}</strong></p>${copyButton(code!, name, language)}</div>`
}

function row({ id, subject, to, at, code }: SentMail, { language, chosen }: PageLanguage): Html {
  const { codeOf } = TEXTS[language]
  return html`<li class="mail"><a class="row" href="${inLanguage(`/mailbox/${id}`, chosen)}"><span><strong>${subject}</strong><span class="soft small">${to} · <span class="nowrap">${formatMoment(at)}</span></span></span>${icon('next')}</a>${
    code !== null &&
    html`<span class="tail"><code class="digits">${code}</code>${copyButton(code, codeOf, language)}</span>`
  }</li>`
}

function sendMail(
  site: Site,
  request: FastifyRequest,
  reply: FastifyReply,
  mail: SentMail,
): FastifyReply {
  const language = languageOf(request)
  const texts = TEXTS[language]
  const facts: [string, string][] = [
    [texts.from, mail.from],
    [texts.to, mail.to],
    [texts.at, formatMoment(mail.at)],
  ]
  const body = html`<section class="card all">
<p class="small"><a href="${inLanguage('/mailbox', chosenLanguage(request.query))}">${texts.all}</a></p>
<h1>${mail.subject}</h1>
${mail.code !== null && codeBox(mail, texts.codeOf, language)}
<dl class="facts">${facts.map(([name, value]) => html`<div><dt>${name}</dt><dd>${value}</dd></div>`)}</dl>
</section>
<section class="card all" aria-label="${texts.content}">
<iframe class="letter" title="${texts.content}" sandbox="${SANDBOX}" src="/mailbox/${mail.id}/content"></iframe>
<details><summary>${texts.asText}</summary><pre tabindex="0">${mail.text}</pre></details>
</section>`
  const page = { title: mail.subject, language, body, frames: true }
  return sendDeveloperPage(site, request, reply, 'mailbox', page)
}
