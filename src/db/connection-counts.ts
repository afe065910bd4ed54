/**
 * What connections are for: requests, tasks, hot and light statements, and what is kept for long.
 */
export type Kind = 'requests' | 'tasks' | 'hot' | 'light' | 'long'

/** The most connections of each kind that a process opens. */
export type Connections = Record<Kind, number>

/** For a process that does everything. */
export const undivided = (poolSize: number): Connections => ({
  requests: poolSize,
  tasks: poolSize,
  hot: 4,
  light: 3,
  long: 6,
})

/**
 * Listens to changes, follows which secret is present, asks whether the database can be written to,
 * and whether it answers.
 */
const WATCHING = 4

/** Each process for requests gets so many at least: beside one in use, one is free for others. */
const LEAST_FOR_REQUESTS = 2

/** For one of several processes that answer requests. */
export const ofRequests = (poolSize: number, processes: number): Connections => ({
  requests: Math.max(LEAST_FOR_REQUESTS, Math.floor(poolSize / processes)),
  tasks: 1,
  hot: 2,
  light: 1,
  long: 3,
})

/** For the one process that runs the tasks, which asks the simulated bank as requests do. */
export const ofTasks = (poolSize: number): Connections => ({
  ...undivided(poolSize),
  requests: 4,
})

/** For the process that starts and watches the others. */
export const OF_PARENT: Connections = { requests: 1, tasks: 1, hot: 1, light: 1, long: 1 }

const sumOf = (connections: Connections): number =>
  Object.values(connections).reduce((sum, count) => sum + count, 0)

/**
 * The most connections of all processes of one machine together. The last `WATCHING` is for the
 * tasks' process and the parent: one to watch the database from each, one for `/ready`, and one
 * that follows the secret for the tasks. While processes are replaced, one after the other, there
 * is one more, which runs tasks at most, and has two of these.
 */
export function mostConnections(poolSize: number, processes: number): number {
  if (processes === 1) return sumOf(undivided(poolSize)) + WATCHING
  const requests = processes * (sumOf(ofRequests(poolSize, processes)) + WATCHING)
  const tasks = sumOf(ofTasks(poolSize))
  return requests + tasks + sumOf(OF_PARENT) + WATCHING + (tasks + 2)
}
