import assert from 'node:assert/strict'
import { Client as McpClient, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import { AjvJsonSchemaValidator } from '@modelcontextprotocol/client/validators/ajv'
import type { Client, TestApi } from './api.ts'

// biome-ignore lint/suspicious/noExplicitAny: a test asserts what it expects of an answer
type Any = any

/** What a tool answers: a sentence, the data, and whether it was refused. */
export type ToolReply = { isError: boolean; text: string; json: Any; data: Any }

export type Agent = {
  mcp: McpClient
  names(): Promise<string[]>
  /** Calls a tool. The official client checks the answer by the schema that the tool lists. */
  call(name: string, args?: object): Promise<ToolReply>
  /** The same, and requires that it is not refused. */
  data(name: string, args?: object): Promise<Any>
  /** The code of the error with which a tool refuses. */
  refusal(name: string, args?: object): Promise<string>
}

/** Compiles each schema once, because it takes long and all agents get the same ones. */
class SharedValidator extends AjvJsonSchemaValidator {
  readonly #known = new Map<string, ReturnType<AjvJsonSchemaValidator['getValidator']>>()

  override getValidator<T>(schema: Schema): JsonSchemaValidator<T> {
    const text = JSON.stringify(schema)
    const validator = this.#known.get(text) ?? super.getValidator<T>(schema)
    this.#known.set(text, validator)
    return validator as JsonSchemaValidator<T>
  }
}
type Schema = Parameters<AjvJsonSchemaValidator['getValidator']>[0]
type JsonSchemaValidator<T> = ReturnType<typeof AjvJsonSchemaValidator.prototype.getValidator<T>>
const jsonSchemaValidator = new SharedValidator()

export type Era = 'legacy' | 'auto'

/** An agent that is connected with the key of a company, by the official client. */
export async function connectAgent(
  api: Pick<TestApi, 'url' | 'atEnd'>,
  { key }: Pick<Client, 'key'>,
  mode: Era = 'legacy',
): Promise<Agent> {
  const versionNegotiation = { mode }
  const info = { name: 'test', version: '1' }
  const mcp = new McpClient(info, { versionNegotiation, jsonSchemaValidator })
  const headers = { Authorization: `Bearer ${key}` }
  const transport = new StreamableHTTPClientTransport(new URL(`${api.url}/mcp`), {
    requestInit: { headers },
  })
  await mcp.connect(transport)
  api.atEnd(() => mcp.close())
  const call: Agent['call'] = async (name, args = {}) => {
    const result: Any = await mcp.callTool({ name, arguments: { ...args } })
    const [text, json] = result.content.map((one: { text: string }) => one.text)
    const { isError = false, structuredContent: data } = result
    return { isError, text, json: json && JSON.parse(json), data }
  }
  return {
    mcp,
    names: async () => (await mcp.listTools()).tools.map(({ name }) => name),
    call,
    async data(name, args) {
      const reply = await call(name, args)
      assert.equal(reply.isError, false, `${name}: ${reply.text}`)
      assert.deepEqual(reply.json, reply.data)
      return reply.data
    },
    async refusal(name, args) {
      const { isError, data, text } = await call(name, args)
      assert.ok(isError, `${name} is not refused: ${text}`)
      return data.error.code
    },
  }
}
