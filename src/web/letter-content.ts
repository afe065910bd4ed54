import type { FastifyReply } from 'fastify'

/** Links of a mail open in new tabs. The mail runs no scripts and sends no forms. */
export const SANDBOX = 'allow-popups allow-popups-to-escape-sandbox'
const POLICY = `default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'self'; sandbox ${SANDBOX}`

/** The HTML of a mail, as a mail program shows it. */
export const sendContent = (reply: FastifyReply, content: string): FastifyReply =>
  reply
    .headers({
      'Content-Security-Policy': POLICY,
      'Referrer-Policy': 'no-referrer',
      'X-Content-Type-Options': 'nosniff',
      'Cache-Control': 'no-store',
    })
    .type('text/html; charset=utf-8')
    .send(content.replace('<head>', '<head>\n<base target="_blank">'))
