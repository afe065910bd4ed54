import type { FairQueue, Release } from '../lib/fair-queue.ts'
import { ownLimits, type RateLimit } from '../lib/limits.ts'
import type { LimitAnswer, LimitCall, Verb } from './messages.ts'

/** One process that uses what is counted. */
type LimitClient = {
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

/**
 * Each limit is made when a process first makes it known, and anew if one that was started by
 * another version or configuration knows it with other numbers.
 */
function createNamedLimits() {
  const rates = new Map<string, RateLimit>()
  const queues = new Map<string, FairQueue>()
  const made = new Map<string, string>()
  const isNew = (kind: Verb, limit: string, ...numbers: number[]): boolean => {
    const [name, text] = [`${kind} ${limit}`, numbers.join()]
    const isKnown = made.get(name) === text
    made.set(name, text)
    return !isKnown
  }
  return {
    rates,
    queues,
    makeRate([, , limit, , perSecond = 0, burst = 0]: LimitCall): undefined {
      const isOther = isNew('rate', limit, perSecond, burst)
      if (isOther) rates.set(limit, ownLimits.rate(limit, perSecond, burst))
    },
    makeQueue([, , limit, , size = 0, perOwner = 0]: LimitCall): undefined {
      const isOther = isNew('queue', limit, size, perOwner)
      if (isOther) queues.set(limit, ownLimits.queue(limit, { size, perOwner }))
    },
  }
}

function joinLimits(
  limits: NamedLimits,
  answer: (answers: LimitAnswer[]) => void,
  note: (name: string) => undefined,
) {
  const { rates, makeRate, makeQueue } = limits
  const slots = createSlots(limits, answer)
  return {
    /** Undefined if there is no answer, or none yet. */
    carryOut(call: LimitCall): number | boolean | undefined {
      const [id, verb, limit, name, number = 0] = call
      switch (verb) {
        case 'rate':
          return makeRate(call)
        case 'queue':
          return makeQueue(call)
        case 'take':
          return rates.get(limit)!.take(name) as number
        case 'giveBack':
          return rates.get(limit)!.giveBack(name) as undefined
        case 'enter':
          return slots.enter(id, limit, name, number)
        case 'tryEnter':
          return slots.tryEnter(id, limit, name)
        case 'leave':
          return slots.leave(number)
        case 'note':
          return note(name)
        default:
          throw new Error(`there is no verb "${verb satisfies never}"`)
      }
    },
    end: slots.end,
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

/** The slots that a process has, by the call that has taken each. */
function createSlots({ queues }: NamedLimits, answer: (answers: LimitAnswer[]) => void) {
  const held = new Map<number, Release>()
  let hasEnded = false

  function hold(id: number, release: Release): void {
    if (hasEnded) release()
    else held.set(id, release)
  }

  return {
    enter(id: number, limit: string, owner: string, most_ms: number): true | undefined {
      const taken = queues.get(limit)!.take(owner, { most_ms })
      if (!(taken instanceof Promise)) {
        hold(id, taken)
        return true
      }
      const begin = (release: Release) => {
        hold(id, release)
        answer([[id, true]])
      }
      taken.then(begin, () => answer([[id, false]]))
      return undefined
    },
    tryEnter(id: number, limit: string, owner: string): boolean {
      const release = queues.get(limit)!.tryTake(owner) as Release | null
      if (release) hold(id, release)
      return release !== null
    },
    leave(id: number): undefined {
      held.get(id)?.()
      held.delete(id)
    },
    end(): void {
      hasEnded = true
      for (const release of held.values()) release()
    },
  }
}
