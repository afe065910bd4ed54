import { resolve } from 'node:path'
import { bareEnvironment } from '../config.ts'

/**
 * The whole path of a file that a user has named. Commands run in the folder of the installation,
 * but users name files from their own folder, which bin/vintem.mjs and package.json hand over.
 */
export const typedPath = (path: string): string =>
  resolve(bareEnvironment().VINTEM_CALLER_FOLDER ?? '', path)
