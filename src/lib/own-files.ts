import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

/**
 * Files of this package are found by `imports` of the package.json that is next above: that of the
 * clone, or of the package that `scripts/vintem/build.ts` makes, where they have other names.
 */
const PACKAGE = fileURLToPath(import.meta.resolve('#package.json'))

/** The path of a file or folder beside package.json. */
export const ownFile = (...names: string[]): string => join(dirname(PACKAGE), ...names)

/** The path of a script that runs in a thread or process of its own, by its name in `imports`. */
export const ownScript = (name: `#${string}`): string => fileURLToPath(import.meta.resolve(name))
