import assert from 'node:assert/strict'
import { test } from 'node:test'
import { OperatorFault } from '../lib/operator-fault.ts'
import { createRestarts, type Restart } from './restarts.ts'

/** Restarts that go on until the test ends each of them. */
function open() {
  const running: PromiseWithResolvers<void>[] = []
  const noted: Restart[] = []
  const disk = { isFull: false }
  const warned: unknown[] = []
  const restarts = createRestarts(
    (say) => {
      say('api 1 is replaced')
      const one = Promise.withResolvers<void>()
      running.push(one)
      return one.promise
    },
    (restart) => {
      if (disk.isFull) throw new Error('ENOSPC')
      noted.push({ ...restart, said: [...restart.said] })
    },
    (error) => warned.push(error),
  )
  return { running, noted, disk, warned, ...restarts }
}

const settled = () => new Promise((resolve) => setImmediate(resolve))

test('whoever asks while processes are replaced gets one more restart afterwards', async () => {
  const { running, noted, ask } = open()
  for (let n = 0; n < 4; n++) ask()
  assert.equal(running.length, 1)
  running[0]!.resolve()
  await settled()
  assert.equal(running.length, 2)
  running[1]!.resolve()
  await settled()
  assert.equal(running.length, 2, 'it is one for all who have asked')
  const said = ['api 1 is replaced']
  const over = noted.filter(({ isOver }) => isOver)
  assert.deepEqual(over, [
    { number: 1, isOver: true, said, fault: null },
    { number: 2, isOver: true, said, fault: null },
  ])
})

test('a restart that fails says why, and the next one is tried as ever', async () => {
  const { running, noted, ask } = open()
  ask()
  running[0]!.reject(new OperatorFault('PORT has changed.'))
  await settled()
  assert.deepEqual([noted.at(-1)!.isOver, noted.at(-1)!.fault], [true, 'PORT has changed.'])
  ask()
  await settled()
  assert.equal(running.length, 2)
})

test('a restart goes on although it cannot be noted, and so does the next one', async () => {
  const { running, noted, disk, warned, ask } = open()
  disk.isFull = true
  ask()
  running[0]!.resolve()
  await settled()
  assert.equal(warned.length, 3, 'its begin, what it has done, and its end')
  disk.isFull = false
  ask()
  running[1]!.resolve()
  await settled()
  assert.deepEqual([noted.at(-1)!.number, noted.at(-1)!.isOver], [2, true])
})
