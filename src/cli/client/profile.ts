import { createInterface } from 'node:readline'
import { Writable } from 'node:stream'
import { text as readAll } from 'node:stream/consumers'
import { Vintem, VintemError } from '../../../packages/client/src/index.ts'
import { isLoopback } from '../../lib/addresses.ts'
import { type Answer, ClientFault, type Command } from '../command.ts'
import { readEnvironment } from './environment.ts'
import { plain, tableOf } from './output.ts'
import {
  checkedKey,
  checkedUrl,
  readProfiles,
  requireName,
  type Target,
  writeProfiles,
} from './profiles.ts'

const add: Command = {
  name: 'profile add',
  summary: 'Save a server and a key under a name, so that no command needs them again.',
  example: 'vintem profile add local --url http://127.0.0.1:3000',
  operands: ['name'],
  options: {
    url: { value: 'URL', required: true, help: 'the server' },
    key: {
      value: 'KEY',
      help: 'the API key; without it you are asked, or it is read from standard input, so that other users of this machine do not see it',
    },
  },
  async run({ operands: [name = ''], options }) {
    requireName(name)
    const url = checkedUrl(options.url!, '--url')
    const typed = options.key === '-' ? undefined : options.key
    const key = checkedKey(typed ?? (await askForKey()), typed === undefined ? 'The key' : '--key')
    const owner = await ownerOf({ url, key })
    const { folder } = readEnvironment()
    const { current, saved } = readProfiles(folder)
    saved.set(name, { url, key })
    const path = writeProfiles(folder, { current: current ?? name, saved })
    const used =
      current === null || current === name
        ? 'It is used from now on.'
        : `Run vintem profile use ${name} to use it.`
    return {
      json: { name, url, path, current: current ?? name },
      text: `The profile ${name} is saved in ${path}: ${owner}. ${used}\n${warningOf(url)}`,
    }
  },
}

function warningOf(url: string): string {
  const { protocol, hostname } = new URL(url)
  if (protocol === 'https:' || isLoopback(hostname)) return ''
  return `The connection to ${hostname} is not encrypted: whoever sees it can read the key.\n`
}

/** Asks the server whose key it is, so that a wrong one is not saved. */
async function ownerOf(target: Target): Promise<string> {
  try {
    const { name, mode } = await new Vintem(target).company.get()
    return `${mode === 'live' ? 'the live company' : 'the sandbox'} ${plain(name)}`
  } catch (error) {
    if (error instanceof VintemError && error.status === 403) return 'the key is right'
    throw error
  }
}

async function askForKey(): Promise<string> {
  if (!process.stdin.isTTY) return (await readAll(process.stdin)).trim()
  const hidden = new Writable({ write: (_chunk, _encoding, done) => done() })
  const input = createInterface({ input: process.stdin, output: hidden, terminal: true })
  process.stderr.write('API key (it is not shown): ')
  try {
    return await new Promise<string>((resolve, reject) => {
      input.once('line', (line) => resolve(line.trim()))
      input.once('close', () => reject(new ClientFault('No key was given.')))
    })
  } finally {
    process.stderr.write('\n')
    input.close()
  }
}

const START = 15

const list: Command = {
  name: 'profile list',
  summary: 'List the saved profiles, and which one is used.',
  example: 'vintem profile list',
  operands: [],
  options: {},
  async run(): Promise<Answer> {
    const { current, saved } = readProfiles(readEnvironment().folder)
    const shown = [...saved].map(([name, { url, key }]) => ({
      name,
      url,
      keyStart: key.slice(0, START),
      current: name === current,
    }))
    const rows = shown.map(({ name, url, keyStart, current }) => [
      current ? '*' : '',
      name,
      url,
      `${keyStart}…`,
    ])
    const none = 'No profile is saved. Run vintem profile add.'
    return { json: shown, text: tableOf(['', 'NAME', 'URL', 'KEY'], rows, none) }
  },
}

const use: Command = {
  name: 'profile use',
  summary: 'Choose the profile that is used when a command names none.',
  example: 'vintem profile use local',
  operands: ['name'],
  options: {},
  async run({ operands: [name = ''] }) {
    const { folder } = readEnvironment()
    const { saved } = readProfiles(folder)
    const { url } = requireSaved(saved, name)
    writeProfiles(folder, { current: name, saved })
    return { json: { name, url }, text: `Commands ask ${url} from now on.\n` }
  },
}

const remove: Command = {
  name: 'profile remove',
  summary: 'Forget a saved profile. Its key keeps working.',
  example: 'vintem profile remove local',
  operands: ['name'],
  options: {},
  async run({ operands: [name = ''] }) {
    const { folder } = readEnvironment()
    const { current, saved } = readProfiles(folder)
    requireSaved(saved, name)
    saved.delete(name)
    writeProfiles(folder, { current: current === name ? null : current, saved })
    return { json: { name, removed: true }, text: `The profile ${name} is removed.\n` }
  },
}

function requireSaved(saved: Map<string, Target>, name: string): Target {
  const found = saved.get(name)
  if (found) return found
  throw new ClientFault(`No profile is called ${name}. "vintem profile list" shows them all.`)
}

export const profileCommands = [add, list, use, remove]
