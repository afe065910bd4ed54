import type { Client, TestApi } from './api.ts'

export const SANDBOX = '/sandbox'

/** Makes a company one that another has made, with that many seconds left. */
export async function asMade(api: TestApi, { company }: Client, seconds = 3600): Promise<void> {
  const expiresAt = new Date(api.app.systemClock.now().getTime() + seconds * 1000)
  await api.rows(
    'insert into sandboxes (company_id, made_by, expires_at) values ($1, gen_random_uuid(), $2)',
    [company.id, expiresAt],
  )
}
