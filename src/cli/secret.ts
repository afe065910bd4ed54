import { setTimeout as pause } from 'node:timers/promises'
import {
  type FormerSecret,
  findFormerSecrets,
  findUnsavedSecret,
  notSaved,
} from '../core/installation.ts'
import {
  countSealed,
  type Progress,
  type Rotated,
  rotate,
  type Sealing,
} from '../core/secrets/rotate.ts'
import { listFollowers } from '../core/secrets/watch.ts'
import { type Command, columns, type Print, Refusal } from './command.ts'
import { commandAuthor, type Session, withDatabase } from './session.ts'

/** How often it is said how far a table is. */
const SAID_MS = 2_000

const rotateCommand: Command = {
  name: 'secret rotate',
  summary: 'Replace SECRET_KEY by SECRET_KEY_NEXT. If interrupted, repeat it to go on.',
  example: 'vintem secret rotate',
  operands: [],
  options: {},
  run: (_, print) =>
    withDatabase(async ({ databases, vault }) => {
      const say = (line: string) => void print(`${line}\n`)
      const report = reporter(print)
      const wait = (ms: number) => pause(ms)
      const author = commandAuthor()
      const rotated = await rotate({ databases, vault, author, report, say, pause: wait })
      if (rotated) return { json: rotated, text: describeRotated(rotated) }
      throw new Refusal(
        'SECRET_KEY_NEXT is missing: the secret that is to replace SECRET_KEY. Make one with "openssl rand -base64 32", and set it on every server first.',
      )
    }),
}

/** A line for each table, and one now and then for a large one. */
function reporter(print: Print) {
  let said_ms = performance.now()
  return ({ place, table, read, resealed, isDone }: Progress) => {
    if (!isDone && performance.now() - said_ms < SAID_MS) return
    if (isDone && resealed === 0) return
    said_ms = performance.now()
    const line = `place ${place}  ${table.padEnd(20)} ${read} rows read, ${resealed} sealed again`
    void print(`${line}${isDone ? '' : ' so far'}\n`)
  }
}

function describeRotated({ former, present, resealed, unreadable }: Rotated): string {
  const lost =
    unreadable === 0
      ? ''
      : `${unreadable} rows could not be opened with either secret, as before: see "vintem secret status".\n`
  return (
    `${resealed} rows were sealed again. Nothing is sealed with ${former} any more: it can go.\n${lost}` +
    `On each server set SECRET_KEY to what is in SECRET_KEY_NEXT (${present}), leave SECRET_KEY_NEXT\n` +
    'out, and start it again by "vintem restart". Then show the copy of it that you have saved, because\n' +
    'no backup is made before: vintem backup FILE … --secret-copy COPY. Keep the former secret only\n' +
    'for as long as you keep backups of before.\n'
  )
}

const status: Command = {
  name: 'secret status',
  summary: 'Say what is sealed with which secret, and whether the former one can go.',
  example: 'vintem secret status',
  operands: [],
  options: {},
  run: () => withDatabase(readStatus),
}

async function readStatus({ databases, vault }: Session) {
  const [formers, unsaved, followers, sealed] = await Promise.all([
    findFormerSecrets(databases[0]!),
    findUnsavedSecret(databases[0]!),
    listFollowers(databases[0]!),
    countSealed(databases),
  ])
  const secrets = [
    ...new Set(
      [...vault.each, ...formers.map(({ id }) => ({ keyId: id }))].map((one) => one.keyId),
    ),
  ]
  const found = new Set(sealed.flatMap(({ counts }) => [...counts.keys()]))
  const strange = [...found].filter((id) => !secrets.includes(id))
  const totals = [...secrets, ...strange].map((id) =>
    describeSecret(id, { vault, formers, sealed, followers }),
  )
  const rows = totals.map(({ id, state, envelopes, servers }) => [
    id,
    state,
    String(envelopes),
    String(servers),
  ])
  const left = sealed.flatMap(({ place, table, counts }) =>
    [...counts]
      .filter(([id]) => id !== vault.keyId)
      .map(([id, count]) => [String(place), table, id, String(count)]),
  )
  const heading = columns([['SECRET', 'STATE', 'ENVELOPES', 'SERVERS'], ...rows])
  const rest =
    left.length === 0 ? '' : `\n${columns([['PLACE', 'TABLE', 'SECRET', 'ENVELOPES'], ...left])}`
  const json = {
    secrets: totals,
    left: left.map(([place, table, secret, envelopes]) => ({
      place: Number(place),
      table,
      secret,
      envelopes: Number(envelopes),
    })),
  }
  const notice = unsaved === null ? '' : `\n${notSaved(unsaved)}\n`
  return { json, text: heading + rest + notice }
}

type Known = {
  vault: Session['vault']
  formers: FormerSecret[]
  sealed: Sealing[]
  followers: { keyIds: string[] }[]
}

function describeSecret(id: string, { vault, formers, sealed, followers }: Known) {
  const envelopes = sealed.reduce((sum, { counts }) => sum + (counts.get(id) ?? 0), 0)
  const servers = followers.filter(({ keyIds }) => keyIds.includes(id)).length
  const state = stateOf(id, vault, formers, envelopes)
  return { id, state, envelopes, servers }
}

/** A backup that was restored, or a server that hung, may have brought back what was gone. */
function stateOf(id: string, vault: Session['vault'], formers: FormerSecret[], envelopes: number) {
  if (id === vault.keyId) return 'present'
  const former = formers.find((one) => one.id === id)
  if (!former) return vault.each.some(({ keyId }) => keyId === id) ? 'next' : 'unknown'
  if (former.gone_at === null) return 'being replaced'
  return envelopes === 0 ? 'can go' : 'needed'
}

export const secretCommands = [rotateCommand, status]
