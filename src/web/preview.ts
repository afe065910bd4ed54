import { createHash } from 'node:crypto'
import type { FastifyInstance, FastifyReply } from 'fastify'
import { isPlayMoney } from '../core/charges/rules.ts'
import type { Company } from '../core/companies/rules.ts'
import { findCompany } from '../core/companies/store.ts'
import { placeOf } from '../core/places/front.ts'
import { clientName } from '../lib/client-name.ts'
import { isUuid } from '../lib/ids.ts'
import type { Language } from '../lib/language.ts'
import { createRecent } from '../lib/memo.ts'
import { problem } from '../lib/problems.ts'
import type { Owner } from './found.ts'
import { type Html, html } from './html.ts'
import { inLanguage, type PageLanguage } from './language.ts'
import { drawPicture, PICTURE, type PictureParts } from './preview/picture.ts'
import { PREVIEW } from './preview-texts.ts'
import type { Site } from './site.ts'

/** What messengers show of a link to a page. It never names the payer. */
export type Preview = { description: string; url: string; image: string; imageAlt: string }

/** If this number changes, all pictures are drawn again and get new URLs. */
const DRAWING_VERSION = 1
/** How many pictures are kept. Each has about 20 KB. */
const MAX_KEPT = 200
/** Pictures asked for per address, as often as forms may be sent. */
const ASKED = { perSecond: 10, burst: 100 }

export function previewOf(
  { app, company, token, language, chosen }: Owner & PageLanguage,
  description: string,
  { devMode } = { devMode: false },
  path = `/pay/${token}`,
): Preview {
  const texts = PREVIEW[language]
  const isTest = isPlayMoney(company, { devMode })
  return {
    description: isTest ? `${texts.test} ${description}` : description,
    url: app.publicUrl + inLanguage(path, chosen),
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
    .update(JSON.stringify([DRAWING_VERSION, parts.name, parts.color, parts.caption, parts.mark]))
    .digest('hex')
    .slice(0, 20)

/** The URL has the hash of what is drawn, so that a picture can be cached forever. */
const pathOf = (company: Company, language: Language): string =>
  `/preview/${company.id}/${language}-${hashOf(partsOf(company, language))}.png`

type Named = { Params: { company: string; file: string } }

/** Serves the two pictures of each company. No other pictures can be requested. */
export function registerPreviews(scope: FastifyInstance, { app }: Site): void {
  const pictures = createRecent<Promise<Buffer> | undefined>(MAX_KEPT)
  const limit = app.config.rateLimit && app.limits.rate('previews', ASKED.perSecond, ASKED.burst)

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
    const wait_s = limit ? await limit.take(clientName(request.ip)) : 0
    const retry = { 'Retry-After': String(Math.ceil(wait_s)) }
    if (wait_s > 0) throw problem('rate_limited', undefined, retry)
    const { company: id, file } = request.params
    const language = /^(pt|en)-[0-9a-f]{20}\.png$/.exec(file)?.[1] as Language | undefined
    const placed = language && isUuid(id) ? await placeOf(app, id) : null
    const company = placed && (await findCompany(placed.db, id))
    if (!language || !company) throw problem('charge_not_found')
    const path = pathOf(company, language)
    // If the name or the color of the company has changed, redirect to the new picture.
    if (!path.endsWith(`/${file}`)) return reply.redirect(path, 302)
    const etag = `"${file.slice(0, -4)}"`
    cacheForever(reply, etag)
    if (request.headers['if-none-match'] === etag) return reply.status(304).send()
    return reply.type('image/png').send(await drawn(partsOf(company, language)))
  })
}

const cacheForever = (reply: FastifyReply, etag: string): FastifyReply =>
  reply.headers({
    'Cache-Control': 'public, max-age=31536000, immutable',
    ETag: etag,
    'X-Content-Type-Options': 'nosniff',
    'X-Robots-Tag': 'noindex',
  })
