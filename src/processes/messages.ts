import type { Config } from '../config.ts'

/**
 * The version of these messages. Raise it when one changes: an upgrade without a full restart has
 * processes of the new version below a parent of the old one, and is refused if they differ.
 */
export const PROTOCOL = 1

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

/** What a process needs to begin. */
export type StartOrder = {
  kind: ProcessKind
  name: string
  databaseUrl: string
  config: SentConfig
}

/** What the version on the disk needs to know of the one that runs, to take its place. */
export type PrepareOrder = { protocol: number; databaseUrl: string; config: SentConfig }

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
  /** With it goes the socket of the process whose place the new one takes, if there is one. */
  | { start: StartOrder }
  /** If another has taken its place, it first waits for clients to close their connections. */
  | { stop: true; isReplaced: boolean }
  /** It sends the socket on which it listens, and goes on to accept connections. */
  | { handOver: true }
  | { prepare: PrepareOrder }
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
  | { listener: true }
  /** With what configuration processes of the version on the disk are to start. */
  | { prepared: SentConfig }
  /** What takes long while it is prepared, such as a migration. */
  | { said: string }
  | { calls: LimitCall[] }
  | { wakes: Wakes }
  | { question: number; answer: unknown }
  | { isAlive: true }
