import type { Uuid } from '../../src/lib/ids.ts'
import type { TestApi } from './api.ts'

/**
 * Lets all that a task writes of a company into tables fail, but for leases: what is due of it
 * stays due.
 */
export async function poisonRows(api: TestApi, companyId: Uuid, tables: string[]): Promise<void> {
  const leases = `'{next_at,next_attempt_at,attempts,ordered_at}'::text[]`
  await api.rows(
    `create or replace function refuse_poisoned() returns trigger language plpgsql as $$
     begin
       if tg_op = 'UPDATE' and to_jsonb(new) - ${leases} = to_jsonb(old) - ${leases} then
         return new;
       end if;
       raise exception 'poisoned' using errcode = 'check_violation', constraint = 'poisoned';
     end $$`,
  )
  for (const table of tables) {
    const owner = table.startsWith('simulated_') ? 'account_id' : 'company_id'
    for (const [row, when] of [
      ['new', 'insert or update'],
      ['old', 'delete'],
    ]) {
      await api.rows(
        `create trigger poisoned_${row} before ${when} on ${table} for each row
         when (${row}.${owner} = '${companyId}') execute function refuse_poisoned()`,
      )
    }
  }
}

export async function cure(api: TestApi): Promise<void> {
  await api.rows('drop function refuse_poisoned cascade')
}
