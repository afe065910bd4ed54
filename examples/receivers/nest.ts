/**
 * Receives webhooks in NestJS. Add the controller to a module, and keep the bytes of bodies:
 *
 *     const app = await NestFactory.create(AppModule, { rawBody: true })
 *
 * VINTEM_WEBHOOK_SECRET holds the secret; while it is rotated both, with a space between.
 */

import type { IncomingMessage } from 'node:http'
import {
  BadRequestException,
  Controller,
  Headers,
  HttpCode,
  Post,
  type RawBodyRequest,
  Req,
} from '@nestjs/common'
import { unwrapWebhook, type WebhookEvent, WebhookVerificationError } from '@vintem/client/webhooks'

@Controller('webhook')
export class VintemController {
  @Post()
  @HttpCode(204)
  async receive(
    @Req() request: RawBodyRequest<IncomingMessage>,
    @Headers('webhook-id') id: string,
  ): Promise<void> {
    const secrets = (process.env.VINTEM_WEBHOOK_SECRET ?? '').split(' ')
    // The signature is over the bytes as they arrived.
    const event = await unwrapWebhook(request.rawBody ?? '', request.headers, secrets).catch(refuse)
    await this.handle(event, id)
  }

  /** Yours. An event comes at least once: store its id where you handle it, and skip a known one. */
  private async handle(event: WebhookEvent, id: string): Promise<void> {
    if (event.event === 'Charge.Paid') console.log(`${id}: ${event.charge.id} is paid`)
  }
}

function refuse(error: unknown): never {
  if (error instanceof WebhookVerificationError) throw new BadRequestException(error.message)
  throw error
}
