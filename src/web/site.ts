import type { FullFront } from '../core/full-app.ts'
import type { Operate, Operation } from '../core/operate.ts'
import type { CompareVersions, DiffVersions } from '../core/version-changes/rules.ts'
import type { FairQueue } from '../lib/fair-queue.ts'
import type { Uuid } from '../lib/ids.ts'
import type { Assets } from './assets.ts'

/** The company that local mode creates for trials. */
type Sandbox = { companyId: Uuid; apiKey: string }

/** What pages are made with. */
export type Site = {
  app: FullFront
  assets: Assets
  /** Carries out operations of the API for people who are signed in. */
  operate: Operate
  /** All operations of the API. */
  operations: Operation[]
  /** What changes between two versions of the API. */
  compareVersions: CompareVersions
  /** How the answers that a company uses would change. */
  diffVersions: DiffVersions
  /** The files that people of a company read at the same time. */
  files: FairQueue
  /** Aborts when this process takes no more connections. */
  closing: AbortSignal
  /** Null if this is not local mode, or if the sandbox is not created yet. */
  sandbox(): Sandbox | null
  /** Replaces the sandbox with a new company. */
  resetSandbox(): Promise<unknown>
}

/** The fields of a form. If a name is repeated, the first value counts. */
export type Form = Record<string, string>

/** Adds a field without what a text of the database cannot have. */
export function addField(form: Form, name: string, value: string): void {
  form[name] ??= value.replaceAll('\0', '').toWellFormed()
}
