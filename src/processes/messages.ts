import type { Config } from '../config.ts'

/** What a process is for: it answers requests, or it runs the tasks. */
export type ProcessKind = 'api' | 'worker'

/** What a process needs to begin. All are given the same, whenever they are started. */
export type StartOrder = {
  kind: ProcessKind
  name: string
  databaseUrl: string
  /** Messages are JSON, so the secret is base64. */
  config: Omit<Config, 'secretKey'> & { secretKey: string }
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
