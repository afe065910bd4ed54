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
  const listeners: ((name: string) => void)[] = []
  const group = {
    answers: new Map<string, MetricObject[]>(),
    /** Is called when all have answered, and before the answers are used. */
    afterAnswers: () => {},
    ask: async <T>() => {
      const given = [...group.answers].map(([name, answer]) => ({ name, kind: 'api', answer }))
      group.afterAnswers()
      return given as Answered<T>[]
    },
    onEnd: (listener: (name: string) => void) => {
      listeners.push(listener)
    },
    end(name: string) {
      group.answers.delete(name)
      for (const listener of listeners) listener(name)
    },
  }
  const { text: ask } = createMachineMetrics({ json: async () => [] }, group)
  const sum = async () => Number(/^charges (\d+)$/m.exec(await ask())?.[1])
  return { group, sum }
}

test('what processes have counted stays when several end at once', async () => {
  const { group, sum } = openGroup()
  for (const name of ['api 1', 'api 2', 'worker']) group.answers.set(name, await counted(10))
  assert.equal(await sum(), 30)
  group.end('api 1')
  group.end('worker')
  assert.equal(await sum(), 20 + 10)
  group.answers.set('api 1', await counted(1))
  assert.equal(await sum(), 31)
  group.end('api 1')
  group.end('api 2')
  for (let n = 0; n < 2; n++) assert.equal(await sum(), 31)
})

test('the answer of a process that has ended meanwhile is not counted twice', async () => {
  const { group, sum } = openGroup()
  group.answers.set('api 1', await counted(10))
  assert.equal(await sum(), 10)
  group.afterAnswers = () => group.end('api 1')
  assert.equal(await sum(), 10)
  group.afterAnswers = () => {}
  assert.equal(await sum(), 10)
})
