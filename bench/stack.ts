import { randomUUID } from 'node:crypto'
import Fastify from 'fastify'
import pg from 'pg'
import QRCode from 'qrcode'
import { dynamicCode } from '../src/pix/brcode.ts'

/** What most would write first: Fastify, a pool, two inserts in a transaction, and `qrcode`. */
const pool = new pg.Pool({ connectionString: process.env.DATABASE_URL!, max: 20 })
pool.on('error', () => {})
await pool.query(`
  create table if not exists obvious_charges (id uuid primary key, amount bigint, customer jsonb,
    br_code text, status text, created_at timestamptz, expires_at timestamptz);
  create table if not exists obvious_events (id uuid primary key, charge_id uuid, type text)`)

const server = Fastify()
const schema = {
  body: {
    type: 'object',
    required: ['amount', 'customer'],
    properties: {
      amount: { type: 'integer', minimum: 500 },
      customer: { type: 'object', required: ['name', 'taxId'] },
    },
  },
}

server.get('/health', async () => ({ status: 'ok' }))
server.post('/charge/pix', { schema }, async (request, reply) => {
  const { amount, customer } = request.body as { amount: number; customer: object }
  const id = randomUUID()
  const createdAt = new Date()
  const expiresAt = new Date(createdAt.getTime() + 1_800_000)
  const location = `127.0.0.1/cob/${id.replaceAll('-', '')}00000000000`
  const brCode = dynamicCode({ location, name: 'Bench', city: 'Sao Paulo' })
  const client = await pool.connect()
  try {
    await client.query('begin')
    await client.query('insert into obvious_charges values ($1, $2, $3, $4, $5, $6, $7)', [
      id,
      amount,
      customer,
      brCode,
      'OPEN',
      createdAt,
      expiresAt,
    ])
    await client.query('insert into obvious_events values ($1, $2, $3)', [
      randomUUID(),
      id,
      'charge.pending',
    ])
    await client.query('commit')
  } finally {
    client.release()
  }
  const brCodeBase64 = await QRCode.toDataURL(brCode)
  return reply.status(201).send({ id, amount, brCode, brCodeBase64, createdAt, expiresAt })
})

await server.listen({ host: '127.0.0.1', port: Number(process.env.PORT) })
process.on('SIGTERM', () => process.exit(0))
