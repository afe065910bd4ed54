import scalar from '@scalar/fastify-api-reference'
import type { FastifyInstance } from 'fastify'
import { LATEST, VERSIONS } from '../versions/history.ts'
import { documentPath, openApiDocument } from './openapi.ts'
import { codeOf, statusOf } from './operator.ts'
import type { ServerParts } from './server.ts'

/**
 * What operators and tools read: health, readiness, metrics, the OpenAPI document and its pages.
 */
export function registerOperations(server: FastifyInstance, { app, isReady }: ServerParts): void {
  server.addHook('onSend', async (request, reply) => {
    reply.header('X-Request-Id', request.id)
  })
  server.get('/health', async () => ({ status: 'ok' }))
  server.get('/ready', async (_request, reply) => {
    const findings = await isReady()
    // Strangers learn whether, operators on their own port also why.
    return reply.status(codeOf(findings)).send({ status: statusOf(findings) })
  })
  for (const version of VERSIONS) {
    let document: string | undefined
    server.get(documentPath(version), async (_request, reply) => {
      // Made when it is first asked for, because a server starts faster without it.
      document ??= JSON.stringify(openApiDocument(app.publicUrl, version))
      return reply.type('application/json; charset=utf-8').send(document)
    })
  }
  server.register(scalar, {
    routePrefix: '/docs',
    // A self-hosted service sends its readers nowhere else.
    configuration: {
      pageTitle: 'Vintém',
      sources: VERSIONS.toReversed().map((version) => ({
        title: `Vintém ${version.name}`,
        slug: version.name,
        url: documentPath(version),
        default: version === LATEST,
      })),
      withDefaultFonts: false,
      telemetry: false,
      proxyUrl: '',
      showDeveloperTools: 'never',
      hideClientButton: true,
      agent: { disabled: true },
      mcp: { disabled: true },
    },
  })
}
