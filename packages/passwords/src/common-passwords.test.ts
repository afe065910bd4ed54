import assert from 'node:assert/strict'
import { test } from 'node:test'
import { isCommon } from './common-passwords.ts'

test('common passwords are refused, however they are spelled', () => {
  const common = [
    'senhasenha123',
    'S3nh@Forte2024!',
    'Flamengo@2023!!',
    'corinthians1910',
    'qwertyuiop123',
    '1q2w3e4r5t6y',
    'asdfghjkl;12',
    '123456789012',
    '529982247251',
    'aaaaaaaaaaaa',
    'abcabcabcabc',
    'Password1234!',
    'iloveyou2025!',
    'meuamoreterno',
    'JesusCristo77',
    'mariaeduarda10',
    'Admin@Brasil2026',
    'trocarsenha!!',
    'zyxwvutsrqpo',
  ]
  assert.deepEqual(
    common.filter((password) => !isCommon(password)),
    [],
  )
})

test('words about the person and the company are refused', () => {
  const about = ['zuleica.pamplona@bolaria.example', 'Zuleica Pamplona', 'Bolaria Xavante']
  assert.equal(isCommon('zuleicapamplona1', about), true)
  assert.equal(isCommon('Xavante#Bolaria9', about), true)
  assert.equal(isCommon('zuleicapamplona1'), false)
})

test('passwords that are hard to guess are accepted', () => {
  const good = [
    'trilho-abajur-quintal-47',
    'gravata girassol pneu cubo telha',
    'vK9$wq2Lz!ax',
    'nuvem trinco alicate biombo',
  ]
  assert.deepEqual(
    good.filter((password) => isCommon(password)),
    [],
  )
})
