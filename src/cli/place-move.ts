import { readFileSync } from 'node:fs'
import { recordActivity } from '../core/activity/record.ts'
import { findFormerSecrets } from '../core/installation.ts'
import { type PlannedMove, planMoves, type Weighed } from '../core/moves/balance.ts'
import { cancelMove, type Moved, moveCompany } from '../core/moves/move.ts'
import { locate } from '../core/places/directory.ts'
import { findKnown, listMoving } from '../core/places/store.ts'
import type { Database } from '../db/database.ts'
import { countEntries } from '../ledger/post.ts'
import { forEachLimited } from '../lib/for-each-limited.ts'
import { isUuid } from '../lib/ids.ts'
import { OperatorFault } from '../lib/operator-fault.ts'
import { type Answer, type Args, type Command, columns, Refusal, UsageFault } from './command.ts'
import { requireCompany } from './records.ts'
import { commandAuthor, type Session, withDatabase } from './session.ts'

/** A move waits most of its time, for servers and for requests that began before. */
const MOVES_AT_ONCE = 4

type Places = Pick<Session, 'databases' | 'urls'>

const move: Command = {
  name: 'place move',
  summary: 'Move companies to another place while they work. If interrupted, repeat it to go on.',
  example: 'vintem place move 019a8c5e-2f60-7d31-9d5c-4b1d2e6f7a80 2',
  operands: ['company-id', 'place'],
  mayOmitOperands: true,
  options: {
    companies: {
      value: 'FILE',
      help: 'move all companies of a file, which has one id in each line; then name the place only',
    },
  },
  run(args) {
    const { companies } = args.options
    return companies === undefined ? moveTyped(args) : moveListed(args, companies)
  },
}

function moveTyped({ operands: [id, place] }: Args): Promise<Answer> {
  if (id === undefined || place === undefined) {
    throw new UsageFault(`Missing: ${id === undefined ? '<company-id>, ' : ''}<place>.`)
  }
  return withDatabase(async (session) => moveOne(session, id, readPlace(session, place)))
}

function moveListed({ operands: [place, ...more] }: Args, file: string): Promise<Answer> {
  if (place === undefined || more.length > 0) {
    throw new UsageFault('With --companies FILE, name the place and nothing else.')
  }
  const ids = readIds(file)
  return withDatabase((session) => {
    const to = readPlace(session, place)
    return moveAll(
      session,
      ids.map((companyId) => ({ companyId, to })),
    )
  })
}

function readPlace({ databases }: Places, text: string): number {
  if (databases[Number(text) - 1]) return Number(text)
  throw new Refusal(`There are the places 1 to ${databases.length}. See "vintem place list".`)
}

/** Blank lines and what follows a # are left out. */
function readIds(file: string): string[] {
  let text: string
  try {
    text = readFileSync(file, 'utf8')
  } catch (error) {
    throw new Refusal(`--companies: ${file} cannot be read: ${(error as Error).message}.`)
  }
  const ids = text.split('\n').map((line) => line.replace(/#.*/, '').trim())
  const found = [...new Set(ids.filter(Boolean))]
  if (found.length === 0) throw new Refusal(`--companies: ${file} has no id.`)
  return found
}

type Asked = { companyId: string; to: number }
type Result = Asked & { fault: string | null; text: string }

/** Moves several companies. One that cannot be moved stops no other. */
async function moveAll(session: Places, asked: Asked[]): Promise<Answer> {
  const results: Result[] = []
  await forEachLimited(MOVES_AT_ONCE, asked, async ({ companyId, to }) => {
    const result = await tryMove(session, { companyId, to })
    results.push(result)
    process.stderr.write(`${results.length} of ${asked.length}: ${result.text.trim()}\n`)
  })
  const failed = results.filter(({ fault }) => fault !== null)
  const rest = failed.map(({ companyId, fault }) => `  ${companyId}  ${fault}\n`).join('')
  const advice = rest && `These were not moved; repeat the command to go on:\n${rest}`
  return {
    json: results.map(({ companyId, to, fault }) => ({ companyId, place: to, fault })),
    text: `${asked.length - failed.length} of ${asked.length} companies are where they should be.\n${advice}`,
    failed: failed.length > 0,
  }
}

async function tryMove(session: Places, { companyId, to }: Asked): Promise<Result> {
  try {
    const { text } = await moveOne(session, companyId, to)
    return { companyId, to, fault: null, text }
  } catch (error) {
    if (!(error instanceof Refusal || error instanceof OperatorFault)) throw error
    return { companyId, to, fault: error.message, text: error.message }
  }
}

async function moveOne({ databases, urls }: Places, text: string, to: number) {
  const formers = await findFormerSecrets(databases[0]!)
  if (formers.some(({ gone_at }) => gone_at === null)) {
    throw new Refusal('A secret is being replaced. Finish that first with "vintem secret rotate".')
  }
  const { company, lives } = await findWhere(databases, text)
  const { id: companyId, name } = company
  const known = await Promise.all(databases.map((one) => findKnown(one, companyId)))
  const leaving = known.findIndex(({ state }) => state === 'leaving') + 1
  const left = known.findIndex(({ state, otherPlace }) => state === 'left' && otherPlace === to) + 1
  if (leaving > 0 && to === leaving) {
    await cancelMove({ companyId, urls, from: leaving, to: known[leaving - 1]!.otherPlace! })
    return answer(companyId, to, `The move of ${name} is canceled. It lives in place ${to}.\n`)
  }
  const going = known[leaving - 1]?.otherPlace ?? null
  if (going !== null && going !== to) {
    throw new Refusal(
      `${name} is being moved to place ${going}. Finish that with "vintem place move ${companyId} ${going}", or cancel it with "vintem place move ${companyId} ${leaving}".`,
    )
  }
  const pending = known.findIndex(({ state }) => state === 'left') + 1
  if (pending > 0 && left === 0) {
    throw new Refusal(
      `The last move of ${name} is not finished. Run "vintem place move ${companyId} ${lives}" first.`,
    )
  }
  if (lives === to && left === 0) {
    return answer(companyId, to, `${name} lives in place ${to} already.\n`)
  }
  const moved = await moveCompany({ companyId, urls, from: left || lives, to })
  await recordActivity(databases[to - 1]!, companyId, commandAuthor(), {
    action: 'company.move',
    record: { type: 'company', id: companyId },
  })
  return answer(companyId, to, described(name, to, moved), moved)
}

const described = (name: string, to: number, { refused_ms, rows }: Moved): string =>
  `${name} lives in place ${to} now. ${rows} rows were removed from the former one.\n` +
  (refused_ms > 0 ? `It was refused for ${(refused_ms / 1000).toFixed(1)} seconds.\n` : '')

const answer = (companyId: string, place: number, text: string, moved?: Moved) => ({
  json: { companyId, place, ...(moved ? { refusedMs: Math.round(moved.refused_ms) } : {}) },
  text,
})

/** A company, and the number of the place where it lives. */
async function findWhere(databases: Database[], text: string) {
  const place = isUuid(text.toLowerCase()) ? await locate(databases, text.toLowerCase()) : null
  const company = await requireCompany(databases[place ?? 0]!, text)
  return { company, lives: (place ?? 0) + 1 }
}

const balance: Command = {
  name: 'place balance',
  summary: 'Move companies so that places have about as many entries in their books.',
  example: 'vintem place balance --dry-run',
  operands: [],
  options: { 'dry-run': { help: 'only show which companies would be moved' } },
  run: ({ switches }) =>
    withDatabase(async (session) => {
      const begun = await listBegun(session)
      const isShown = switches.has('dry-run')
      if (begun.length > 0 && !isShown) {
        const done = await moveAll(session, begun)
        if (done.failed) return done
      }
      const moves = planMoves(await Promise.all(session.databases.map(weigh)))
      if (isShown) return describePlan([...begun, ...moves])
      return moves.length > 0
        ? moveAll(session, moves)
        : { json: [], text: 'The places are balanced.\n' }
    }),
}

/** The companies of a place that are not being moved, by the entries of their books. */
async function weigh(db: Database): Promise<Weighed[]> {
  const [books, moving] = await Promise.all([countEntries(db), listMoving(db)])
  const away = new Set(moving.map(({ companyId }) => companyId))
  return books
    .filter(({ companyId }) => !away.has(companyId))
    .map(({ companyId, entries }) => ({ companyId, weight: entries + 1 }))
}

/** Moves that were interrupted. */
async function listBegun({ databases }: Places): Promise<PlannedMove[]> {
  const known = await Promise.all(databases.map((db) => listMoving(db)))
  return known.flatMap((moves, i) =>
    moves
      .filter(({ state }) => state === 'leaving' || state === 'left')
      .map(({ companyId, otherPlace }) => ({ companyId, from: i + 1, to: otherPlace })),
  )
}

const describePlan = (moves: PlannedMove[]): Answer => ({
  json: moves,
  text:
    moves.length === 0
      ? 'The places are balanced.\n'
      : columns([
          ['COMPANY ID', 'FROM', 'TO'],
          ...moves.map(({ companyId, from, to }) => [companyId, String(from), String(to)]),
        ]),
})

export const moveCommands = [move, balance]
