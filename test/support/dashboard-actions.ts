import assert from 'node:assert/strict'
import type { Page } from 'playwright-core'
import { cleanImage } from '../../packages/images/src/clean-image.ts'
import { createKey } from '../../src/core/companies/commands.ts'
import { saveLogo } from '../../src/core/companies/store.ts'
import { addNote } from '../../src/core/notes/commands.ts'
import type { NotedType } from '../../src/core/notes/store.ts'
import { invite } from '../../src/core/people/invitations.ts'
import { invitationIdOf } from '../../src/core/people/links.ts'
import { fromPublic, newId, suffixOf } from '../../src/lib/ids.ts'
import type { Language } from '../../src/lib/language.ts'
import { qrPng } from '../../src/pix/qr.ts'
import { logoUrl } from '../../src/web/logos.ts'
import { createDeliveryWorker } from '../../src/worker/deliver.ts'
import { trust } from '../bank/certificates.ts'
import type { Client, TestApi } from './api.ts'
import { openBanked } from './bank.ts'
import { type Member, signIn } from './dashboard.ts'
import { makeSale } from './dashboard-records.ts'
import { openDispute } from './disputes.ts'
import { lastCode } from './mail.ts'
import { makeCharge, makePaid, makeUnmatched, pay } from './payments.ts'
import { givePassword } from './people.ts'
import { makeRecipient, makeSettled } from './splits.ts'
import { makeCustomer, makeRecurring, makeSubscription } from './subscriptions.ts'
import { addApp } from './totp.ts'
import { makeReceiver, register } from './webhooks.ts'
import { start } from './withdrawals.ts'

/** A company for one action, and who sees it. */
export type Scene = {
  api: TestApi
  client: Client
  /** Who acts. Somebody else, if it is not given. */
  member?: Member
}

/** A form of the dashboard in a browser: what it acts on, what is typed, what is seen then. */
export type Action = {
  /** Opens the company. A sandbox unless it is given. */
  open?(api: TestApi): Promise<Client>
  /** Makes what it acts on, and returns its id, if the path has one, or its ids with a slash. */
  make?(scene: Scene): Promise<unknown>
  /** The page that offers the form or a link to it, if it is not the page above it. */
  at?: string
  /** What is done on the page before the form is there. */
  first?(page: Page): Promise<void>
  fill?(page: Page, scene: Scene): Promise<void>
  /** What the page says then. */
  says: Record<Language, RegExp>
}

const says = (pt: RegExp, en: RegExp): Action['says'] => ({ pt, en })

const type = (page: Page, field: string, text: string) => page.locator(`#${field}`).fill(text)

async function typePayer(page: Page): Promise<void> {
  await type(page, 'name', 'Maria da Silva')
  await type(page, 'taxId', '529.982.247-25')
  await type(page, 'phone', '11988888888')
  await type(page, 'email', 'maria@example.com')
}

async function makeProduct({ client }: Scene): Promise<string> {
  const product = { name: 'Pão', description: 'Francês', price: 1000 }
  return (await client.post('/product', product)).body.data.id
}

const makeLink = async ({ client }: Scene): Promise<string> =>
  (await client.post('/link', { title: 'Rifa', amount: 1000 })).body.data.id

const PDF = Buffer.from('%PDF-1.7 nota')
const makeDisputed = async ({ api, client }: Scene): Promise<string> =>
  (await openDispute(client, (await makePaid(api, client, 700)).endToEndId)).id

const makeHook = async ({ client }: Scene): Promise<string> =>
  (await register(client, 'http://127.0.0.1:9/loja', ['charge.paid'])).id

const makeKey = async ({ api: { app }, client: { company } }: Scene): Promise<string> => {
  const options = { name: 'loja', scopes: ['payments:read' as const] }
  const made = await app.db.transaction((tx) =>
    createKey(tx, app.vault, company, options, app.clock.now()),
  )
  return suffixOf(made.id)
}

const makeMember = async ({ api, client }: Scene): Promise<string> =>
  suffixOf((await signIn(api, client.company, { role: 'viewer', name: 'Bia' })).person.id)

async function makeInvitation({ api: { app }, client: { company } }: Scene): Promise<string> {
  const invitation = {
    email: 'bia@example.com',
    company,
    role: 'viewer' as const,
    makesOperator: false,
    language: 'pt' as const,
    by: 'Olga',
    invitedBy: null,
  }
  const { link } = await app.db.transaction((tx, control) =>
    invite(tx, control, app, invitation, app.clock.now()),
  )
  return invitationIdOf(link)
}

async function limitWithdrawals({ api, client }: Scene): Promise<void> {
  const owner = await signIn(api, client.company, { name: 'Olga' })
  const { status, text } = await owner.post('/settings/approvals', { amount: '1,00' })
  assert.equal(status, 303, text)
}

/** A withdrawal of a key of the API, which a person has to approve. */
async function makeToApprove(scene: Scene): Promise<string> {
  await limitWithdrawals(scene)
  return start(scene.client, 5000)
}

const LOGO = { name: 'logo.png', mimeType: 'image/png', buffer: qrPng('https://example.com') }

async function giveLogo({ api: { app }, client: { company, put } }: Scene): Promise<void> {
  const image = (await cleanImage(LOGO.buffer, 512))!
  const name = await app.db.transaction((tx) => saveLogo(tx, company.id, image, app.clock.now()))
  const imageUrl = logoUrl(app.publicUrl, company.id, name)
  const { status, text } = await put('/company', { imageUrl })
  assert.equal(status, 200, text)
}

const openLive = (api: TestApi): Promise<Client> =>
  api.client({ mode: 'live', pixKey: 'dona@example.com' })
const openAtBank = (api: TestApi): Promise<Client> => openBanked(api, { callbacks: false })

async function chooseCertificate(page: Page): Promise<void> {
  const { client } = await trust()
  for (const [name, content] of Object.entries({
    certificate: client.certificate,
    key: client.key,
  })) {
    const file = { name: `${name}.pem`, mimeType: 'application/x-pem-file' }
    await page.locator(`#${name}`).setInputFiles({ ...file, buffer: Buffer.from(content) })
  }
}

const CHARGES_FILE = 'valor;nome;cpf_cnpj\n19,90;Maria da Silva;529.982.247-25\n'

const chooseCharges = (page: Page) =>
  page
    .locator('#file')
    .setInputFiles({ name: 'a.csv', mimeType: 'text/csv', buffer: Buffer.from(CHARGES_FILE) })

const NOTE_ADDED = says(/Nota adicionada\./, /Note added\./)
const NOTE_DELETED = says(/Nota excluída\./, /Note deleted\./)

/** A note of somebody else, which owners may delete. Returns the ids of its record and its own. */
async function makeNote(
  { api: { app }, client: { company }, member }: Scene,
  recordType: NotedType,
  id: string,
): Promise<string> {
  const recordId = fromPublic(recordType === 'charge' ? 'charge' : 'clnt', id)!
  const on = { companyId: company.id, recordType, recordId }
  const author = member?.person ?? { id: newId(), name: 'Bia' }
  const written = { text: 'Ligou', now: app.clock.now() }
  const note = await app.db.transaction((tx) => addNote(tx, app.vault, on, author, written))
  return `${id}/${suffixOf(note)}`
}

const CHARGE_MADE = says(/Cobrança criada\./, /Charge created\./)
const LINK_MADE = says(/Link criado\. Copie e envie ao cliente\./, /Link created\./)
const CHANGES_SAVED = says(/Alterações salvas\./, /Changes saved\./)

/** Each form of the dashboard by its route. */
export const ACTIONS: Record<string, Action> = {
  '/charges/:id/notes': {
    make: async ({ client }) => (await makeCharge(client, 5000)).id,
    fill: (page) => type(page, 'note', 'Ligou para saber do prazo'),
    says: NOTE_ADDED,
  },
  '/charges/:id/notes/:note/delete': {
    at: '/charges/:id',
    make: async (scene) => makeNote(scene, 'charge', (await makeCharge(scene.client, 5000)).id),
    says: NOTE_DELETED,
  },
  '/customers/:id/notes': {
    make: ({ client }) => makeCustomer(client),
    fill: (page) => type(page, 'note', 'Prefere WhatsApp'),
    says: NOTE_ADDED,
  },
  '/customers/:id/notes/:note/delete': {
    at: '/customers/:id',
    make: async (scene) => makeNote(scene, 'customer', await makeCustomer(scene.client)),
    says: NOTE_DELETED,
  },
  '/customers/:id/erase': {
    make: ({ client }) => makeCustomer(client),
    says: says(/estão sendo apagados/, /are being erased/),
  },
  '/charges/:id/refund': {
    make: async ({ api, client }) => (await makePaid(api, client, 5000)).id,
    says: says(/Devolução iniciada\./, /Refund started\./),
  },
  '/charges/:id/cancel': {
    make: async ({ client }) => (await makeCharge(client, 5000)).id,
    says: says(/Cobrança cancelada\./, /Charge canceled\./),
  },
  '/charges/:id/duplicate': {
    make: async ({ client }) => (await makeCharge(client, 5000)).id,
    says: says(/Cobrança duplicada\./, /Charge duplicated\./),
  },
  '/charges/:id/mail': {
    make: async ({ client }) => (await makeCharge(client, 5000)).id,
    says: says(/E-mail na fila de envio\./, /The e-mail is on its way\./),
  },
  '/charges/:id/simulate': {
    make: async ({ client }) => (await makeCharge(client, 5000, { devMode: true })).id,
    says: says(/Pagamento simulado\./, /Payment simulated\./),
  },
  '/new/charge': {
    fill: async (page) => {
      await type(page, 'amount', '19,90')
      await typePayer(page)
    },
    says: CHARGE_MADE,
  },
  '/new/link': {
    fill: async (page) => {
      await type(page, 'total', '19,90')
      await typePayer(page)
    },
    says: LINK_MADE,
  },
  '/counter': {
    at: '/new',
    fill: (page) => type(page, 'amount', '12,50'),
    says: says(/Cancelar venda/, /Cancel sale/),
  },
  '/counter/shift': { at: '/counter', says: says(/Encerrar turno/, /End shift/) },
  '/counter/:id/cancel': {
    make: ({ api, client }) => makeSale(api, client),
    // The page may have shown it by itself before the answer came, without the notice.
    says: says(/Venda cancelada/, /Sale canceled/),
  },
  '/new/batch/preview': {
    at: '/new/batch',
    fill: chooseCharges,
    says: says(/1 cobrança pronta para criar/, /1 charge is ready to be created/),
  },
  '/new/batch': {
    first: async (page) => {
      await chooseCharges(page)
      await page.locator('form[action$="/preview"] button').click()
      await page.waitForURL(/preview$/)
    },
    says: says(/1 cobrança criada\./, /1 charge created\./),
  },
  '/new/plan': {
    fill: async (page) => {
      await type(page, 'planTotal', '1.200,00')
      await type(page, 'firstDueDate', '2030-01-31')
      await typePayer(page)
    },
    says: says(/Carnê criado\./, /Plan created\./),
  },
  '/links/new': {
    async fill(page) {
      await type(page, 'title', 'Rifa da escola')
      await type(page, 'amount', '10,00')
    },
    says: says(/Link criado\. Copie ou envie ao cliente\./, /Link created\. Copy it/),
  },
  '/links/:id/edit': {
    make: makeLink,
    async fill(page) {
      await type(page, 'amount', '12,50')
    },
    says: says(/Alterações salvas\./, /Changes saved\./),
  },
  '/links/:id/enabled': {
    make: makeLink,
    says: says(/Link desativado: ninguém mais compra por ele\./, /The link is off/),
  },
  '/plans/:id/cancel': {
    make: async ({ client }) => {
      const customer = { name: 'Maria da Silva', taxId: '52998224725' }
      const plan = { total: 5000, count: 3, firstDueDate: '2030-01-31', customer }
      return (await client.post('/charge/plan', plan)).body.data.id
    },
    says: says(/Carnê cancelado\./, /Plan canceled\./),
  },
  '/new/code': {
    fill: (page) => type(page, 'amount', '9,00'),
    says: says(/QR Code criado\./, /QR code created\./),
  },
  '/new/subscription': {
    make: ({ client }) => makeRecurring(client),
    fill: async (page) => {
      await page.locator('#product').selectOption({ index: 1 })
    },
    says: says(/Copie o link e envie ao cliente\./, /Copy the link and send it/),
  },
  '/customers/new': { fill: typePayer, says: says(/Cliente criado\./, /Customer created\./) },
  '/customers/:id/edit': {
    make: ({ client }) => makeCustomer(client),
    fill: (page) => type(page, 'name', 'Maria Souza'),
    says: CHANGES_SAVED,
  },
  '/customers/:id/delete': {
    make: ({ client }) => makeCustomer(client),
    says: says(/Cliente excluído\./, /Customer deleted\./),
  },
  '/products/new': {
    fill: async (page) => {
      await type(page, 'name', 'Broa')
      await type(page, 'price', '8,50')
      await type(page, 'description', 'De fubá')
    },
    says: says(/Produto criado\./, /Product created\./),
  },
  '/products/:id/edit': {
    make: makeProduct,
    fill: (page) => type(page, 'price', '12,00'),
    says: CHANGES_SAVED,
  },
  '/products/:id/delete': {
    make: makeProduct,
    says: says(/Produto excluído\./, /Product deleted\./),
  },
  '/recipients/new': {
    fill: async (page) => {
      await type(page, 'name', 'Padaria da Ana')
      await type(page, 'taxId', '529.982.247-25')
      await type(page, 'pixKey', 'ana@example.com')
    },
    says: says(/Recebedor criado\./, /Recipient created\./),
  },
  '/recipients/:id/edit': {
    make: ({ client }) => makeRecipient(client),
    fill: (page) => type(page, 'name', 'Padaria da Ana Maria'),
    says: CHANGES_SAVED,
  },
  '/recipients/:id/payout': {
    make: async ({ api, client }) => {
      const recipientId = await makeRecipient(client)
      await makeSettled(api, client, 2000, [{ recipientId, percent: 10_000 }])
      return recipientId
    },
    fill: (page) => type(page, 'amount', '7,00'),
    says: says(/Saque solicitado\./, /Withdrawal requested\./),
  },
  '/subscriptions/:id/cancel': {
    make: async ({ client }) => (await makeSubscription(client)).id,
    says: says(/Nada mais será cobrado\./, /Nothing more will be charged\./),
  },
  '/balance/withdraw': {
    fill: (page) => type(page, 'amount', '50,00'),
    says: says(/Saque solicitado\./, /Withdrawal requested\./),
  },
  '/balance/withdrawals/:id/confirm': {
    make: ({ client }) => start(client, 5000),
    fill: async (page, { api, client }) =>
      type(page, 'code', await lastCode(api, client.company.id)),
    says: says(/Código confirmado\./, /Code confirmed\./),
  },
  '/balance/withdrawals/:id/resend': {
    make: async ({ api, client }) => {
      const id = await start(client, 5000)
      api.clock.advance(120)
      return id
    },
    says: says(/Enviamos um novo código\./, /We sent a new code\./),
  },
  '/balance/withdrawals/:id/cancel': {
    make: ({ client }) => start(client, 5000),
    says: says(/Saque cancelado\./, /Withdrawal canceled\./),
  },
  '/balance/withdrawals/:id/approve': {
    make: makeToApprove,
    says: says(/Saque aprovado\./, /Withdrawal approved\./),
  },
  '/balance/withdrawals/:id/reject': {
    make: makeToApprove,
    says: says(/Saque recusado\./, /Withdrawal refused\./),
  },
  '/settings/approvals': {
    at: '/balance/withdrawals',
    fill: (page) => type(page, 'amount', '500,00'),
    says: says(/Valor salvo\./, /Amount saved\./),
  },
  '/settings/approvals/remove': {
    make: limitWithdrawals,
    says: says(/não precisam mais de aprovação\./, /need no approval any more\./),
  },
  '/settings/messages/edit': {
    at: '/settings/messages',
    fill: (page) => type(page, 'text', 'Oi, {nome}! Pague {valor}: {link}'),
    says: says(/Mensagem salva\./, /Message saved\./),
  },
  '/settings/reminders/rule': {
    at: '/settings/reminders',
    says: says(/Lembrete salvo\./, /Reminder saved\./),
  },
  '/settings/reminders/suggestion': {
    at: '/settings/reminders',
    says: says(/Lembretes criados, desativados\./, /Reminders created, switched off\./),
  },
  '/disputes/:id/accept': {
    make: makeDisputed,
    says: says(/Devolução iniciada\./, /Return started\./),
  },
  '/disputes/:id/defend': {
    make: makeDisputed,
    fill: async (page) => {
      await type(page, 'text', 'Entregue em 12/08, com assinatura.')
      await page
        .locator('#file1')
        .setInputFiles({ name: 'nota.pdf', mimeType: 'application/pdf', buffer: PDF })
    },
    says: says(/Defesa registrada\./, /Defense recorded\./),
  },
  '/unmatched/:id/accept': {
    make: ({ api, client }) => makeUnmatched(api, client, 700),
    says: says(/você ficou com o valor\./, /Money kept\./),
  },
  '/unmatched/:id/refund': {
    make: ({ api, client }) => makeUnmatched(api, client, 700),
    says: says(/Devolução iniciada\./, /Refund started\./),
  },
  '/unmatched/:id/settle': {
    make: async ({ api, client }) => {
      const { brCode } = await makeCharge(client, 5000)
      return pay(api, brCode, { amount: 5700 })
    },
    fill: (page) => page.locator('#difference-refund').check(),
    says: says(/Cobrança quitada\./, /Charge settled\./),
  },
  '/developers/keys/new': {
    fill: (page) => type(page, 'name', 'loja virtual'),
    says: says(/Sua nova chave/, /Your new key/),
  },
  '/developers/keys/:id/rotate': {
    make: makeKey,
    at: '/developers/keys',
    says: says(/Sua nova chave/, /Your new key/),
  },
  '/developers/keys/:id/revoke': {
    make: makeKey,
    at: '/developers/keys',
    says: says(/A chave foi revogada/, /The key is revoked/),
  },
  '/developers/webhooks/new': {
    fill: async (page) => {
      await type(page, 'name', 'Loja')
      await type(page, 'url', 'http://127.0.0.1:9/loja')
    },
    says: says(/Segredo do webhook/, /Secret of the webhook/),
  },
  '/developers/webhooks/:id/edit': {
    make: makeHook,
    fill: (page) => type(page, 'name', 'Loja nova'),
    says: says(/O webhook foi alterado\./, /The webhook is changed\./),
  },
  '/developers/webhooks/:id/activate': {
    make: async (scene) => {
      const id = await makeHook(scene)
      const { status, text } = await scene.client.put(`/webhook/${id}`, { status: 'INACTIVE' })
      assert.equal(status, 200, text)
      return id
    },
    says: says(/O webhook está ativo/, /The webhook is active/),
  },
  '/developers/webhooks/:id/deactivate': {
    make: makeHook,
    says: says(/O webhook está inativo/, /The webhook is inactive/),
  },
  '/developers/webhooks/:id/test': {
    make: makeHook,
    says: says(/Enviamos um evento de teste\./, /A test event was sent\./),
  },
  '/developers/webhooks/:id/secret': {
    make: makeHook,
    says: says(/Segredo do webhook/, /Secret of the webhook/),
  },
  '/developers/webhooks/:id/delete': {
    make: makeHook,
    says: says(/O webhook foi excluído\./, /The webhook is deleted\./),
  },
  '/developers/webhooks/:id/replay': {
    make: async ({ api, client }) => {
      const { webhook } = await makeReceiver(client)
      await makePaid(api, client, 500)
      const delivering = createDeliveryWorker(api.app)
      await delivering.run()
      await delivering.close()
      return webhook.id
    },
    first: async (page) => {
      await page.locator('#status').selectOption('ALL')
      await page.locator('form.filters button').click()
    },
    says: says(/As entregas serão enviadas de novo/, /The deliveries will be sent again/),
  },
  '/developers/deliveries/:id/redeliver': {
    make: async (scene) => {
      const hook = await makeHook(scene)
      return (await scene.client.post(`/webhook/${hook}/test`)).body.data.id
    },
    says: says(/A entrega será enviada de novo/, /The delivery will be sent again/),
  },
  '/settings': {
    fill: (page) => type(page, 'name', 'Padaria Nova'),
    says: says(/As configurações foram salvas\./, /The settings are saved\./),
  },
  '/settings/logo': {
    fill: (page) => page.locator('#file').setInputFiles(LOGO),
    says: says(/O logotipo foi salvo\./, /The logo is saved\./),
  },
  '/settings/logo/remove': {
    make: giveLogo,
    says: says(/O logotipo foi removido\./, /The logo is removed\./),
  },
  '/settings/bank/check': {
    open: openAtBank,
    says: says(/O banco dá acesso/, /The bank gives access/),
  },
  '/settings/bank/connect': {
    open: openLive,
    fill: async (page) => {
      await page.locator('#profile').selectOption('efi')
      await type(page, 'clientId', 'Client_Id_teste')
      await type(page, 'clientSecret', 'segredo-de-teste')
      await chooseCertificate(page)
    },
    says: says(/O banco foi conectado\./, /The bank is connected\./),
  },
  '/settings/bank/renew': {
    open: openAtBank,
    fill: chooseCertificate,
    says: says(/O certificado foi trocado\./, /The certificate is renewed\./),
  },
  '/settings/bank/disconnect': {
    open: openAtBank,
    says: says(/O banco foi desconectado/, /The bank is disconnected/),
  },
  '/settings/version/pin': {
    open: (api) => api.client({}, { apiVersion: '2025-01-01' }),
    says: says(/A versão da API foi alterada\./, /The API version is changed\./),
  },
  '/settings/members/invite': {
    fill: async (page) => {
      await type(page, 'email', 'bia@example.com')
      await page.locator('[name=role][value=support]').check()
    },
    says: says(/Convite enviado\./, /The invitation was sent\./),
  },
  '/settings/members/invitations/:invitation/resend': {
    make: makeInvitation,
    says: says(/Convite enviado de novo\./, /The invitation was sent again\./),
  },
  '/settings/members/invitations/:invitation/withdraw': {
    make: makeInvitation,
    says: says(/Convite cancelado\./, /The invitation was withdrawn\./),
  },
  '/settings/members/:person/role': {
    make: makeMember,
    fill: (page) => page.locator('[name=role][value=finance]').check(),
    says: says(/Função alterada\./, /The role was changed\./),
  },
  '/settings/members/:person/remove': {
    make: makeMember,
    says: says(/Pessoa removida da equipe\./, /The person was removed\./),
  },
  '/settings/members/:person/reset-factors': {
    make: async ({ api, client }) => {
      const member = await signIn(api, client.company, { role: 'finance', name: 'Bia' })
      await givePassword(api, member.person)
      await addApp(api, member)
      return suffixOf(member.person.id)
    },
    says: says(/foi removida\. A pessoa foi avisada/, /The person gets an email about it\./),
  },
}
