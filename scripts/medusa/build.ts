import { buildPlugin } from '../package.ts'

/** Where Medusa looks for what a plugin brings. */
const SERVER = '.medusa/server/src'

/** Writes the package `medusa-payment-vintem` into a folder. Its test checks its types. */
export const build = (folder: string): Promise<void> =>
  buildPlugin(
    folder,
    'packages/medusa-payment-vintem',
    ['index.ts', 'jobs/pull-vintem-payments.ts'],
    SERVER,
  )

if (import.meta.main) await build(process.argv[2]!)
