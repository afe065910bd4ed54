import { Controller, HttpCode, HttpException, Inject, Post, Req } from '@nestjs/common'
import { Logger } from '@vendure/core'
import { WebhookVerificationError } from '@vintem/client'
import { VintemReceiver } from './receiver.ts'
import { CONTEXT } from './service.ts'

/** Where webhooks arrive. */
export const PATH = 'payments/vintem'

const MAX_BYTES = 1_000_000

type Incoming = AsyncIterable<Buffer> & {
  headers: Record<string, string>
  body?: unknown
}

/** Reads the body as it is, before the shop parses it: its bytes are what is signed. */
export function readRawBody(request: Incoming, _reply: unknown, next: (error?: unknown) => void) {
  readAll(request).then(
    (body) => {
      request.body = body
      next()
    },
    (error) => next(error),
  )
}

async function readAll(request: Incoming): Promise<Buffer> {
  const chunks: Buffer[] = []
  let size = 0
  for await (const chunk of request) {
    size += chunk.length
    if (size > MAX_BYTES) throw new HttpException('Too large', 413)
    chunks.push(chunk)
  }
  return Buffer.concat(chunks)
}

@Controller(PATH)
export class VintemController {
  readonly #receiver: VintemReceiver

  constructor(@Inject(VintemReceiver) receiver: VintemReceiver) {
    this.#receiver = receiver
  }

  /** Answers when it is done. If that fails, Vintém sends it again. */
  @Post()
  @HttpCode(200)
  async receive(@Req() { body, headers }: Incoming): Promise<void> {
    try {
      await this.#receiver.receive(body as Buffer, headers)
    } catch (error) {
      if (!(error instanceof WebhookVerificationError)) throw error
      Logger.warn(`A webhook was refused: ${error.message}`, CONTEXT)
      throw new HttpException('The signature is not that of a webhook of Vintém.', 401)
    }
  }
}
