import type { Config } from '../config.ts'

/** What a process is for: it answers requests, or it runs the tasks. */
export type ProcessKind = 'api' | 'worker'

/** Messages are JSON, so secrets are base64. */
export type SentConfig = Omit<Config, 'secretKey' | 'secretKeyNext'> & {
  secretKey: string
  secretKeyNext: string | null
}

export const sendConfig = (config: Config): SentConfig => ({
  ...config,
  secretKey: config.secretKey.toString('base64'),
  secretKeyNext: config.secretKeyNext?.toString('base64') ?? null,
})

export const receiveConfig = ({ secretKey, secretKeyNext, ...config }: SentConfig): Config => ({
  ...config,
  secretKey: Buffer.from(secretKey, 'base64'),
  secretKeyNext: secretKeyNext === null ? null : Buffer.from(secretKeyNext, 'base64'),
})

/** What a process needs to begin. All are given the same, whenever they are started. */
export type StartOrder = {
  kind: ProcessKind
  name: string
  databaseUrl: string
  config: SentConfig
}

/** A call of something that is counted in the parent. A call with the id 0 has no answer. */
export type LimitCall = [id: number, verb: Verb, limit: string, name: string, ...numbers: number[]]

/** The first two make a limit known, and the others use one. */
export type Verb = 'rate' | 'queue' | 'take' | 'giveBack' | 'enter' | 'tryEnter' | 'leave' | 'note'

export type LimitAnswer = [id: number, value: number | boolean]

/** Tasks for which there is work, and whether anything was committed. */
export type Wakes = { woken: string[]; hasWritten: boolean }

/** What the parent asks of a process. */
export type Question = 'metrics' | 'faults'

export type ToChild =
  | { start: StartOrder }
  | { stop: true }
  | { answers: LimitAnswer[] }
  /** Hashes of API keys that have worked in a process. */
  | { familiar: string[] }
  | { wakes: Wakes }
  | { question: number; about: Question }
  /** Whether the process still reads its messages. It sends back that it is alive. */
  | { ping: true }

export type ToParent =
  | { isServing: true }
  | { fault: string }
  | { calls: LimitCall[] }
  | { wakes: Wakes }
  | { question: number; answer: unknown }
  | { isAlive: true }
