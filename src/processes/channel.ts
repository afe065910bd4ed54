import type { Listener } from './listener.ts'
import type {
  LimitAnswer,
  LimitCall,
  PrepareOrder,
  Question,
  StartOrder,
  ToChild,
  ToParent,
  Verb,
} from './messages.ts'
import { createWakeSender } from './wake-sender.ts'

/** An answer that comes later, and the id of the call. */
type Asked = Promise<number | boolean> & { id: number }

/** The way from one of several processes to the parent, and back. */
export type Channel = {
  /** Calls something that is counted in the parent, without an answer. */
  post(verb: Verb, limit: string, name: string, ...numbers: number[]): void
  /** The same with an answer. If the parent dies there is none, and this process ends. */
  ask(verb: Verb, limit: string, name: string, ...numbers: number[]): Asked
  /** Wakes a task of the process that runs them. */
  wake(task: string): void
  /** Something was committed. */
  wrote(): void
  send(message: ToParent): void
  /** Sends a socket with the message. This process keeps it too. */
  sendListener(listener: Listener | null): void
}

/** What a process does when the parent says so. */
type Orders = {
  start(order: StartOrder, listener: Listener | null): void
  stop(isReplaced: boolean): void
  handOver(): void
  prepare(order: PrepareOrder): void
  wake(task: string): void
  wrote(): void
  know(familiar: string[]): void
  answer(about: Question): Promise<unknown>
}

/** What is sent in one tick of the event loop goes together. */
export function openChannel(orders: Orders): Channel {
  const waiting = new Map<number, (value: number | boolean) => void>()
  let [calls, lastId]: [LimitCall[], number] = [[], 0]
  let [woken, hasWritten, isScheduled] = [new Set<string>(), false, false]

  function send(message: ToParent, written = () => {}): void {
    if (process.connected) process.send!(message, undefined, undefined, written)
  }
  const sendWakes = createWakeSender(send)
  function flush(): void {
    isScheduled = false
    if (calls.length > 0) send({ calls })
    calls = []
    if (woken.size > 0 || hasWritten) sendWakes({ woken: [...woken], hasWritten })
    woken = new Set()
    hasWritten = false
  }
  function schedule(): void {
    if (!isScheduled) setImmediate(flush)
    isScheduled = true
  }
  function settle([id, value]: LimitAnswer): void {
    waiting.get(id)?.(value)
    waiting.delete(id)
  }
  async function answer(question: number, about: Question): Promise<void> {
    send({ question, answer: await orders.answer(about).catch(() => null) })
  }
  process.on('message', (message: ToChild, listener?: Listener) => {
    if ('answers' in message) for (const answered of message.answers) settle(answered)
    else if ('wakes' in message) {
      for (const task of message.wakes.woken) orders.wake(task)
      if (message.wakes.hasWritten) orders.wrote()
    } else if ('question' in message) answer(message.question, message.about)
    else if ('familiar' in message) orders.know(message.familiar)
    else if ('ping' in message) send({ isAlive: true })
    else if ('start' in message) orders.start(message.start, listener ?? null)
    else if ('handOver' in message) orders.handOver()
    else if ('prepare' in message) orders.prepare(message.prepare)
    else orders.stop(message.isReplaced)
  })
  return {
    send,
    sendListener(listener) {
      if (process.connected) process.send!({ listener: true }, listener ?? undefined)
    },
    post(verb, limit, name, ...numbers) {
      calls.push([0, verb, limit, name, ...numbers])
      schedule()
    },
    ask(verb, limit, name, ...numbers) {
      lastId += 1
      const id = lastId
      calls.push([id, verb, limit, name, ...numbers])
      schedule()
      const asked = new Promise<number | boolean>((resolve) => waiting.set(id, resolve))
      return Object.assign(asked, { id })
    },
    wake(task) {
      woken.add(task)
      schedule()
    },
    wrote() {
      hasWritten = true
      schedule()
    },
  }
}
