import type { Author } from '../core/activity/rules.ts'
import type { Problem } from '../lib/problems.ts'
import type { Session } from './auth.ts'

/** A message of an agent in the Model Context Protocol, and whose key it was sent with. */
export type AgentMessage = {
  /** By which our log finds it. */
  requestId: string
  session: Session
  author: Author
  message: unknown
  /** Those of the protocol. */
  headers: Record<string, string>
}

type AgentAnswer = {
  status: number
  /** JSON, or null if the message needs no answer. */
  body: string | null
  /** What was asked for, as the request log names it. */
  operation: string
  /** What it was refused with, if a tool has refused. */
  refusal: Problem | null
}

/** Answers messages of agents. */
export type Agents = {
  /** What the protocol says against an `Origin`; null if it may ask. */
  faultOfOrigin(origin: string | undefined): string | null
  answer(asked: AgentMessage): Promise<AgentAnswer>
}

/** For the logs: what is asked for, and the status that the API would answer with. */
export type AgentCall = { operation: string; status: number | null }
