import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import type { FastifyRequest } from 'fastify'
import { acceptedLanguage } from '../lib/language.ts'
import { inLanguage, languageOf, pageLanguageOf } from './language.ts'

const request = (lang: unknown, accept?: string) =>
  ({ query: { lang }, headers: { 'accept-language': accept } }) as unknown as FastifyRequest

test('the language that a browser prefers most among ours is taken', () => {
  const cases: [string | undefined, string | null][] = [
    ['pt-BR,pt;q=0.9,en-US;q=0.8,en;q=0.7', 'pt'],
    ['en-US,en;q=0.9', 'en'],
    ['EN', 'en'],
    ['en;q=0.5, pt-PT;q=0.8', 'pt'],
    ['es-AR,es;q=0.9,en;q=0.4', 'en'],
    ['en;q=0,pt;q=0.1', 'pt'],
    ['fr-FR,fr', null],
    ['*', null],
    ['', null],
    [undefined, null],
    ['en;q=x', null],
  ]
  for (const [header, language] of cases) assert.equal(acceptedLanguage(header), language, header)
})

test('?lang= comes first, then the browser, then whose page it is', () => {
  assert.equal(languageOf(request('pt', 'en'), 'en'), 'pt')
  assert.equal(languageOf(request('en', 'pt'), 'pt'), 'en')
  assert.equal(languageOf(request('xx', 'en'), 'pt'), 'en')
  assert.equal(languageOf(request(['en', 'pt'], 'fr'), 'en'), 'en')
  assert.equal(languageOf(request(undefined, '*'), 'en'), 'en')
  assert.equal(languageOf(request(undefined)), 'pt')
})

test('only a language that was chosen is carried on in addresses', () => {
  assert.equal(
    inLanguage('/pay/x', pageLanguageOf(request(undefined, 'en'), 'pt').chosen),
    '/pay/x',
  )
  assert.equal(
    inLanguage('/pay/x', pageLanguageOf(request('pt', 'en'), 'en').chosen),
    '/pay/x?lang=pt',
  )
  assert.equal(inLanguage('/bank?code=1', 'en'), '/bank?code=1&lang=en')
})

test('no header breaks the choice of a language', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary' }), (header) => {
      assert.ok([null, 'pt', 'en'].includes(acceptedLanguage(header)))
    }),
  )
})
