import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { placeOf } from '../core/places/front.ts'
import { readUnsubscribeToken } from '../core/reminders/addresses.ts'
import { changeStop, findReader, type Reader } from '../core/reminders/stops.ts'
import type { Language } from '../lib/language.ts'
import { maskEmail } from '../pix/masks.ts'
import { html } from './html.ts'
import { inLanguage, type PageLanguage, pageLanguageOf } from './language.ts'
import { type Page, sendPage } from './layout.ts'
import { result } from './parts.ts'
import type { Form, Site } from './site.ts'

type Named = { Params: { token: string } }

/** What a mail program posts. It follows no redirect. */
const ONE_CLICK = 'List-Unsubscribe'
/** A mail program posts no more than two words. */
const MAX_BODY = 4096

/**
 * The page on which a payer says that they want no more reminders of a company. Programs that check
 * mails open it, so only a form changes something: that of the page, or that which a mail program
 * posts when its reader presses its button (RFC 8058), which comes in parts.
 */
export function registerUnsubscribe(scope: FastifyInstance, site: Site): void {
  scope.register(async (own) => {
    own.addContentTypeParser(
      'multipart/form-data',
      { parseAs: 'string', bodyLimit: MAX_BODY },
      async () => ({ [ONE_CLICK]: 'One-Click' }),
    )
    own.get<Named>('/reminders/:token', async (request, reply) => {
      const { reader } = await lookUp(site, request.params.token)
      return show(site, request, reply, reader)
    })
    own.post<Named>('/reminders/:token', async (request, reply) => {
      const { token } = request.params
      const { app, reader } = await lookUp(site, token)
      const form = (request.body ?? {}) as Form
      await changeStop(app, reader, form.again === undefined ? 'stop' : 'again')
      if (ONE_CLICK in form) return show(site, request, reply, { ...reader, isStopped: true })
      const { chosen } = pageLanguageOf(request, reader.company.language)
      return reply.redirect(inLanguage(`/reminders/${token}`, chosen), 303)
    })
  })
}

async function lookUp({ app: front }: Site, token: string) {
  const app = await placeOf(front, readUnsubscribeToken(front.vault, token)?.companyId)
  return { app, reader: await findReader(app, token) }
}

function show(
  site: Site,
  request: FastifyRequest,
  reply: FastifyReply,
  reader: Reader,
): FastifyReply {
  const language = pageLanguageOf(request, reader.company.language)
  return sendPage(request, reply, site.assets, pageOf(request, reader, language))
}

function pageOf(
  request: FastifyRequest,
  { company, email, isStopped }: Reader,
  { language }: PageLanguage,
): Page {
  const texts = TEXTS[language]
  const { title, text, act } = isStopped ? texts.stopped : texts.asked
  const fields = isStopped && html`<input type="hidden" name="again" value="yes">`
  const kind = isStopped ? 'button quiet' : 'button'
  const more = html`<form method="post" action="${request.url}">${fields}<button class="${kind}">${act}</button></form>
<p class="soft small">${texts.others}</p>`
  const given = { title, text: text(company.name, maskEmail(email)), more }
  return {
    title,
    language,
    brand: company,
    kind: 'pay',
    body: result({ kind: 'calm', icon: isStopped ? 'check' : 'mail', ...given }, language),
  }
}

const pt = {
  asked: {
    title: 'Parar de receber lembretes',
    text: (company: string, email: string) =>
      `Quer parar de receber em ${email} os lembretes de cobranças de ${company}?`,
    act: 'Parar de receber',
  },
  stopped: {
    title: 'Você não recebe mais lembretes',
    text: (company: string, email: string) =>
      `Não enviaremos mais lembretes de cobranças de ${company} para ${email}.`,
    act: 'Voltar a receber',
  },
  others:
    'As cobranças continuam válidas. Links de pagamento e comprovantes continuam sendo enviados.',
}

const en: typeof pt = {
  asked: {
    title: 'Stop reminders',
    text: (company, email) =>
      `Do you want to stop getting reminders of payments to ${company} at ${email}?`,
    act: 'Stop reminders',
  },
  stopped: {
    title: 'You get no more reminders',
    text: (company, email) => `We no longer send reminders of payments to ${company} to ${email}.`,
    act: 'Get reminders again',
  },
  others: 'The charges stay valid. Payment links and receipts are still sent.',
}

const TEXTS: Record<Language, typeof pt> = { pt, en }
