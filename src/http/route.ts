import Type, { type Static, type TObject, type TSchema } from 'typebox'
import type { Author } from '../core/activity/rules.ts'
import type { Company, Scope } from '../core/companies/rules.ts'
import type { FullApp } from '../core/full-app.ts'
import type { IdempotencyRef, StoredResponse } from '../core/idempotency.ts'
import type { Changes } from '../core/operate.ts'
import type { Act } from '../db/database.ts'
import type { Writer } from '../lib/csv.ts'
import type { Language } from '../lib/language.ts'
import type { ProblemCode } from '../lib/problems.ts'
import type { Rest } from './request-slots.ts'
import type { Find } from './samples.ts'

/** What a handler answers. */
export type Result<Data = unknown> = {
  data: Data
  /** Of a list: after which record the next page begins. */
  next?: string | number | null
  /** False if the command was repeated and had nothing left to change. */
  changed?: boolean
  /** The same request has created the record before. */
  repeated?: boolean
  /**
   * False if the same request may do more later: its answer is not stored under its
   * Idempotency-Key.
   */
  isFinal?: boolean
}

/** Makes the answer for a command that stores it itself. Null without an Idempotency-Key. */
export type Seal<Data> = ((data: Data) => StoredResponse) | null

/** A request with a company, a version and a valid body. */
export type Call<Query = unknown, Body = unknown, Data = unknown> = {
  /** With the company's clock. */
  app: FullApp
  company: Company
  /** Who asks for it. */
  author: Author
  /** What they may do. */
  scopes: ReadonlySet<Scope>
  /** Of the sentences in the answer. */
  language: Language
  path: string
  params: Record<string, string>
  query: Query
  body: Body
  /** For a request that waits: others of its company are worked on meanwhile. */
  rest: Rest
  /** For a request that counts as several: waits until the rate of its key allows one more. */
  pace(): Promise<void>
  /** The hash of path and body as they were sent, by which a repeated request is recognized. */
  fingerprint(): Buffer
  /**
   * Runs a command in one transaction, in which the answer is stored under the Idempotency-Key and
   * the entry of the activity log is written. If the handler returns other data in the end, the
   * stored answer is replaced.
   */
  commit(act: Act<Result<Data>>): Promise<Result<Data>>
  /**
   * The same for a command that is written together with those of others. It stores the answer
   * itself, unless it can be repeated; the entry of the activity log is written soon after.
   */
  commitInGroup(act: (seal: Seal<Data>) => Promise<Result<Data>>): Promise<Result<Data>>
  /** Recognizes a repeated request, for commands that ask a bank before they write. */
  guard: IdempotencyRef | null
}

/** A body before its schema was checked: any field may be missing or of another type. */
export type Unchecked = Record<string, unknown>

export type CsvDialect = 'plain' | 'br'
export type CsvFile<Record> = {
  filename: string
  writers: { [name in CsvDialect]: Writer<Record> }
}

export type Route = {
  method: 'GET' | 'POST' | 'PUT' | 'DELETE'
  /** With `{name}` for parameters, as in OpenAPI. */
  path: string
  operationId: string
  /** Its name in the client: resource, then method. */
  client: [resource: string, method: string]
  /** What it changes, and how the activity log says it. An operation without it only reads. */
  changes?: Changes
  /** Finds a recent answer of it, for companies that compare versions. */
  sample?: Find
  tag:
    | 'Charges'
    | 'Plans'
    | 'Links'
    | 'Customers'
    | 'Products'
    | 'Webhooks'
    | 'Events'
    | 'Company'
    | 'Balance'
    | 'Refunds'
    | 'Payments'
    | 'Disputes'
    | 'Subscriptions'
    | 'Sandbox'
    | 'Requests'
    | 'Recipients'
  summary: string
  description?: string
  scope: Scope
  query?: TObject
  body?: TSchema
  /** A valid body, for the docs. */
  example?: object
  /** What its body may have, if that is more than others may. Few such bodies are taken at once. */
  largeBody?: { bytes: number; values: number }
  /**
   * Where leaving a field out means all of it, or money moves, or something is deleted, a field
   * that is not known is refused: it may be the one that was meant. Elsewhere it is ignored and
   * named in X-Ignored-Fields.
   */
  unknownFields?: 'refused'
  /**
   * Rules that a schema cannot express. They are checked together with the schema, so that all
   * violations are reported, and so the body may be anything.
   */
  check?(body: Unchecked, context: { company: Company; local: boolean }): (string | null)[]
  data: TSchema
  /** For a list that is also available as a file, with format=csv. */
  csv?: CsvFile<unknown>
  status: 200 | 201
  message: string
  problems: ProblemCode[]
  handle(call: Call): Promise<Result>
}

/** The answer of every deletion. */
export const Deleted = Type.Object({ id: Type.String({ description: 'What was deleted' }) })

type Of<Schema> = Schema extends TSchema ? Static<Schema> : undefined

/** Gives the handler of a route the types of its schemas. */
export function route<
  Data extends TSchema,
  Query extends TObject | undefined = undefined,
  Body extends TSchema | undefined = undefined,
>(
  definition: Omit<Route, 'query' | 'body' | 'data' | 'csv' | 'handle'> & {
    query?: Query
    body?: Body
    data: Data
    csv?: Static<Data> extends (infer Record)[] ? CsvFile<Record> : never
    handle(call: Call<Of<Query>, Of<Body>, Static<Data>>): Promise<Result<Static<Data>>>
  },
): Route {
  return definition as unknown as Route
}
