import { parentPort, workerData } from 'node:worker_threads'
import scalar from '@scalar/fastify-api-reference'
import Fastify from 'fastify'
import { makeCopy } from '../lib/copies.ts'
import type { ReferencePage } from './reference-page.ts'

/** Renders the pages of the API reference. What it has loaded for that ends with its thread. */
const server = Fastify()
server.register(scalar, { routePrefix: '/docs', configuration: workerData })
const read = async (path: string): Promise<string> => {
  const { statusCode, body } = await server.inject(path)
  if (statusCode !== 200) throw new Error(`${path} was answered with ${statusCode}`)
  return body
}
const page = await read('/docs/')
const script = await read('/docs/js/scalar.js')
const made: ReferencePage = { page, script: await makeCopy(script) }
parentPort!.postMessage(made)
