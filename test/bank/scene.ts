import { after } from 'node:test'
import { localDateOf } from '../../src/pix/local-time.ts'
import { manualClock } from '../support/api.ts'
import { type StyleOptions, startBank } from './bank.ts'
import { openCaller } from './caller.ts'

export const TXID = 'a1b2c3d4e5f6a7b8c9d0e1f2g3'
export const KEY = 'dona@example.com'
export const PERIOD = '?inicio=2026-08-01T00:00:00Z&fim=2026-12-31T00:00:00Z'

export const charge = (fields = {}) => ({
  calendario: { expiracao: 3600 },
  valor: { original: '12.34' },
  chave: KEY,
  ...fields,
})

/** A bank and a client of it, until the test is over. */
export async function open(style: StyleOptions = {}) {
  const clock = manualClock()
  const bank = await startBank({ clock, style })
  const caller = openCaller(bank)
  after(async () => {
    await caller.close()
    await bank.close()
  })
  return { clock, bank, ...caller, today: localDateOf(clock.now()) }
}
