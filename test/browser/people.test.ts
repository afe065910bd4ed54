import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Page } from 'playwright-core'
import { makeSignInLink } from '../../src/core/people/commands.ts'
import { startApi } from '../support/api.ts'
import { signIn, useSessionIn } from '../support/dashboard.ts'
import { longTest, variants } from '../support/long.ts'
import { lettersOf } from '../support/mail.ts'
import { at } from '../support/pages.ts'
import { givePassword, PASSWORD, pathIn } from '../support/people.ts'
import {
  browsing,
  fitsTheWindow,
  INJECTION,
  isAccessible,
  showsAsText,
  type Visit,
} from './support.ts'

const api = await startApi()
const browser = browsing()

const VISITS: (Visit & { language: 'pt' | 'en' })[] = [
  { phone: true, size: { width: 390, height: 844 }, language: 'pt' },
  { size: { width: 1280, height: 800 }, language: 'en', dark: true },
]

const WORDS = {
  pt: {
    email: 'E-mail',
    password: 'Senha',
    signIn: 'Entrar',
    wrong: 'E-mail ou senha incorretos',
    today: 'Hoje',
    invite: 'Convidar',
    support: 'Atendimento',
    send: 'Enviar convite',
    sent: 'Convite enviado.',
    name: 'Seu nome',
    accept: 'Aceitar convite',
    change: 'Alterar',
    viewer: 'Somente leitura',
    save: 'Salvar perfil',
    saved: 'Função alterada.',
    open: 'Ver',
    withdraw: 'Cancelar convite',
    withdrawn: 'Convite cancelado.',
    forgotten: 'Esqueci minha senha',
    sendLink: 'Enviar link',
    check: 'Confira o seu e-mail',
    enter: 'Entrar no painel',
    ended: 'Este link não vale mais',
    here: 'este dispositivo',
    endOthers: 'Encerrar todos os outros',
    endedOthers: 'Todos os outros acessos foram encerrados.',
  },
  en: {
    email: 'Email',
    password: 'Password',
    signIn: 'Sign in',
    wrong: 'Wrong email or password',
    today: 'Today',
    invite: 'Invite',
    support: 'Support',
    send: 'Send the invitation',
    sent: 'The invitation was sent.',
    name: 'Your name',
    accept: 'Accept the invitation',
    change: 'Change',
    viewer: 'Viewer',
    save: 'Save the role',
    saved: 'The role was changed.',
    open: 'Open',
    withdraw: 'Withdraw the invitation',
    withdrawn: 'The invitation was withdrawn.',
    forgotten: 'Forgot your password?',
    sendLink: 'Send the link',
    check: 'Check your email',
    enter: 'Open the dashboard',
    ended: 'This link no longer works',
    here: 'this device',
    endOthers: 'End all others',
    endedOthers: 'All other sessions have ended.',
  },
}

async function isFine(page: Page): Promise<void> {
  await isAccessible(page)
  await fitsTheWindow(page)
}

for (const given of variants(VISITS)) {
  const { language } = given
  const words = WORDS[language]
  const how = `${given.phone ? 'on a phone' : 'in a wide window'}, ${language}`

  test(`somebody signs in, and sees what is wrong ${how}`, async () => {
    const { company } = await api.client()
    const { person, home } = await signIn(api, company, { language })
    await givePassword(api, person)
    const page = await browser.open(`${api.url}${home}`, given)
    await isFine(page)
    await page.getByLabel(words.email).fill(person.email)
    await page.getByLabel(words.password).fill('not-the-password')
    await page.getByRole('button', { name: words.signIn, exact: true }).click()
    await page.getByRole('alert').getByText(words.wrong).waitFor()
    await isFine(page)
    assert.equal(await page.getByLabel(words.email).inputValue(), person.email)
    assert.equal(await page.getByLabel(words.password).inputValue(), '')
    await page.getByLabel(words.password).fill(PASSWORD)
    await page.getByRole('button', { name: words.signIn, exact: true }).click()
    await page.getByRole('heading', { name: words.today }).first().waitFor()
    assert.equal(new URL(page.url()).pathname, home, 'where they wanted to go')
  })

  longTest(`an owner invites somebody, who joins; then changes their role ${how}`, async () => {
    const { company } = await api.client({ name: `Padaria ${INJECTION}`.slice(0, 100), language })
    const owner = await signIn(api, company, { language, name: 'W'.repeat(255) })
    const { context, open } = await browser.visitor(given)
    await useSessionIn(context, api, owner)
    const page = await open(`${api.url}${owner.home}/settings/members`)
    await isFine(page)
    await page.getByRole('link', { name: words.invite, exact: true }).click()
    await isFine(page)
    await page.getByLabel(words.email).fill('bia@example.com'.replace('bia', `bia-${language}`))
    await page.getByLabel(words.support).check()
    await page.getByRole('button', { name: words.send }).click()
    await page.getByRole('status').getByText(words.sent).waitFor()
    await isFine(page)
    const [letter] = await lettersOf(api, company.id)
    const guest = await browser.open(at(api, `http://vintem.test${pathIn(letter!)}`), given)
    await isFine(guest)
    await guest.getByLabel(words.name).fill(INJECTION)
    await guest.getByLabel(words.password).fill(PASSWORD)
    await guest.getByRole('button', { name: words.accept }).click()
    await guest.getByRole('heading', { name: words.today }).first().waitFor()
    await page.reload()
    await showsAsText(page, INJECTION)
    await isFine(page)
    await page.getByRole('link', { name: `${words.change} ${INJECTION}` }).click()
    await isFine(page)
    await page.getByLabel(words.viewer).check()
    await page.getByRole('button', { name: words.save }).click()
    await page.getByRole('status').getByText(words.saved).waitFor()
    await guest.reload()
    await guest.getByRole('button', { name: words.signIn, exact: true }).waitFor()
  })

  longTest(`an invitation is withdrawn, a password forgotten, sessions ended ${how}`, async () => {
    const { company } = await api.client()
    const owner = await signIn(api, company, { language })
    const post = { email: `carla-${language}@example.com`, role: 'viewer' }
    await owner.post('/settings/members/invite', post)
    const { context, open } = await browser.visitor(given)
    await useSessionIn(context, api, owner)
    const page = await open(`${api.url}${owner.home}/settings/members`)
    await page.getByRole('link', { name: `${words.open} ${post.email}` }).click()
    await isFine(page)
    await page.getByRole('button', { name: words.withdraw }).click()
    await page.getByRole('status').getByText(words.withdrawn).waitFor()
    await page.goto(`${api.url}/account`)
    await page.getByText(words.here).waitFor()
    await isFine(page)
    const link = await makeSignInLink(api.app.db.control, api.app, owner.person, api.clock.now())
    const other = await browser.open(at(api, link), given)
    await isFine(other)
    await other.getByRole('button', { name: words.enter }).click()
    await other.getByRole('heading', { name: words.today }).first().waitFor()
    await page.reload()
    await page.getByRole('button', { name: words.endOthers }).click()
    await page.getByRole('status').getByText(words.endedOthers).waitFor()
    await other.goto(at(api, link))
    await other.getByRole('heading', { name: words.ended }).waitFor()
    await isFine(other)
    await other.goto(`${api.url}/sign-in`)
    await other.getByRole('link', { name: words.forgotten }).click()
    await isFine(other)
    await other.getByLabel(words.email).fill(owner.person.email)
    await other.getByRole('button', { name: words.sendLink }).click()
    await other.getByRole('heading', { name: words.check }).waitFor()
    await isFine(other)
  })
}

longTest(
  'without scripts somebody joins, and somebody who is known accepts after signing in',
  async () => {
    const [client, elsewhere] = [await api.client(), await api.client()]
    const owner = await signIn(api, client.company)
    const known = await signIn(api, elsewhere.company)
    await givePassword(api, known.person)
    await owner.post('/settings/members/invite', { email: known.person.email, role: 'finance' })
    const [letter] = await lettersOf(api, client.company.id)
    const page = await browser.open(at(api, `http://vintem.test${pathIn(letter!)}`), {
      javaScript: false,
    })
    await page.getByRole('button', { name: 'Entrar e aceitar' }).click()
    await page.getByLabel('E-mail').fill(known.person.email)
    await page.getByLabel('Senha').fill(PASSWORD)
    await page.getByRole('button', { name: 'Entrar', exact: true }).click()
    await page.getByRole('heading', { name: 'Convites para você' }).waitFor()
    await page.getByRole('button', { name: 'Aceitar' }).click()
    await page.getByRole('heading', { name: 'Hoje' }).first().waitFor()
    assert.equal(new URL(page.url()).pathname, owner.home)
  },
)
