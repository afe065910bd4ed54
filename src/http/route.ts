import Type, { type Static, type TObject, type TSchema } from 'typebox'
import type { Company, Scope } from '../core/companies/rules.ts'
import type { FullApp } from '../core/full-app.ts'
import type { IdempotencyRef, StoredResponse } from '../core/idempotency.ts'
import type { Tx } from '../db/database.ts'
import type { Writer } from '../lib/csv.ts'
import type { ProblemCode } from '../lib/problems.ts'
import type { LongPage } from './long-pages.ts'

/** One request that has a company, a version and a valid body, on its way to its answer. */
export type Call<Query = unknown, Body = unknown, Data = unknown> = {
  /** In the company's own time. */
  app: FullApp
  company: Company
  path: string
  params: Record<string, string>
  query: Query
  body: Body
  /** Headers of the answer beyond those that every answer has. */
  headers: Record<string, string>
  /** What a list waits for before it becomes long. */
  longPage: LongPage
  /** The hash of path and body as they were sent, by which the same request is known again. */
  fingerprint(): Buffer
  /** Runs a command in one transaction, in which the answer is stored under the Idempotency-Key. */
  commit(act: (tx: Tx) => Promise<Data>): Promise<Data>
  /**
   * Replaces the committed answer with a later one, for commands whose work goes on after the
   * commit.
   */
  revise(data: Data): Promise<Data>
  /** How the same request is known again where a bank is asked before anything is written. */
  guard: IdempotencyRef | null
  /** Makes the answer for a command that stores it by itself; null without a key. */
  seal: ((data: Data) => StoredResponse) | null
  /** The answer that `seal` made last is stored, and so it is the answer to the request. */
  markStored(): void
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
  tag:
    | 'Charges'
    | 'Customers'
    | 'Products'
    | 'Webhooks'
    | 'Events'
    | 'Company'
    | 'Balance'
    | 'Refunds'
    | 'Payments'
    | 'Subscriptions'
    | 'Sandbox'
  summary: string
  description?: string
  scope: Scope
  query?: TObject
  body?: TSchema
  /** A body that works as it is, for the docs. */
  example?: object
  /**
   * Rules that a schema cannot say, checked beside it so that every violation is reported at once.
   * The body may be anything yet.
   */
  check?(body: Unchecked, around: { company: Company; local: boolean }): (string | null)[]
  data: TSchema
  /** A list that is also given as a file, to a query with format=csv. */
  csv?: CsvFile<unknown>
  status: 200 | 201
  message: string
  problems: ProblemCode[]
  handle(call: Call): Promise<unknown>
}

/** What every deletion answers with. */
export const Deleted = Type.Object({ id: Type.String({ description: 'What was deleted' }) })

type Of<Schema> = Schema extends TSchema ? Static<Schema> : undefined

/** Ties a route's handler to its schemas; a route is schema, command and view. */
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
    handle(call: Call<Of<Query>, Of<Body>, Static<Data>>): Promise<Static<Data>>
  },
): Route {
  return definition as unknown as Route
}
