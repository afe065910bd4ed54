import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Counter, type MetricObject, Registry } from 'prom-client'
import type { Answered } from './group.ts'
import { createMachineMetrics } from './machine.ts'

/** What a process that has counted so much answers. */
async function counted(value: number): Promise<MetricObject[]> {
  const registry = new Registry()
  const counter = new Counter({ name: 'charges', help: 'charges', registers: [registry] })
  counter.inc(value)
  return registry.getMetricsAsJSON()
}

/** Processes that answer what they are given to answer, and end when they are said to. */
function openGroup() {
  const listeners: ((name: string, pid: number) => void)[] = []
  const group = {
    answers: new Map<number, MetricObject[]>(),
    /** Is called when all have answered, and before the answers are used. */
    afterAnswers: () => {},
    ask: async <T>() => {
      const given = [...group.answers].map(([pid, answer]) => ({ pid, kind: 'api', answer }))
      group.afterAnswers()
      return given as Answered<T>[]
    },
    onEnd: (listener: (name: string, pid: number) => void) => {
      listeners.push(listener)
    },
    end(pid: number) {
      group.answers.delete(pid)
      for (const listener of listeners) listener('api 1', pid)
    },
  }
  const { text: ask } = createMachineMetrics({ json: async () => [] }, group)
  const sum = async () => Number(/^charges (\d+)$/m.exec(await ask())?.[1])
  return { group, sum }
}

test('what processes have counted stays when several end at once', async () => {
  const { group, sum } = openGroup()
  for (const pid of [1, 2, 3]) group.answers.set(pid, await counted(10))
  assert.equal(await sum(), 30)
  group.end(1)
  group.end(3)
  assert.equal(await sum(), 20 + 10)
  group.answers.set(4, await counted(1))
  assert.equal(await sum(), 31)
  group.end(4)
  group.end(2)
  for (let n = 0; n < 2; n++) assert.equal(await sum(), 31)
})

test('the answer of a process that has ended meanwhile is not counted twice', async () => {
  const { group, sum } = openGroup()
  group.answers.set(1, await counted(10))
  assert.equal(await sum(), 10)
  group.afterAnswers = () => group.end(1)
  assert.equal(await sum(), 10)
  group.afterAnswers = () => {}
  assert.equal(await sum(), 10)
})

test('the process that takes the place of another is counted beside what that has counted', async () => {
  const { group, sum } = openGroup()
  group.answers.set(1, await counted(10))
  assert.equal(await sum(), 10)
  // The former one leaves, and is not asked any more.
  group.answers.delete(1)
  group.answers.set(2, await counted(1))
  assert.equal(await sum(), 11)
  group.end(1)
  assert.equal(await sum(), 11)
})
