import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { registerHooks } from 'node:module'
import { join } from 'node:path'
import { test } from 'node:test'
import { Validator } from '@seriousme/openapi-schema-validator'
import { VERSION_NAMES } from '../../src/versions/history.ts'
import { variants } from '../support/long.ts'
import { temporaryFolder } from '../support/process.ts'
import { documentOf } from './document.ts'

// It prints with the compiler of version 5, and ours is newer.
registerHooks({
  resolve: (name, context, next) => next(name === 'typescript' ? 'typescript-5' : name, context),
})
const { default: openapiTypes, astToString } = await import('openapi-typescript')

const TSC = join(import.meta.dirname, '../../node_modules/typescript/bin/tsc')

/** Bodies with what is required, and nothing else. */
const SAMPLE = `
import type { operations } from './types.js'
type Body<Id extends keyof operations> = operations[Id] extends
  { requestBody?: { content: { 'application/json': infer Sent } } } ? Sent : never
const customer = { name: 'Ana', taxId: '52998224725' }
export const charge: Body<'createPixCharge'> = { amount: 1000, customer }
export const link: Body<'createPaymentLink'> = { total: 1000, customer }
export const code: Body<'createStaticCode'> = { amount: 1000 }
export const product: Body<'createProduct'> = { name: 'Café', description: 'Em grãos', price: 1000 }
export const replay: Body<'replayDeliveries'> = { from: '2026-08-01', to: '2026-08-02' }
// @ts-expect-error: an amount is required, so the types are not of everything.
export const empty: Body<'createPixCharge'> = { customer }
`

/** Checks the types of a folder. */
function compile(folder: string, include: string[], more: object): void {
  const compilerOptions = { strict: true, noEmit: true, skipLibCheck: true, types: [], ...more }
  writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify({ compilerOptions, include }))
  const { status, stdout } = spawnSync(process.execPath, [TSC, '-p', folder], { encoding: 'utf8' })
  assert.equal(status, 0, stdout)
}

for (const name of variants(VERSION_NAMES.toReversed())) {
  const { json } = documentOf(name)

  test(`${name}: an independent validator finds it to be OpenAPI 3.1`, async () => {
    const validator = new Validator()
    const { valid, errors } = await validator.validate(structuredClone(json))
    assert.ok(valid, JSON.stringify(errors))
    assert.equal(validator.version, '3.1')
  })

  test(`${name}: openapi-typescript makes types with names, and what has a default may be left out`, async () => {
    const folder = temporaryFolder()
    const types = astToString(await openapiTypes(structuredClone(json) as never))
    for (const model of ['Charge', 'Customer', 'ApiError', 'ChargePaidEvent', 'NewPixCharge'])
      assert.match(types, new RegExp(`^ {8}${model}: `, 'm'), model)
    assert.match(types, /"application\/json": components\["schemas"\]\["NewPixCharge"\]/)
    writeFileSync(join(folder, 'types.ts'), types)
    writeFileSync(join(folder, 'sample.ts'), SAMPLE)
    compile(folder, ['.'], { lib: ['esnext'], module: 'nodenext' })
  })
}
