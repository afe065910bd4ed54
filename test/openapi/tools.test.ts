import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { Validator } from '@seriousme/openapi-schema-validator'
import { generate, HttpClient } from 'openapi-typescript-codegen'
import { VERSION_NAMES } from '../../src/versions/history.ts'
import { temporaryFolder } from '../support/process.ts'
import { documentOf } from './document.ts'

const TSC = join(import.meta.dirname, '../../node_modules/typescript/bin/tsc')

for (const name of VERSION_NAMES) {
  const { json } = documentOf(name)

  test(`${name}: an independent validator finds it to be OpenAPI 3.1`, async () => {
    const validator = new Validator()
    const { valid, errors } = await validator.validate(structuredClone(json))
    assert.ok(valid, JSON.stringify(errors))
    assert.equal(validator.version, '3.1')
  })

  test(`${name}: an independent generator makes a client of it, with named types that compile`, async () => {
    const output = temporaryFolder()
    await generate({
      input: structuredClone(json),
      output,
      httpClient: HttpClient.FETCH,
      useUnionTypes: true,
    })
    const read = (path: string) => readFileSync(join(output, path), 'utf8')
    for (const model of ['Charge', 'Customer', 'ApiError', 'ChargePaidEvent', 'NewPixCharge']) {
      assert.match(read(`models/${model}.ts`), new RegExp(`export type ${model} = `), model)
    }
    assert.ok(!existsSync(join(output, 'models/Charge1.ts')), 'nothing is there twice')
    assert.match(read('services/ChargesService.ts'), /requestBody: NewPixCharge/)
    const compilerOptions = {
      strict: true,
      noEmit: true,
      skipLibCheck: true,
      types: [],
      lib: ['esnext', 'dom'],
      // The generator imports without extensions, as bundlers resolve them.
      module: 'esnext',
      moduleResolution: 'bundler',
    }
    // Its index is left out: the generator has a class ApiError of its own.
    const config = { compilerOptions, include: ['models', 'services'] }
    writeFileSync(join(output, 'tsconfig.json'), JSON.stringify(config))
    execFileSync(process.execPath, [TSC, '-p', output], { stdio: 'pipe' })
  })
}
