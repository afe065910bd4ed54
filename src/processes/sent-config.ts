import type { Config } from '../config.ts'

/** Messages are JSON, so the secret is base64. */
export type SentConfig = Omit<Config, 'secretKey'> & { secretKey: string }

export const toSent = (config: Config): SentConfig => ({
  ...config,
  secretKey: config.secretKey.toString('base64'),
})

export const fromSent = (sent: SentConfig): Config => ({
  ...sent,
  secretKey: Buffer.from(sent.secretKey, 'base64'),
})
