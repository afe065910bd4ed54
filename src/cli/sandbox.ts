import { loadConfig } from '../config.ts'
import { resetSandbox } from '../sandbox.ts'
import { type Command, columns, Refusal } from './command.ts'
import { withApp } from './session.ts'

const reset: Command = {
  name: 'sandbox reset',
  summary: 'Begin anew with a fresh sandbox company and key (local mode).',
  operands: [],
  options: {},
  async run() {
    if (!loadConfig().local) {
      throw new Refusal(
        'DATABASE_URL is set, and only local mode has a sandbox of its own. Run vintem company create for another sandbox company.',
      )
    }
    const { companyId, apiKey } = await withApp(resetSandbox)
    const rows = [
      ['Company id', companyId],
      ['API key', apiKey],
    ]
    return {
      json: { companyId, apiKey },
      text:
        `A fresh sandbox company is ready, at the present time and with R$ 1.000,00.\n\n${columns(rows, '  ')}\n` +
        'The keys of the former one are revoked and its webhooks get nothing more. Its records stay.\n',
    }
  },
}

export const sandboxCommands = [reset]
