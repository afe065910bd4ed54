import Fastify from 'fastify'

/** Fastify and nothing else: answers with the bytes that it was given. */
let bytes = ''
const server = Fastify()
server.addContentTypeParser('*', { parseAs: 'string' }, (_request, body, done) => {
  done(null, body)
})
server.get('/health', async () => ({ status: 'ok' }))
server.post('/bytes', async (request) => {
  bytes = String(request.body)
  return 'ok'
})
server.get('/charge/:id', async (_request, reply) =>
  reply.type('application/json; charset=utf-8').send(bytes),
)
await server.listen({ host: '127.0.0.1', port: Number(process.env.PORT) })
process.on('SIGTERM', () => process.exit(0))
