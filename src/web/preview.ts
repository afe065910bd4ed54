import { createHash } from 'node:crypto'
import type { FastifyInstance, FastifyReply } from 'fastify'
import { isPlayMoney } from '../core/charges/rules.ts'
import type { Company } from '../core/companies/rules.ts'
import { findCompany } from '../core/companies/store.ts'
import { createBuckets } from '../lib/bucket.ts'
import { clientName } from '../lib/client-name.ts'
import { isUuid } from '../lib/ids.ts'
import type { Language } from '../lib/language.ts'
import { createRecent } from '../lib/memo.ts'
import { problem } from '../lib/problems.ts'
import type { Owner } from './found.ts'
import { type Html, html } from './html.ts'
import { inLanguage, type Spoken } from './language.ts'
import { drawPicture, PICTURE, type PictureParts } from './preview/picture.ts'
import { PREVIEW } from './preview-texts.ts'
import type { Site } from './site.ts'

/** What is shown of a page where its link is sent: never anything of its payer. */
export type Preview = { description: string; url: string; image: string; imageAlt: string }

/** Another number makes all pictures anew, with new addresses. */
const DRAWING = 1
/** Each has some 20 KB. */
const MAX_KEPT = 200
/** Pictures asked for per address, as often as forms may be sent. */
const ASKED = { perSecond: 10, burst: 100 }

export function previewOf(
  { app, company, token, language, chosen }: Owner & Spoken,
  description: string,
  { devMode } = { devMode: false },
): Preview {
  const texts = PREVIEW[language]
  const isTest = isPlayMoney(company, { devMode })
  return {
    description: isTest ? `${texts.test} ${description}` : description,
    url: app.publicUrl + inLanguage(`/pay/${token}`, chosen),
    image: app.publicUrl + pathOf(company, language),
    imageAlt: texts.imageAlt(company.name),
  }
}

export function previewTags(preview: Preview, title: string, site: string, lang: Language): Html {
  const { description, url, image, imageAlt } = preview
  const named = { description, 'twitter:card': 'summary_large_image' }
  const properties = {
    'og:type': 'website',
    'og:site_name': site,
    'og:locale': PREVIEW[lang].locale,
    'og:title': title,
    'og:description': description,
    'og:url': url,
    'og:image': image,
    'og:image:type': 'image/png',
    'og:image:alt': imageAlt,
    'og:image:width': PICTURE.width,
    'og:image:height': PICTURE.height,
  }
  return html`${Object.entries(named).map(([name, content]) => html`<meta name="${name}" content="${content}">\n`)}${Object.entries(properties).map(([name, content]) => html`<meta property="${name}" content="${content}">\n`)}`
}

function partsOf({ name, color, mode }: Company, language: Language): PictureParts {
  const { caption, mark } = PREVIEW[language]
  return { name, color, caption, mark: mode === 'sandbox' ? mark : null }
}

const hashOf = (parts: PictureParts): string =>
  createHash('sha256')
    .update(JSON.stringify([DRAWING, parts.name, parts.color, parts.caption, parts.mark]))
    .digest('hex')
    .slice(0, 20)

/** The hash of what is drawn is in the address, so that a picture can be kept forever. */
const pathOf = (company: Company, language: Language): string =>
  `/preview/${company.id}/${language}-${hashOf(partsOf(company, language))}.png`

type Named = { Params: { company: string; file: string } }

/** Nobody can ask for another picture than those of companies that exist: two for each. */
export function registerPreviews(scope: FastifyInstance, { app }: Site): void {
  const pictures = createRecent<Promise<Buffer> | undefined>(MAX_KEPT)
  const buckets = app.config.rateLimit && createBuckets(ASKED.perSecond, ASKED.burst)

  function drawn(parts: PictureParts): Promise<Buffer> {
    const hash = hashOf(parts)
    const known = pictures.get(hash)
    if (known) return known
    const drawing = drawPicture(parts)
    pictures.set(hash, drawing)
    drawing.catch(() => pictures.set(hash, undefined))
    return drawing
  }

  scope.get<Named>('/preview/:company/:file', async (request, reply) => {
    const wait_s = buckets ? buckets.take(clientName(request.ip), performance.now()) : 0
    const retry = { 'Retry-After': String(Math.ceil(wait_s)) }
    if (wait_s > 0) throw problem('rate_limited', undefined, retry)
    const { company: id, file } = request.params
    const language = /^(pt|en)-[0-9a-f]{20}\.png$/.exec(file)?.[1] as Language | undefined
    const company = language && isUuid(id) ? await findCompany(app.db, id) : null
    if (!language || !company) throw problem('charge_not_found')
    const path = pathOf(company, language)
    // The company has another name or color by now.
    if (!path.endsWith(`/${file}`)) return reply.redirect(path, 302)
    const etag = `"${file.slice(0, -4)}"`
    kept(reply, etag)
    if (request.headers['if-none-match'] === etag) return reply.status(304).send()
    return reply.type('image/png').send(await drawn(partsOf(company, language)))
  })
}

const kept = (reply: FastifyReply, etag: string): FastifyReply =>
  reply.headers({
    'Cache-Control': 'public, max-age=31536000, immutable',
    ETag: etag,
    'X-Content-Type-Options': 'nosniff',
    'X-Robots-Tag': 'noindex',
  })
