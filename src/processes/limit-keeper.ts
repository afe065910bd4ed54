import { type CountLimit, ownLimits, type RateLimit, type Slots } from '../lib/limits.ts'
import type { LimitAnswer, LimitCall } from './messages.ts'

/** One process that uses what is counted. */
export type LimitClient = {
  call(calls: LimitCall[]): void
  /** Gives back what it has: the process has ended. */
  end(): void
}

export type LimitKeeper = {
  join(
    answer: (answers: LimitAnswer[]) => void,
    /** Is called with names that are familiar, at first with all of them. */
    know: (names: string[]) => void,
  ): LimitClient
}

/** Counts for all processes of this machine. */
export function createLimitKeeper(): LimitKeeper {
  const limits = createNamedLimits()
  const familiar = createFamiliarNames()
  return {
    join(answer, know) {
      const client = joinLimits(limits, answer, familiar.note)
      const forget = familiar.join(know)
      return {
        call(calls) {
          const answers: LimitAnswer[] = []
          for (const call of calls) {
            const value = client.carryOut(call)
            if (call[0] !== 0 && value !== undefined) answers.push([call[0], value])
          }
          if (answers.length > 0) answer(answers)
        },
        end() {
          client.end()
          forget()
        },
      }
    },
  }
}

type NamedLimits = ReturnType<typeof createNamedLimits>

/** Each limit is made when a process first makes it known. */
function createNamedLimits() {
  const rates = new Map<string, RateLimit>()
  const counts = new Map<string, CountLimit>()
  const slots = new Map<string, Slots>()
  return {
    rates,
    counts,
    slots,
    makeRate([, , limit, , perSecond = 0, burst = 0]: LimitCall): undefined {
      if (!rates.has(limit)) rates.set(limit, ownLimits.rate(limit, perSecond, burst))
    },
    makeCount([, , limit, , max = 0]: LimitCall): undefined {
      if (!counts.has(limit)) counts.set(limit, ownLimits.count(limit, max))
    },
    makeShares([, , limit, , size = 0, max = 0, rest = 0]: LimitCall): undefined {
      if (!slots.has(limit)) slots.set(limit, ownLimits.shares(limit, size, max, rest))
    },
  }
}

function joinLimits(
  limits: NamedLimits,
  answer: (answers: LimitAnswer[]) => void,
  note: (name: string) => undefined,
) {
  const { rates, makeRate, makeCount, makeShares } = limits
  const counted = createCounted(limits)
  const places = createPlaces(limits, answer)
  return {
    /** Undefined if there is no answer, or none yet. */
    carryOut(call: LimitCall): number | boolean | undefined {
      const [id, verb, limit, name, number = 0] = call
      switch (verb) {
        case 'rate':
          return makeRate(call)
        case 'count':
          return makeCount(call)
        case 'shares':
          return makeShares(call)
        case 'take':
          return rates.get(limit)!.take(name) as number
        case 'giveBack':
          return rates.get(limit)!.giveBack(name) as undefined
        case 'add':
          return counted.add(limit, name)
        case 'remove':
          return counted.remove(limit, name)
        case 'enter':
          return places.enter(id, limit, name, number)
        case 'leave':
          return places.leave(number)
        case 'note':
          return note(name)
        default:
          throw new Error(`there is no verb "${verb satisfies never}"`)
      }
    },
    end(): void {
      counted.end()
      places.end()
    },
  }
}

/** Names that each process is to know. There are few, because only operators make keys. */
const MAX_FAMILIAR = 10_000

function createFamiliarNames() {
  const names = new Set<string>()
  const listeners = new Set<(names: string[]) => void>()
  return {
    note(name: string): undefined {
      if (names.has(name)) return
      if (names.size >= MAX_FAMILIAR) names.clear()
      names.add(name)
      for (const know of listeners) know([name])
    },
    /** Gives what ends it. */
    join(know: (names: string[]) => void): () => void {
      listeners.add(know)
      if (names.size > 0) know([...names])
      return () => listeners.delete(know)
    },
  }
}

/** What a process has added and not removed. */
function createCounted({ counts }: NamedLimits) {
  /** By limit, then by name. */
  const added = new Map<string, Map<string, number>>()
  function change(limit: string, name: string, by: 1 | -1): void {
    const names = added.get(limit) ?? new Map<string, number>()
    added.set(limit, names)
    const count = (names.get(name) ?? 0) + by
    if (count > 0) names.set(name, count)
    else names.delete(name)
  }
  return {
    add(limit: string, name: string): boolean {
      const isFree = counts.get(limit)!.add(name) as boolean
      if (isFree) change(limit, name, 1)
      return isFree
    },
    remove(limit: string, name: string): undefined {
      counts.get(limit)!.remove(name)
      change(limit, name, -1)
    },
    end(): void {
      for (const [limit, names] of added) {
        for (const [name, count] of names) {
          for (let left = count; left > 0; left -= 1) counts.get(limit)!.remove(name)
        }
      }
    },
  }
}

/** Only ends the wait here. The process that waits has an error of its own for it. */
const tooLate = () => new Error('waited for too long')

/** The places that a process has entered and not left. */
function createPlaces({ slots }: NamedLimits, answer: (answers: LimitAnswer[]) => void) {
  const entered = new Map<number, () => void>()
  let hasEnded = false
  return {
    enter(id: number, limit: string, name: string, most_ms: number): undefined {
      const stay = () =>
        new Promise<void>((resolve) => {
          if (hasEnded) return resolve()
          entered.set(id, resolve)
          answer([[id, true]])
        })
      const refuse = () => answer([[id, false]])
      slots.get(limit)!.during(name, most_ms, tooLate, stay).catch(refuse)
    },
    leave(id: number): undefined {
      entered.get(id)?.()
      entered.delete(id)
    },
    end(): void {
      hasEnded = true
      for (const leave of entered.values()) leave()
    },
  }
}
