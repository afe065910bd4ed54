import { Logger, makeWorkerUtils, run } from 'graphile-worker'
import pg from 'pg'
import { PgBoss } from 'pg-boss'
import type { Uuid } from '../src/lib/ids.ts'

/** What a job has to send. */
export type PostJob = { eventId: Uuid; body: string }

/** Signs one webhook and sends it. */
export type Post = (job: PostJob) => Promise<void>

export type JobLibrary = {
  /** Queues jobs, then measures how many are done per second. */
  measure(jobs: PostJob[]): Promise<number>
  close(): Promise<void>
}

/** How many jobs run at once, as many as requests to one webhook. */
const CONCURRENCY = 32

/** As with our own deliveries, a commit does not wait for the disk. */
function withoutFsync(url: string): string {
  const own = new URL(url)
  own.searchParams.set('options', '-c synchronous_commit=off')
  return own.href
}

/** Waits until all expected jobs are done. */
function createCounter() {
  let left = 0
  let resolve = () => {}
  return {
    expect(count: number): Promise<void> {
      left = count
      return new Promise((done) => {
        resolve = done
      })
    },
    done(): void {
      left -= 1
      if (left === 0) resolve()
    },
  }
}

/** How many jobs are done per second from `start` until all are done. */
async function perSecond(count: number, done: Promise<void>, start: () => Promise<unknown>) {
  const start_ms = performance.now()
  await start()
  await done
  return count / ((performance.now() - start_ms) / 1000)
}

/** graphile-worker with the settings that its page on performance recommends. */
export async function openGraphileWorker(url: string, post: Post): Promise<JobLibrary> {
  const pgPool = new pg.Pool({ connectionString: withoutFsync(url), max: CONCURRENCY + 2 })
  pgPool.on('error', () => {})
  pgPool.on('connect', (client) => client.on('error', () => {}))
  const logger = new Logger(() => () => {})
  const utils = await makeWorkerUtils({ pgPool, logger })
  await utils.migrate()
  const counter = createCounter()
  const post_webhook = async (job: unknown) => {
    await post(job as PostJob)
    counter.done()
  }
  const preset = {
    worker: {
      concurrentJobs: CONCURRENCY,
      localQueue: { size: 500 },
      completeJobBatchDelay: 0,
      failJobBatchDelay: 0,
    },
  }
  return {
    async measure(jobs) {
      await utils.addJobs(jobs.map((payload) => ({ identifier: 'post_webhook', payload })))
      const done = counter.expect(jobs.length)
      let runner: Awaited<ReturnType<typeof run>> | null = null
      const measured = await perSecond(jobs.length, done, async () => {
        runner = await run({
          pgPool,
          logger,
          noHandleSignals: true,
          taskList: { post_webhook },
          preset,
        })
      })
      await runner!.stop()
      return measured
    },
    async close() {
      await utils.release()
      await pgPool.end()
    },
  }
}

const QUEUE = 'webhooks'
const BATCH = 500
const WORKERS = 2

/** pg-boss with large batches that follow each other without a pause. */
export async function openPgBoss(url: string, post: Post): Promise<JobLibrary> {
  const boss = new PgBoss({
    connectionString: withoutFsync(url),
    supervise: false,
    schedule: false,
  })
  boss.on('error', console.error)
  await boss.start()
  await boss.createQueue(QUEUE)
  const counter = createCounter()
  const work = async (jobs: { data: PostJob }[]) => {
    const left = jobs.values()
    const postSome = async () => {
      for (const { data } of left) {
        await post(data)
        counter.done()
      }
    }
    await Promise.all(Array.from({ length: CONCURRENCY / WORKERS }, postSome))
  }
  const options = {
    batchSize: BATCH,
    burstWhenBatchFull: true,
    pollingIntervalSeconds: 0.5,
    localConcurrency: WORKERS,
  }
  return {
    async measure(jobs) {
      for (let n = 0; n < jobs.length; n += BATCH) {
        const batch = jobs.slice(n, n + BATCH).map((data) => ({ data }))
        await boss.insert(QUEUE, batch)
      }
      const done = counter.expect(jobs.length)
      const measured = await perSecond(jobs.length, done, () => boss.work(QUEUE, options, work))
      await boss.offWork(QUEUE)
      await boss.deleteAllJobs(QUEUE)
      return measured
    },
    close: () => boss.stop({ graceful: false }),
  }
}
