import {
  type CallToolResult,
  type Tool as ListedTool,
  ProtocolError,
  ProtocolErrorCode,
} from '@modelcontextprotocol/server'
import type { TObject } from 'typebox'
import { forCompany, withCompanyClock } from '../core/companies/clock.ts'
import type { Company } from '../core/companies/rules.ts'
import type { FullApp } from '../core/full-app.ts'
import type { ActOnce, Operate } from '../core/operate.ts'
import type { AgentMessage } from '../http/agent-message.ts'
import { requireScope, type Session } from '../http/auth.ts'
import { inputReader } from '../http/input.ts'
import { describeError } from '../lib/log.ts'
import { Problem, problem } from '../lib/problems.ts'
import { plainText, withPlainTexts } from './texts.ts'
import { type Caller, isWriting, type Tool } from './tool.ts'
import { TOOLS } from './tools/all.ts'

/** The keywords that agents read. Their validators do not know our own keywords and formats. */
const KEYWORDS = new Set([
  'type',
  'enum',
  'description',
  'properties',
  'required',
  'items',
  'minimum',
  'maximum',
  'minLength',
  'maxLength',
  'minItems',
  'maxItems',
  'pattern',
  'default',
])

type JsonSchema = { type: 'object'; [keyword: string]: unknown }

/** A schema of ours as plain JSON Schema. */
const schemaOf = (schema: TObject): JsonSchema =>
  ({ ...plain(schema), type: 'object' }) as JsonSchema

function plain(schema: object): object {
  const entries = Object.entries(schema).filter(([keyword]) => KEYWORDS.has(keyword))
  return Object.fromEntries(
    entries.map(([keyword, value]) => {
      if (keyword === 'items') return [keyword, plain(value)]
      if (keyword !== 'properties') return [keyword, value]
      const fields = Object.entries(value as object).map(([name, field]) => [name, plain(field)])
      return [keyword, Object.fromEntries(fields)]
    }),
  )
}

/**
 * Creates the reader of a tool's arguments. All violations are reported together. An argument that
 * the tool does not have is refused, because an agent may rely on it.
 */
function argumentsReader(schema: TObject): (given: unknown) => object {
  // Made when the tool is first called, because it takes long and most servers have no agents.
  let read: ReturnType<typeof inputReader> | undefined
  return (given) => {
    read ??= inputReader({ body: schema, refused: 'an argument of this tool' })
    return read({ body: { value: given, faults: [] }, query: {}, session: null }).body as object
  }
}

/** A tool as agents see it, and the reader of its arguments. */
type Offered = { tool: Tool; listed: ListedTool; read(given: unknown): object }

const OFFERED: Offered[] = TOOLS.map((tool) => ({
  tool,
  listed: {
    name: tool.name,
    title: tool.title,
    description: tool.description,
    inputSchema: { ...schemaOf(tool.input), additionalProperties: false },
    outputSchema: schemaOf(tool.output),
    annotations: {
      title: tool.title,
      readOnlyHint: !isWriting(tool),
      destructiveHint: tool.isDestructive ?? false,
      // The same arguments have the same idempotency key, and so no further effect.
      idempotentHint: true,
      // Payers and banks are outside.
      openWorldHint: isWriting(tool) && !tool.isSandbox,
    },
  },
  read: argumentsReader(tool.input),
}))

/** One message: who has sent it, and what is noted about it for the logs. */
export type Exchange = { asked: AgentMessage; operation: string; refusal: Problem | null }

/** Whether a company has a tool, whatever the key. */
const has = ({ mode }: Company, { isSandbox }: Tool): boolean => mode === 'sandbox' || !isSandbox

/** The tools that a key has. */
export const toolsOf = ({ company, scopes }: Session): ListedTool[] =>
  OFFERED.filter(({ tool }) => scopes.has(tool.scope) && has(company, tool)).map(
    ({ listed }) => listed,
  )

type CallTool = (exchange: Exchange, name: string, given: unknown) => Promise<CallToolResult>

export function createCall(anyApp: FullApp, operate: Operate, actOnce: ActOnce): CallTool {
  function callerOf({ session, author }: AgentMessage): Caller {
    const { app, company, scopes } = session
    const actor = { app, company, scopes: [...scopes], author }
    return {
      app: withCompanyClock(forCompany(app, company), company),
      company,
      can: (scope) => scopes.has(scope),
      operate: (operationId, input) => operate(operationId, actor, input),
      actOnce: (name, { idempotencyKey: once, ...input }, act) =>
        actOnce(app, company, { name, input, once }, act),
    }
  }

  return async (exchange, name, given) => {
    const { session } = exchange.asked
    const offered = OFFERED.find(({ tool }) => tool.name === name && has(session.company, tool))
    if (!offered) throw new ProtocolError(ProtocolErrorCode.InvalidParams, 'There is no such tool.')
    exchange.operation = `mcp:${offered.tool.name}`
    try {
      requireScope(session, offered.tool.scope)
      const args = offered.read(given) as never
      return succeeded(await offered.tool.run(callerOf(exchange.asked), args))
    } catch (error) {
      exchange.refusal = error instanceof Problem ? error : unexpected(anyApp, exchange, error)
      return failed(exchange.refusal)
    }
  }
}

function unexpected(anyApp: FullApp, { asked }: Exchange, error: unknown): Problem {
  const { requestId } = asked
  anyApp.log.error({ ...describeError(error as Error), reqId: requestId }, 'unexpected error')
  return problem('internal_error', `A fault of ours. Quote the request id ${requestId}.`)
}

/**
 * A sentence of ours, and the data as JSON, because not every client shows structured content. What
 * strangers have written is only in values of the data.
 */
function succeeded({ text, data }: { text: string; data: object }): CallToolResult {
  const shown = withPlainTexts(data) as Record<string, unknown>
  const content = [text, JSON.stringify(shown)].map((one) => ({ type: 'text' as const, text: one }))
  return { content, structuredContent: shown }
}

function failed({ code, status, message, items, headers }: Problem): CallToolResult {
  const retryAfter = headers['Retry-After']
  const error = withPlainTexts({
    code,
    status,
    message,
    errors: items,
    ...(retryAfter ? { retryAfterSeconds: Number(retryAfter) } : {}),
  })
  const lines = items.map(({ description }) => `${code}: ${plainText(description, 500)}`)
  return {
    isError: true,
    content: [{ type: 'text', text: lines.join('\n') }],
    structuredContent: { error },
  }
}
