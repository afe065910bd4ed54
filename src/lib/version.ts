import { readFileSync } from 'node:fs'

const path = new URL('../../package.json', import.meta.url)

/** The version of this package. */
export const VERSION: string = JSON.parse(readFileSync(path, 'utf8')).version
