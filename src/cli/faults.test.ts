import assert from 'node:assert/strict'
import { test } from 'node:test'
import { assert as assertOwn } from '../lib/assert.ts'
import { isBug } from './faults.ts'

const thrownBy = (act: () => void): unknown => {
  try {
    act()
  } catch (error) {
    return error
  }
}

test('a failed assertion is a bug, of the service and of a package', () => {
  assert.equal(isBug(thrownBy(() => assertOwn(false, 'never'))), true)
  assert.equal(isBug(thrownBy(() => assert(false, 'never'))), true)
  assert.equal(isBug(new Error('connect ECONNREFUSED')), false)
})
