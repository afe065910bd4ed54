import type { FastifyInstance } from 'fastify'
import type { Language } from '../lib/language.ts'
import { problem } from '../lib/problems.ts'
import { isLocalHost } from './developer.ts'
import { type Html, html } from './html.ts'
import { chosenLanguage, inLanguage } from './language.ts'
import { icon } from './layout.ts'
import type { Site } from './site.ts'

const TEXTS = {
  pt: {
    open: 'Começar do zero',
    text: 'Cria uma nova empresa de testes, com outra chave, no horário atual e com R$ 1.000,00 de saldo. A chave atual deixa de funcionar, os webhooks param de receber eventos e as assinaturas são canceladas. Os registros antigos são mantidos.',
    act: 'Criar nova empresa de testes',
    done: 'Nova empresa de testes criada. Use a chave abaixo.',
  },
  en: {
    open: 'Start over',
    text: 'Creates a new sandbox company, with another key, at the present time and with a balance of R$ 1.000,00. The current key stops working, webhooks receive no more events and subscriptions are canceled. The old records are kept.',
    act: 'Create a new sandbox company',
    done: 'A new sandbox company was created. Use the key below.',
  },
} as const satisfies Record<Language, Record<string, string>>

const PATH = '/sandbox/reset'

/** The form must be opened first, so that nobody loses their key by one click. */
export const resetForm = (language: Language): Html => html`<details>
<summary>${TEXTS[language].open}</summary>
<form class="stack" method="post" action="${inLanguage(PATH, language)}">
<p class="soft small">${TEXTS[language].text}</p>
<button class="button quiet" type="submit">${TEXTS[language].act}</button>
</form>
</details>`

/** Says that there is a new company, after the form was sent. */
export const resetNotice = (query: unknown, language: Language): Html | null =>
  (query as { fresh?: unknown }).fresh === undefined
    ? null
    : html`<p class="notice good" role="status">${icon('check')}<span>${TEXTS[language].done}</span></p>`

/** Replaces the sandbox with a new company, in local mode. */
export function registerReset(scope: FastifyInstance, site: Site): void {
  scope.post(PATH, async (request, reply) => {
    if (!isLocalHost(site, request)) throw problem('route_not_found')
    await site.resetSandbox()
    return reply.redirect(`${inLanguage('/?fresh', chosenLanguage(request.query))}#key`, 303)
  })
  // If the form failed, the browser shows this path, so a reload of it must give a page.
  scope.get(PATH, (request, reply) =>
    reply.redirect(inLanguage('/', chosenLanguage(request.query)), 303),
  )
}
