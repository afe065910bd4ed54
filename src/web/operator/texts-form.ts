import type { MailReason } from '../../core/mails/rules.ts'

export type Section =
  | 'overview'
  | 'companies'
  | 'banks'
  | 'work'
  | 'webhooks'
  | 'mails'
  | 'people'
  | 'activity'

type SuspensionTexts = {
  link: string
  title(name: string): string
  text: string
  button: string
}

/** The texts of the operator's pages, in each language. */
export type OperatorTexts = {
  menu: string
  sections: Record<Section, string>
  activity: string
  company: string
  find: string
  never: string
  fine: string
  upTo(count: number): string
  about(count: string): string
  /** One of several databases does not answer. */
  unreached(place: number): string
  overview: {
    attention: string
    allFine: string
    differing(count: number): string
    failingWebhooks: string
    setAside(count: number): string
    failedMails: string
    certificates(count: number): string
    byHand(count: number): string
    versions: string
    software: string
    node: string
    database: string
    migrations: string
    pinned(version: string): string
    companies(count: number): string
    databaseTitle: string
    /** One of several databases that companies are divided among. */
    place: string
    size: string
    connections: string
    ofMost(used: number, most: number): string
    /** Connections of the process that shows the page, by what they are for. */
    pools: Record<'requests' | 'tasks' | 'hot' | 'light' | 'long', string>
    pool(open: number, idle: number, waiting: number): string
    tables: string
    tablesHint: string
    table: string
    rows: string
    bytes: string
  }
  companies: {
    placeholder: string
    mode: string
    modes: Record<'sandbox' | 'live', string>
    volume: string
    balance: string
    audit: string
    lastActive: string
    differs: string
    audited: string
    notAudited: string
    created: string
    version: string
    taxId: string
    id: string
    members: string
    differenceHint: string
    suspended: string
    suspendedSince: string
    meaning: string
    suspend: SuspensionTexts
    resume: SuspensionTexts
    done: Record<'suspend' | 'resume', string>
  }
  banks: {
    profile: string
    payouts: string
    byHand: string
    byBank: string
    asked: string
    callbacks: string
    certificate: string
    state: string
    ok: string
    failing(times: number): string
    ending: string
    ended: string
    empty: string
  }
  work: {
    queues: string
    queuesHint: string
    task: string
    due: string
    oldest: string
    late(minutes: number): string
    onTime: string
    setbacks: string
    setbacksHint: string
    noSetbacks: string
    error: string
    times: string
    since: string
    differences: string
    noDifferences: string
    difference: string
    at: string
    tasks: Record<string, string>
  }
  webhooks: {
    name: string
    host: string
    since: string
    failures: string
    state: string
    paused: string
    retrying: string
    inactive: string
    empty: string
  }
  mails: {
    waiting: string
    failed: string
    kind: string
    reason: string
    reasons: Record<MailReason, string>
    attempts: string
    created: string
    next: string
    given: string
    noWaiting: string
    noFailed: string
    hint: string
    kinds: Record<string, string>
  }
  people: {
    placeholder: string
    person: string
    all: string
    operators: string
    operator: string
    companies: string
    secondFactor: string
    yes: string
    no: string
    lastSeen: string
    created: string
    lists: string
  }
}
