import { createRandom } from '../faults/random.ts'

/**
 * What may happen to a call. Lost and failed answers come after the effect; a call that is dropped,
 * refused, or answered by a proxy before the bank, has none.
 */
export type Fault =
  | 'lose answer'
  | 'drop'
  | '5xx'
  | '5xx after effect'
  | 'refuse'
  | 'conflict'
  | 'empty after effect'
  | 'slow'
  | 'html'
  | 'html 200'
  | 'gateway 404'
  | 'expired token'
  | 'too many'
  | 'busy'
  | 'busy for long'

/** What may happen to a callback. One that is held or out of order comes later. */
export type CallbackFault = 'lost' | 'doubled' | 'reordered' | 'held'

/** An operation as `PUT /cob/{txid}`; a text matches those that begin with it, `*` all. */
export type Matcher = string | RegExp

export type Rates = {
  calls?: Partial<Record<Fault, number>>
  callbacks?: Partial<Record<CallbackFault, number>>
}

export type Faults = {
  /** The next calls that match have this fault, each as often as it is said. */
  next(matcher: Matcher, fault: Fault, times?: number): void
  /** The next callbacks have it. */
  nextCallback(fault: CallbackFault, times?: number): void
  /** From now on calls and callbacks have faults at random, the same for the same seed. */
  random(seed: number, rates: Rates): void
  /** Everything is well again, and what is slow is answered. */
  clear(): void
  /** Answers what is slow. */
  release(): void
  /** What was done to calls and callbacks. */
  made: { what: string; fault: Fault | CallbackFault }[]
}

/** The bank's side of it. */
export type FaultSchedule = Faults & {
  ofCall(operation: string): Fault | null
  ofCallback(kind: string): CallbackFault | null
  /** Over when slow calls are released. */
  held(): Promise<void>
}

type Planned<T> = { matcher: Matcher; fault: T; times: number }

export function createFaultSchedule(): FaultSchedule {
  let calls: Planned<Fault>[] = []
  let callbacks: Planned<CallbackFault>[] = []
  let draw: (() => number) | null = null
  let rates: Rates = {}
  let waiting: (() => void)[] = []
  const made: Faults['made'] = []
  const pick = <T extends Fault | CallbackFault>(
    what: string,
    planned: Planned<T>[],
    chances: Partial<Record<T, number>> = {},
  ): T | null => {
    const fault = take(planned, what) ?? (draw ? drawn(chances, draw()) : null)
    if (fault) made.push({ what, fault })
    return fault
  }
  const release = () => {
    for (const go of waiting) go()
    waiting = []
  }
  return {
    made,
    next: (matcher, fault, times = 1) => calls.push({ matcher, fault, times }),
    nextCallback: (fault, times = 1) => callbacks.push({ matcher: '*', fault, times }),
    random(seed, given) {
      draw = createRandom(seed).part
      rates = given
    },
    clear() {
      calls = []
      callbacks = []
      draw = null
      release()
    },
    release,
    ofCall: (operation) => pick(operation, calls, rates.calls),
    ofCallback: (kind) => pick(`callback ${kind}`, callbacks, rates.callbacks),
    held: () => new Promise((resolve) => waiting.push(resolve)),
  }
}

function take<T>(planned: Planned<T>[], operation: string): T | null {
  const found = planned.find(({ matcher, times }) => times > 0 && matches(matcher, operation))
  if (!found) return null
  found.times -= 1
  return found.fault
}

function matches(matcher: Matcher, operation: string): boolean {
  if (matcher instanceof RegExp) return matcher.test(operation)
  return matcher === '*' || operation.startsWith(matcher)
}

function drawn<T extends string>(chances: Partial<Record<T, number>>, number: number): T | null {
  let sum = 0
  for (const [fault, chance] of Object.entries<number | undefined>(chances)) {
    sum += chance ?? 0
    if (number < sum) return fault as T
  }
  return null
}
