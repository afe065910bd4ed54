import type { FullApp } from '../core/full-app.ts'
import type { Uuid } from '../lib/ids.ts'
import type { Assets } from './assets.ts'

/** The company that local mode is ready to try at once. */
export type Sandbox = { companyId: Uuid; apiKey: string }

/** What pages are made with. */
export type Site = {
  app: FullApp
  assets: Assets
  /** Null: this is no local mode, or its sandbox is not there yet. */
  sandbox(): Sandbox | null
  /** Puts a new company in its place. */
  resetSandbox(): Promise<unknown>
}

/** A form as its fields: the first value of each name, since no form of ours repeats one. */
export type Form = Record<string, string>
