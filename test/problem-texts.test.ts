import assert from 'node:assert/strict'
import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { RULES } from '../src/lib/problem-rules.ts'
import { SENTENCES } from '../src/lib/problem-sentences.ts'
import { CATALOGUE, inPortuguese } from '../src/lib/problems.ts'
import { namesIn } from '../src/lib/translation.ts'
import { literalsOf } from './support/literals.ts'

const ROOT = join(import.meta.dirname, '..')
const read = (path: string) => readFileSync(join(ROOT, path), 'utf8')

const PAIRS: [en: string, pt: string][] = [
  ...Object.values(CATALOGUE).map(([, en, pt]): [string, string] => [en, pt]),
  ...Object.entries({ ...SENTENCES, ...RULES }),
]

test('every text is in both languages, with the same placeholders', () => {
  for (const [en, pt] of PAIRS) {
    assert.ok(en.trim() !== '' && pt.trim() !== '', en)
    assert.notEqual(pt, en)
    assert.deepEqual(namesIn(pt).sort(), namesIn(en).sort(), en)
    assert.equal(/[.:]$/.exec(pt)?.[0], /[.:]$/.exec(en)?.[0], en)
  }
})

/** Calls whose text is a description, perhaps after a code. */
const THROWN =
  /\b(?:problem|invalid|allInvalid|impossible|notConfirmable|notApprovable|limited)\(\s*(?:'\w+',\s*)?$/
const NAMED = /(?:'x-rule':|\bdescription =)\s*$/
/** A text that begins with the path of a field. */
const FAULT = /^(?:\{\}|[a-z]\w*|Host|Idempotency-Key)(?:\[\{\}\])?(?:\.[\w{}]+)*: \S/
const inCore = (name: string) => `core/${name}`
/** What only operators read, in a terminal, and what describes something else. */
const NOT_ANSWERED = [
  ...['openapi', 'samples', 'operator', 'metrics', 'normalize'].map((name) => `http/${name}`),
  ...['audits', 'backups', 'closings', 'installation', 'moves', 'places'].map(inCore),
  ...['companies/announce', 'companies/changes', 'companies/rules', 'letters/payers'].map(inCore),
  ...['charges/view', 'disputes/view', 'receipts', 'reconciliation'].map(inCore),
  'core/withdrawals/manual-',
]
/** A path and a text that is found elsewhere, and what is no sentence. */
const NO_DESCRIPTION = /^(?:\S+: (?:\{\})+\.?$|default-src|failed_at|attempts|place \{\})/
/** Texts that others complete. The recorded answers, and tests of their own, have them whole. */
const PARTS = [
  '{}. This one is newer than {}, the moment to which the service was restored. Continue {}: no event since then is left out. What you have from events after that moment may be missing here: read it again',
  '{}: {{}} is no placeholder; {}',
  'value: {} cents are more than the {} cents in the {} balance{}.',
  'The body is not valid JSON{}.',
  'discountPerDay.value: if it is paid today, it {}',
]

const descriptionsOf = (path: string): string[] =>
  literalsOf(read(path))
    .filter(({ text, before }) => THROWN.test(before) || NAMED.test(before) || FAULT.test(text))
    .map(({ text }) => text)
    .filter((text) => / /.test(text) && !NO_DESCRIPTION.test(text) && !text.includes('\n'))
    .filter((text) => !PARTS.includes(text))

test('every description of the sources is known in Portuguese', () => {
  const paths = globSync('src/{core,http,provider,pix}/**/*.ts', { cwd: ROOT })
    .filter(
      (path) =>
        !/\.test\.|texts/.test(path) &&
        !NOT_ANSWERED.some((start) => path.startsWith(`src/${start}`)),
    )
    .sort()
  const missing = paths.flatMap((path) =>
    descriptionsOf(path)
      .filter((text) => inPortuguese(text) === text)
      .map((text) => `${path}: ${text}`),
  )
  assert.deepEqual(missing, [])
})

test('every description of the recorded answers is known in Portuguese', () => {
  const recorded = JSON.stringify(JSON.parse(read('src/http/openapi/examples.json')))
  const errors = [...recorded.matchAll(/"code":"\w+","description":("(?:[^"\\]|\\.)*")/g)]
  const descriptions = errors.map(([, text]) => JSON.parse(text!) as string)
  assert.ok(descriptions.length > 10)
  assert.deepEqual(
    descriptions.filter((text) => inPortuguese(text) === text),
    [],
  )
})

test('texts that are completed are known in Portuguese when they are whole', () => {
  const whole = {
    'after: must be the id of an event of this company. This one is newer than 2026-08-16T12:00:00.000Z, the moment to which the service was restored. Continue without `after`: no event since then is left out. What you have from events after that moment may be missing here: read it again':
      'after: deve ser o id de um evento desta empresa. Este é mais novo que 2026-08-16T12:00:00.000Z, o momento para o qual o serviço foi restaurado. Continue sem `after`: nenhum evento desde então fica de fora. O que você tem de eventos depois desse momento pode faltar aqui: leia de novo',
    'text: {nmoe} is no placeholder; use {nome}':
      'text: {nmoe} não é um campo de texto; use {nome}',
    'value: 5 cents are more than the 3 cents in the pending balance and the 1 cents of its recipients.':
      'value: 5 centavos são mais que os 3 centavos do saldo a liberar e os 1 centavos dos recebedores.',
    'The body is not valid JSON (at position 1).': 'O corpo não é um JSON válido (posição 1).',
    'discountPerDay.value: if it is paid today, it must leave something of the amount to pay':
      'discountPerDay.value: se for paga hoje, deve deixar algum valor a pagar',
    'items[0].amount: must be a whole number or null':
      'items[0].amount: deve ser um número inteiro ou nulo',
    'The one-time code is wrong. 1 try is left.':
      'O código de uso único está errado. Resta 1 tentativa.',
  }
  for (const [en, pt] of Object.entries(whole)) assert.equal(inPortuguese(en), pt)
})

test('what is not ours stays as it is', () => {
  assert.equal(inPortuguese('Saldo insuficiente no banco'), 'Saldo insuficiente no banco')
  const refused = 'The bank refuses the order: chave inválida.'
  assert.equal(inPortuguese(refused), 'O banco recusa a ordem: chave inválida.')
})

test('what a client repeats in a text is not translated over and over', () => {
  const began_ms = performance.now()
  assert.match(inPortuguese(`field: ${'must be '.repeat(8_000)}`), /^field: deve ser /)
  assert.ok(performance.now() - began_ms < 500)
})
